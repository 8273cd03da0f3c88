"""Results that are there already: which of them still stand."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.measure import Protocol
from benchmark.records import environment
from benchmark.scoring import Source


def current_record(
    path: Path, submission: Mapping[str, Any], source: Source, protocol: Protocol
) -> dict[str, Any] | None:
    """The record there, if measured with this SAE, data, encoder, protocol and code; else None."""
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        asked = json.loads(json.dumps(protocol.as_dict()))
        pairs = None if source.pairs_dataset is None else dict(source.pairs_dataset)
        same = (
            record["submission"] == dict(submission)
            and record["dataset"] == dict(source.dataset)
            and record.get("pairs_dataset") == pairs
            and record["encoder"] == dict(source.encoder)
            and {key: record["protocol"][key] for key in asked} == asked
            and same_code(record)
        )
        return record if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def same_code(document: Mapping[str, Any]) -> bool:
    """Whether a document was written by this version of the suite."""
    now = environment()
    return all(document["environment"][key] == now[key] for key in ("suite_version", "commit"))
