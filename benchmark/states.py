"""States of a dataset: which is the newest that something was measured on."""

from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from benchmark.errors import UserError

State = tuple[str, ...]
"""Fingerprint of the dataset, and of the dataset of its pairs where that is another one."""
Key = TypeVar("Key", bound=Hashable)


def state_of(record: Mapping[str, Any]) -> State:
    """The state of the data that a record was measured on; of the real set for a generator's."""
    blocks = (record.get("dataset") or record["real"], record.get("pairs_dataset"))
    return tuple(str(block["fingerprint"]) for block in blocks if block)


def newest_states(measured: Iterable[tuple[Key, Mapping[str, Any]]]) -> dict[Key, State]:
    """Of the records under each key, the state of the one that was measured last."""
    newest: dict[Key, tuple[datetime, State]] = {}
    for key, record in measured:
        found = (measured_at(record), state_of(record))
        newest[key] = max(newest.get(key, found), found)
    return {key: state for key, (_, state) in newest.items()}


def measured_at(record: Mapping[str, Any]) -> datetime:
    """When a record was measured; ``UserError`` for a day or an hour that does not exist."""
    text = record["timing"]["measured_at"]
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UserError(
            f"record of {record['submission']['id']!r}: timing.measured_at is {text!r}, which is "
            f"no time ({error}); measure it again"
        ) from None
