"""A repository of thousands of made-up submissions, measured on hundreds of concepts."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SCORES = 0.05
"""Spread of a made-up score around that of the record it is made from."""


def write_submissions(
    root: Path, pattern: Mapping[str, Any], *, count: int = 2000, concepts: int = 312
) -> None:
    """Fill ``root/saes`` with submissions like ``pattern``, a valid record of an SAE."""
    for index in range(count):
        write_submission(root, pattern, index, concepts=concepts)


def write_submission(
    root: Path,
    pattern: Mapping[str, Any],
    index: int,
    *,
    concepts: int = 312,
    version: int = 1,
) -> Path:
    """One of them, the same every time; returns the record's file."""
    draw = random.Random(f"{index}-{version}")
    record = _record(pattern, draw, index, concepts)
    own = record["submission"]
    folder = root / "saes" / own["id"]
    document = {
        "schema_version": 1,
        "id": own["id"],
        "name": own["name"],
        "authors": [{"name": f"Author {index % 90}"}],
        "licence": "Apache-2.0",
        "sae": {
            "architecture": own["architecture"],
            "d_in": own["d_in"],
            "d_sae": own["d_sae"],
            "files": [{"path": "sae.safetensors", "sha256": f"{index:064x}"}],
            "hub": {"repo": f"someone/sae-{index}", "revision": f"{index:040x}"},
        },
        "encoder": record["encoder"]["name"],
        "training_data": [{"dataset": record["dataset"]["name"], "splits": ["match"]}],
    }
    file = folder / "results" / record["dataset"]["name"] / f"{version}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "submission.json").write_text(json.dumps(document, sort_keys=True, indent=1))
    file.write_text(json.dumps(record, sort_keys=True, indent=1, ensure_ascii=False))
    return file


def _record(
    pattern: Mapping[str, Any], draw: random.Random, index: int, concepts: int
) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(json.dumps(pattern))
    architecture = ("topk", "batchtopk", "jumprelu", "relu", "gated")[index % 5]
    d_sae = (256, 512, 1024, 2048, 4096)[index // 5 % 5]
    record["submission"] |= {
        "id": f"sae-{index:04d}",
        "name": f"{architecture} {d_sae}, number {index}",
        "architecture": architecture,
        "d_sae": d_sae,
        "weights_sha256": f"{index:064x}",
    }
    for score in record["scores"].values():
        if isinstance(score.get("value"), float):
            _move(score, draw)
    for share in record.get("card", {}).get("c1", {}).get("within_quartile_share", ()):
        if share["value"] is not None:
            _move(share, draw)
    rows = record["per_concept"]
    record["per_concept"] = [
        {**rows[place % len(rows)], "concept": f"concept {place:03d}", "f1": draw.random()}
        for place in range(concepts)
    ]
    return record


def _move(score: dict[str, Any], draw: random.Random) -> None:
    value = score["value"]
    by = max(-abs(value), -_SCORES) + (min(abs(value), _SCORES) * 2) * draw.random()
    moved = min(max(value + by, 0.0), max(value, 1.0))
    half = 0.01 if score["ci95"] is None else (score["ci95"][1] - score["ci95"][0]) / 2
    score |= {"value": moved, "ci95": [max(0.0, moved - half), min(max(value, 1.0), moved + half)]}
