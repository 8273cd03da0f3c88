"""States of a dataset: which is the newest that a place was measured on."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from benchmark.errors import UserError

M = TypeVar("M", bound=Any)
Data = tuple[str, str | None]
"""Fingerprint of the dataset, and of the dataset of its pairs where that is another one."""


def data_of(document: Mapping[str, Any]) -> Data:
    """The state of the data that a record was measured on; of the real set for a generator's."""
    dataset = document.get("dataset") or document["real"]
    pairs = document.get("pairs_dataset")
    return str(dataset["fingerprint"]), str(pairs["fingerprint"]) if pairs else None


def newest_data(measured: Iterable[Any]) -> Mapping[str, Data]:
    """Place → the state of its data that was measured last, by the submissions' results."""
    newest: dict[str, tuple[datetime, Data]] = {}
    for each in measured:
        place = each.origin.place
        if place is None:
            continue
        found = (measured_at(each.record.document), data_of(each.record.document))
        if place not in newest or _order(found) > _order(newest[place]):
            newest[place] = found
    return {place: data for place, (_, data) in newest.items()}


def by_board(measured: Sequence[M], key: Callable[[Any, Data], str]) -> Mapping[str, list[M]]:
    """Records by the board they belong to; those of older data are marked and stay with the newest.

    Args:
        measured: dataclasses with ``record`` and ``origin``.
        key: names the board of a record, its data taken to be the second argument.
    """
    newest = newest_data(measured)
    groups: dict[str, list[M]] = defaultdict(list)
    for each in measured:
        data, place = data_of(each.record.document), each.origin.place
        now = data if place is None else newest[place]
        origin = replace(each.origin, older_data=now != data)
        groups[key(each.record, now)].append(replace(each, origin=origin))
    return groups


def measured_at(document: Mapping[str, Any]) -> datetime:
    """When a record was measured; ``UserError`` for a day or an hour that does not exist."""
    text = document["timing"]["measured_at"]
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise UserError(
            f"record of {document['submission']['id']!r}: timing.measured_at is {text!r}, which is "
            f"no time ({error}); measure it again"
        ) from None


def _order(found: tuple[datetime, Data]) -> tuple[datetime, str, str]:
    at, (dataset, pairs) = found
    return at, dataset, pairs or ""
