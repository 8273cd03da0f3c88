"""The linear-probe bound of a dataset and encoder, worked out once and kept."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import files
from benchmark.measure import Labels, Protocol
from benchmark.metrics import linear_probe_bound
from benchmark.records import environment, score_json
from benchmark.scoring import Source


def probe_bound(
    source: Source, features: Mapping[str, np.ndarray], labels: Labels, protocol: Protocol
) -> dict[str, Any]:
    """What a linear probe on the encoder's features scores, as a record holds it.

    Kept under ``home()/bounds`` by dataset, encoder, protocol and code, where the encoder's weights
    are known; features from a file are probed each time.
    """
    known = source.encoder.get("weights_sha256") is not None
    path = _path(source, protocol)
    if known and (kept := _read(path)) is not None:
        return kept
    score = linear_probe_bound(
        features["match"], labels.match, features["score"], labels.score, **protocol.bootstrap
    )
    found = score_json(score)
    if known:
        files.write_json(path, found)
    return found


def _path(source: Source, protocol: Protocol) -> Path:
    now = environment()
    key = {
        "dataset": dict(source.dataset),
        # pictures that the pairs were made from are not in the match split
        **({} if source.pairs_dataset is None else {"pairs": dict(source.pairs_dataset)}),
        "encoder": dict(source.encoder),
        "bootstrap": protocol.bootstrap,
        "code": [now["suite_version"], now["commit"]],
    }
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]
    return files.home() / "bounds" / f"{name}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "value" in found else None
