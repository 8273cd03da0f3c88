"""From names to a result record: dataset, features, SAE, scores."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.codes import read_arrays
from benchmark.datasets import Activations, Dataset, load_dataset
from benchmark.encoders import Encoder, load_encoder
from benchmark.errors import UserError
from benchmark.features import Features, Progress, embed
from benchmark.measure import Labels, Protocol
from benchmark.names import ID, slug
from benchmark.probe_bound import probe_bound
from benchmark.saes import Sae
from benchmark.scoring import Scored, Source, result_record, score_codes, score_sae

DEFAULT_ENCODER = "efficientnet-lite0"

NO_ENCODER = "none"
"""What a record names where the dataset holds activations."""

ShowProgress = Callable[[Progress], None]


def labels_of(dataset: Dataset) -> Labels:
    """Annotations of both splits, and what the pairs change."""
    match, score = (dataset.annotations[dataset.split(part)] for part in ("match", "score"))
    match_ids, score_ids = (
        [dataset.ids[row] for row in dataset.split(part)] for part in ("match", "score")
    )
    labels = Labels(dataset.concepts, match, score, match_ids=match_ids, score_ids=score_ids)
    pairs = dataset.pairs
    if pairs is None:
        return labels
    return replace(
        labels,
        present=pairs.present,
        added=pairs.added,
        removed=pairs.removed,
        pair_ids=pairs.ids,
    )


def parts_of(features: Features | Activations, dataset: Dataset) -> dict[str, np.ndarray]:
    """Features by part: ``match``, ``score``, and ``base``, ``edited`` where there are pairs."""
    parts = {part: np.asarray(features.images)[dataset.split(part)] for part in ("match", "score")}
    if dataset.pairs is not None:
        parts |= {"base": np.asarray(features.base), "edited": np.asarray(features.edited)}
    return parts


def dataset_json(dataset: Dataset) -> dict[str, str]:
    """What a record says of a dataset."""
    return {
        "name": dataset.name,
        "revision": dataset.revision,
        "fingerprint": dataset.fingerprint,
    }


def source_of(dataset: Dataset, features: Features) -> Source:
    """Dataset and encoder as a record names them."""
    return Source(dataset_json(dataset), features.encoder.as_dict())


def submission_of(sae: Sae, path: Path, identifier: str | None = None) -> dict[str, Any]:
    """Who an SAE is, from its file: id, name, architecture, sizes, seed, hash of its weights."""
    place = path.resolve()
    found: dict[str, Any] = {
        "id": _identifier(identifier, place.stem if path.is_file() else place.name),
        "name": shown_name(place.name),
        "architecture": sae.architecture,
        "d_in": sae.d_in,
        "d_sae": sae.d_sae,
        "weights_sha256": weights_sha256(sae),
    }
    training = sae.metadata.get("training")
    seed = training.get("seed") if isinstance(training, Mapping) else None
    if type(seed) is int and 0 <= seed < 2**53:
        found["seed"] = seed
    return found


def _identifier(given: str | None, name: str) -> str:
    chosen = slug(name) if given is None else given
    if not ID.fullmatch(chosen):
        raise UserError(
            f"id {chosen!r}: expected lower-case letters, digits and dashes, at most 63, "
            "beginning with a letter or digit; choose one with --id"
        )
    return chosen


def shown_name(name: str) -> str:
    """A file's name as text of at most 200 characters, whatever bytes it is made of."""
    return name.encode("utf-8", "replace").decode()[:200]


_DECISIVE = (
    "encoder",
    "encoder_bias",
    "decoder",
    "decoder_bias",
    "pre_scale",
    "code_scale",
    "normalisation",
    "subtract_decoder_bias",
)


def weights_sha256(sae: Sae) -> str:
    """SHA-256 over all that decides an SAE's codes, whatever file it came from."""
    digest = hashlib.sha256()
    rule = {"activation": type(sae.activation).__name__}
    rule |= {f"activation.{name}": value for name, value in vars(sae.activation).items()}
    parts = {name: getattr(sae, name) for name in _DECISIVE}
    for name, value in {**parts, **rule}.items():
        if value is None or isinstance(value, str | int):
            digest.update(f"{name}={value};".encode())
            continue
        tensor = np.ascontiguousarray(value, "<f4")
        digest.update(f"{name}{tensor.shape};".encode())
        digest.update(tensor.data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Prepared:
    """A dataset with its features, ready for any number of SAEs."""

    dataset: Dataset
    features: Mapping[str, np.ndarray]
    labels: Labels
    source: Source

    @property
    def origin(self) -> dict[str, Any]:
        """What an SAE trained on the match split says of its data."""
        return {
            "dataset": dict(self.source.dataset),
            "encoder": dict(self.source.encoder),
            "split": "match",
        }


def prepare(
    dataset: Dataset,
    encoder: Encoder,
    *,
    home: Path | None = None,
    progress: ShowProgress | None = None,
) -> Prepared:
    """Embed a dataset, through the cache."""
    features = embed(dataset, encoder, home=home, progress=progress)
    return Prepared(
        dataset, parts_of(features, dataset), labels_of(dataset), source_of(dataset, features)
    )


def prepare_activations(dataset: Dataset) -> Prepared:
    """A dataset of activations, which are its features as they are."""
    if dataset.activations is None:
        raise ValueError(f"dataset {dataset.name} holds pictures; prepare it with an encoder")
    source = Source(dataset_json(dataset), _unknown_encoder(NO_ENCODER))
    return Prepared(dataset, parts_of(dataset.activations, dataset), labels_of(dataset), source)


def prepare_by_name(
    dataset: str,
    encoder: str | None,
    features_file: Path | None,
    progress: ShowProgress | None = None,
) -> Prepared:
    """Dataset and features by name, or features from a file made for this dataset."""
    data = load_dataset(dataset)
    if data.activations is not None:
        if encoder not in (None, NO_ENCODER) or features_file is not None:
            raise UserError(
                f"dataset {data.name} holds activations already; leave out --encoder and --features"
            )
        return prepare_activations(data)
    if features_file is None:
        return prepare(data, load_encoder(encoder or DEFAULT_ENCODER), progress=progress)
    parts = _parts(features_file, data)
    dense = {
        part: value.toarray() if hasattr(value, "toarray") else value
        for part, value in parts.items()
    }
    name = encoder or f"file:{features_file.name}"
    return Prepared(
        data, dense, labels_of(data), Source(dataset_json(data), _unknown_encoder(name))
    )


def _unknown_encoder(name: str) -> dict[str, Any]:
    return {"name": name, "weights_sha256": None}


def _parts(path: Path, dataset: Dataset, *, codes: bool = False) -> dict[str, Any]:
    parts = read_arrays(path, fingerprint=dataset.fingerprint, nonnegative=codes)
    rows = {part: len(dataset.split(part)) for part in ("match", "score")}
    if dataset.pairs is not None:
        rows |= {"base": len(dataset.pairs), "edited": len(dataset.pairs)}
    for part, expected in rows.items():
        if part not in parts:
            raise UserError(f"{path}: no {part!r} part; expected {', '.join(rows)}")
        if parts[part].shape[0] != expected:
            raise UserError(
                f"{path}: {part} has {parts[part].shape[0]} rows, but {dataset.name} has {expected}"
            )
    return {part: parts[part] for part in rows}


def score_prepared(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol | None = None,
) -> dict[str, Any]:
    """The result record of one SAE on prepared features."""
    return measure_and_record(sae, submission, prepared, protocol or Protocol())[1]


def measure_and_record(
    sae: Sae, submission: Mapping[str, Any], prepared: Prepared, protocol: Protocol
) -> tuple[Scored, dict[str, Any]]:
    """What was measured, with its bootstrap replicates, and the result record made from it."""
    started = time.time()
    source, labels = prepared.source, prepared.labels
    scored = score_sae(sae, prepared.features, labels, protocol)
    record = result_record(scored, submission, source, labels, protocol, started)
    record["bounds"]["linear_probe"] = probe_bound(source, prepared.features, labels, protocol)
    return scored, record


def score_codes_file(
    path: Path, *, dataset: str, encoder: str | None = None, identifier: str | None = None
) -> dict[str, Any]:
    """The result record of codes alone; what needs the SAE's weights is left out."""
    started = time.time()
    data = load_dataset(dataset)
    codes = _sparse(_parts(path, data, codes=True))
    labels, protocol = labels_of(data), Protocol()
    scored = score_codes(codes, labels, protocol)
    submission = {
        "id": _identifier(identifier, path.stem),
        "name": shown_name(path.stem),
        "architecture": "unknown",
        "d_in": None,
        "d_sae": codes["match"].shape[1],
    }
    source = Source(dataset_json(data), _unknown_encoder(encoder or "unknown"))
    return result_record(scored, submission, source, labels, protocol, started)


def _sparse(parts: Mapping[str, Any]) -> dict[str, Any]:
    import scipy.sparse as sp

    widths = {part: value.shape[1] for part, value in parts.items()}
    if len(set(widths.values())) > 1:
        raise UserError(f"codes differ in width: {widths}; expected one dictionary size")
    return {part: sp.csr_array(value) for part, value in parts.items()}
