"""Pieces of a result record as plain JSON values."""

import platform
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import benchmark
from benchmark.measure import Labels, Measurement
from benchmark.metrics import Score, active, f1_by_size

_PACKAGES = ("numpy", "scipy", "torch", "pillow", "pyarrow", "safetensors")
_EXAMPLES = 3


def score_json(score: Score) -> dict[str, Any]:
    """A score as the record holds it."""
    return {
        "value": score.value,
        "ci95": None if score.ci95 is None else list(score.ci95),
        "n": score.n,
        "not_applicable": dict(score.not_applicable),
    }


def number(value: float) -> float | None:
    """A finite float, else None."""
    return float(value) if np.isfinite(value) else None


def per_concept_rows(
    own: Measurement, labels: Labels, codes: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row a concept, from which every mean can be recomputed."""
    by_size = None
    if own.matching.matcher != "nn_omp":
        by_size = f1_by_size(codes["score"], labels.score, own.matching)
    rows = []
    for index, concept in enumerate(labels.concepts):
        row: dict[str, Any] = {
            "concept": concept,
            "prevalence": float(labels.score[:, index].mean()),
            "f1": number(own.match.f1[index]),
            "f1_in_sample": number(own.match_in_sample.f1[index]),
            "coalition": _coalition(own.matching.coalitions[index]),
            "coalition_in_sample": _coalition(own.in_sample.coalitions[index]),
            "delta_add": None,
            "n_add": 0,
            "delta_rem": None,
            "n_rem": 0,
        }
        if by_size is not None:
            row["f1_by_size"] = [number(value) for value in by_size[index]]
        if own.tapa:
            row |= asdict(own.tapa.per_concept[index])
            del row["tapa"]
        rows.append(row)
    return rows


def pair_examples(
    own: Measurement, labels: Labels, codes: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The first pairs that add and that remove each concept, and which latents switched."""
    if own.tapa is None:
        return []
    chosen: set[int] = set()
    for column in (labels.added, labels.removed):
        seen: dict[int, int] = {}
        for pair, concept in enumerate(column):
            if concept is not None and seen.get(concept, 0) < _EXAMPLES:
                seen[concept] = seen.get(concept, 0) + 1
                chosen.add(pair)
    rows = np.array(sorted(chosen), np.int64)
    before, after = (active(codes[part][rows]) for part in ("base", "edited"))
    return [
        _example(own, labels, int(pair), before[[i]].indices, after[[i]].indices)
        for i, pair in enumerate(rows)
    ]


def _example(
    own: Measurement, labels: Labels, pair: int, before: np.ndarray, after: np.ndarray
) -> dict[str, Any]:
    assert own.tapa is not None
    added, removed = labels.added[pair], labels.removed[pair]
    involved: set[int] = set()
    for concept in (added, removed):
        if concept is not None:
            involved |= set(own.matching.coalitions[concept] or ())
    was, now = involved & set(before.tolist()), involved & set(after.tolist())
    return {
        "pair_id": labels.pair_ids[pair],
        "added": None if added is None else labels.concepts[added],
        "removed": None if removed is None else labels.concepts[removed],
        "delta_add": number(own.tapa.pair_add[pair]),
        "delta_rem": number(own.tapa.pair_rem[pair]),
        "switched_on": sorted(now - was),
        "switched_off": sorted(was - now),
    }


def _coalition(coalition: tuple[int, ...] | None) -> list[int] | None:
    return None if coalition is None else list(coalition)


def environment() -> dict[str, Any]:
    """What the numbers were computed with."""
    return {
        "suite_version": benchmark.__version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "platform": f"{platform.system()}-{platform.machine()}",
        "processor": processor(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
    }


def processor() -> str:
    """What of this machine decides the last bits of its numbers: vector unit, and GPU if any."""
    import torch

    parts = [platform.machine(), torch.backends.cpu.get_cpu_capability()]
    if torch.cuda.is_available():
        parts.append(torch.cuda.get_device_name())
    return " ".join(parts)


def timing(started: float) -> dict[str, Any]:
    """How long since ``started`` (``time.time()``), and when that was."""
    return {
        "seconds": round(time.time() - started, 3),
        "measured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    root = Path(benchmark.__file__).parent.parent
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
