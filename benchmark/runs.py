"""From names to a result record: dataset, features, SAE, scores."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.codes import read_arrays
from benchmark.datasets import Dataset, load_dataset
from benchmark.encoders import Encoder, load_encoder
from benchmark.errors import UserError
from benchmark.features import Features, Progress, embed
from benchmark.measure import Labels, Protocol
from benchmark.names import ID, slug
from benchmark.saes import Sae, load_sae
from benchmark.scoring import Source, result_record, score_codes, score_sae

DEFAULT_ENCODERS = {"synavatars": "efficientnet-lite0"}

ShowProgress = Callable[[Progress], None]


def labels_of(dataset: Dataset) -> Labels:
    """Annotations of both splits, and what the pairs change."""
    match, score = (dataset.annotations[dataset.split(part)] for part in ("match", "score"))
    pairs = dataset.pairs
    if pairs is None:
        return Labels(dataset.concepts, match, score)
    return Labels(
        dataset.concepts, match, score, pairs.present, pairs.added, pairs.removed, pairs.ids
    )


def parts_of(features: Features, dataset: Dataset) -> dict[str, np.ndarray]:
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
    chosen = identifier or slug(path.resolve().name if path.is_dir() else path.resolve().stem)
    if not ID.fullmatch(chosen):
        raise UserError(
            f"id {chosen!r}: expected lower-case letters, digits and dashes, at most 63, "
            "beginning with a letter or digit; choose one with --id"
        )
    found: dict[str, Any] = {
        "id": chosen,
        "name": path.resolve().name,
        "architecture": sae.architecture,
        "d_in": sae.d_in,
        "d_sae": sae.d_sae,
        "weights_sha256": weights_sha256(sae),
    }
    training = sae.metadata.get("training")
    if isinstance(training, Mapping) and isinstance(training.get("seed"), int):
        found["seed"] = training["seed"]
    return found


def weights_sha256(sae: Sae) -> str:
    """SHA-256 over the tensors every SAE has, whatever file they came from."""
    digest = hashlib.sha256()
    for name in ("encoder", "encoder_bias", "decoder", "decoder_bias"):
        tensor = np.ascontiguousarray(getattr(sae, name), "<f4")
        digest.update(f"{name}{tensor.shape}".encode())
        digest.update(tensor.tobytes())
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


def encoder_for(dataset: str, encoder: str | None) -> str:
    """The encoder asked for, else the one the dataset is scored with by default."""
    if encoder:
        return encoder
    if dataset in DEFAULT_ENCODERS:
        return DEFAULT_ENCODERS[dataset]
    return "efficientnet-lite0"


def prepare_by_name(
    dataset: str,
    encoder: str | None,
    features_file: Path | None,
    progress: ShowProgress | None = None,
) -> Prepared:
    """Dataset and features by name, or features from a file made for this dataset."""
    data = load_dataset(dataset)
    if features_file is None:
        return prepare(data, load_encoder(encoder_for(dataset, encoder)), progress=progress)
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
    protocol = protocol or Protocol()
    started = time.time()
    scored = score_sae(sae, prepared.features, prepared.labels, protocol)
    return result_record(scored, submission, prepared.source, prepared.labels, protocol, started)


def score_path(
    path: Path,
    *,
    dataset: str,
    encoder: str | None = None,
    features_file: Path | None = None,
    identifier: str | None = None,
    progress: ShowProgress | None = None,
) -> dict[str, Any]:
    """The result record of an SAE folder or file on a dataset."""
    sae = load_sae(path)
    submission = submission_of(sae, path, identifier)
    prepared = prepare_by_name(dataset, encoder, features_file, progress)
    return score_prepared(sae, submission, prepared)


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
        "id": identifier or slug(path.stem),
        "name": path.stem,
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
