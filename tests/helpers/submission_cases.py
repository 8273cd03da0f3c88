"""Submissions as people hand them in: folders of a root, valid unless something is changed."""

import copy
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from result_records import make_record
from small_saes import build, rules

from benchmark.saes.formats.assay import FORMAT

SHA = "0" * 64
REVISION = "0123456789abcdef0123456789abcdef01234567"


def make_document(identifier: str = "first", **changes: Any) -> dict[str, Any]:
    """A valid document of an SAE on the Hub; a change to None takes a key away."""
    document: dict[str, Any] = {
        "schema_version": 1,
        "id": identifier,
        "name": "The first one",
        "authors": [
            {"name": "Ada Example", "orcid": "0000-0002-1825-0097", "url": "https://example.org/a"}
        ],
        "licence": "Apache-2.0",
        "sae": {
            "architecture": "topk",
            "d_in": 12,
            "d_sae": 40,
            "k": 5,
            "files": [
                {
                    "path": "sae.safetensors",
                    "sha256": hashlib.sha256(identifier.encode()).hexdigest(),
                }
            ],
            "hub": {"repo": "owner/name", "revision": REVISION, "folder": "layer.3/sae_1"},
        },
        "encoder": "efficientnet-lite0",
        "training_data": [{"dataset": "synavatars", "splits": ["match"], "revision": "1.0"}],
        "description": "Plain words.\nOver two lines.",
        "links": {"paper": "https://example.org/p", "code": "https://example.org/c"},
        "bibtex": "@misc{first, title = {The first one}}",
        "claimed": {"synavatars": {"match_score": 0.53, "tapa_score": -0.1}},
    }
    document |= copy.deepcopy(changes)
    return {key: value for key, value in document.items() if value is not None}


def write_folder(root: Path, document: Mapping[str, Any], *, folder: str | None = None) -> Path:
    """``root/saes/<id>`` with this document and no other file."""
    place = root / "saes" / (folder or document["id"])
    place.mkdir(parents=True)
    (place / "submission.json").write_text(json.dumps(document))
    return place


def write_sae(root: Path, identifier: str = "first", *, seed: int = 0, **changes: Any) -> Path:
    """A valid submission with its weights in the folder; ``changes`` as in ``make_document``."""
    place = root / "saes" / identifier
    FORMAT.save(build(rules()["topk"], seed=seed), place, {})
    document = make_document(identifier)
    del document["sae"]["hub"]
    document["sae"]["files"] = [
        {"path": name, "sha256": hashlib.sha256((place / name).read_bytes()).hexdigest()}
        for name in ("config.json", "sae.safetensors")
    ]
    document |= changes
    (place / "submission.json").write_text(json.dumps(document))
    return place


def edit(folder: Path, path: str, value: Any) -> None:
    """Set ``a.b.0`` of the document in ``folder``."""
    file = folder / "submission.json"
    document = json.loads(file.read_text())
    put(document, path, value)
    file.write_text(json.dumps(document))


def put(document: Any, path: str, value: Any) -> None:
    """Set ``a.b.0`` of a document; a value of ``...`` takes it away."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for parent in parents:
        document = document[parent]
    if value is ...:
        del document[last]
    else:
        document[last] = value


def make_result(identifier: str = "first", **changes: Any) -> dict[str, Any]:
    """A result record of ``make_document``'s SAE whose means follow from its rows."""
    record = make_record("topk", 40, **changes)
    record["submission"] |= {"id": identifier, "name": "The first one", "d_in": 12, "d_sae": 40}
    rows = record["per_concept"]
    own, twin = record["scores"], record["baselines"]["untrained"]
    own["match_score"]["value"] = float(np.mean([row["f1"] for row in rows]))
    own["match_score_in_sample"]["value"] = float(np.mean([row["f1_in_sample"] for row in rows]))
    edited = [row for row in rows if row["n_add"]]
    adds = np.repeat([row["delta_add"] for row in edited], [row["n_add"] for row in edited])
    removes = np.repeat([row["delta_rem"] for row in edited], [row["n_rem"] for row in edited])
    own["tapa_score"]["value"] = float(adds.mean() - removes.mean())
    for name in ("match_score", "tapa_score"):
        own[f"delta_{name}"]["value"] = own[name]["value"] - twin[name]["value"]
    return record


def write_result(
    folder: Path, record: Mapping[str, Any], *, place: str = "synavatars", version: int = 1
) -> Path:
    """Put a record where the suite would."""
    file = folder / "results" / place / f"{version}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record))
    return file
