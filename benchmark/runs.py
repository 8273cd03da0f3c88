"""From names to a result record: dataset, features, SAE, scores."""

import hashlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.datasets import join, load_dataset
from benchmark.errors import UserError
from benchmark.measure import Protocol
from benchmark.names import ID, slug
from benchmark.prepared import (
    DEFAULT_ENCODER,
    Prepared,
    ShowProgress,
    file_parts,
    joined_labels,
    labels_of,
    prepare,
    prepare_activations,
    prepare_by_name,
    sources_json,
    unknown_encoder,
)
from benchmark.probe_bound import probe_bound
from benchmark.saes import Sae
from benchmark.scoring import Scored, Source, result_record, score_codes, score_sae

__all__ = [
    "DEFAULT_ENCODER",
    "Prepared",
    "ShowProgress",
    "measure_and_record",
    "prepare",
    "prepare_activations",
    "prepare_by_name",
    "record_scored",
    "score_codes_file",
    "score_prepared",
    "shown_name",
    "submission_of",
    "weights_sha256",
]


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


def score_prepared(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol | None = None,
) -> dict[str, Any]:
    """The result record of one SAE on prepared features."""
    return measure_and_record(sae, submission, prepared, protocol or Protocol())[1]


def measure_and_record(
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol,
    *,
    probe: Mapping[str, Any] | None = None,
) -> tuple[Scored, dict[str, Any]]:
    """What was measured, with its bootstrap replicates, and the result record made from it.

    ``probe`` is the linear-probe bound where it is at hand; else it comes through the cache.
    """
    return record_scored(
        lambda: score_sae(sae, prepared.features, prepared.labels, protocol),
        submission,
        prepared,
        protocol,
        probe=probe,
    )


def record_scored(
    score: Callable[[], Scored],
    submission: Mapping[str, Any],
    prepared: Prepared,
    protocol: Protocol,
    *,
    probe: Mapping[str, Any] | None = None,
) -> tuple[Scored, dict[str, Any]]:
    """What ``score`` gives, timed, and the result record made from it."""
    started = time.time()
    source, labels = prepared.source, prepared.labels
    scored = score()
    record = result_record(scored, submission, source, labels, protocol, started)
    record["bounds"]["linear_probe"] = dict(
        probe or probe_bound(source, prepared.features, labels, protocol)
    )
    return scored, record


def score_codes_file(
    path: Path,
    *,
    dataset: str,
    pairs: str | None = None,
    encoder: str | None = None,
    identifier: str | None = None,
) -> dict[str, Any]:
    """The result record of codes alone; what needs the SAE's weights is left out."""
    started = time.time()
    data = load_dataset(dataset)
    joined = None if pairs is None else join(data, load_dataset(pairs))
    codes = _sparse(file_parts(path, data, joined, codes=True))
    labels = labels_of(data) if joined is None else joined_labels(joined)
    protocol = Protocol()
    scored = score_codes(codes, labels, protocol)
    submission = {
        "id": _identifier(identifier, path.stem),
        "name": shown_name(path.stem),
        "architecture": "unknown",
        "d_in": None,
        "d_sae": codes["match"].shape[1],
    }
    source = Source(**sources_json(data, joined), encoder=unknown_encoder(encoder or "unknown"))
    return result_record(scored, submission, source, labels, protocol, started)


def _sparse(parts: Mapping[str, Any]) -> dict[str, Any]:
    import scipy.sparse as sp

    widths = {part: value.shape[1] for part, value in parts.items()}
    if len(set(widths.values())) > 1:
        raise UserError(f"codes differ in width: {widths}; expected one dictionary size")
    return {part: sp.csr_array(value) for part, value in parts.items()}
