"""States of a dataset: which is the newest that a place was measured on."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from benchmark.errors import UserError

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


def is_older(measured: Any, newest: Mapping[str, Data]) -> bool:
    """Whether a submission's record is of another state of the data than its place's newest."""
    place = measured.origin.place
    return place is not None and data_of(measured.record.document) != newest[place]


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
