"""What an entry's authors claim beside what was measured, and how its numbers changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.definitions import COLUMN, GENERATOR_COLUMNS, Column
from leaderboard.numbers import MISSING, Number, number, rounded
from leaderboard.reading.records import Score

_COLUMNS: Mapping[str, Column] = COLUMN | {column.key: column for column in GENERATOR_COLUMNS}


@dataclass(frozen=True)
class ClaimRow:
    """A claimed number beside the measured one.

    ``verdict``: whether it lies in the measured interval, or why that cannot be said.
    """

    head: str
    anchor: str
    claimed: str
    measured: Number
    verdict: str


@dataclass(frozen=True)
class Version:
    """One measurement: the current one first, then those it replaced."""

    version: str
    date: str
    note: str
    numbers: tuple[Number, ...]
    path: str | None
    current: bool


@dataclass(frozen=True)
class HistoryView:
    """All measurements of an entry in one place."""

    columns: tuple[Column, ...]
    versions: tuple[Version, ...]


def claim_rows(claimed: Mapping[str, float], record: Any) -> tuple[ClaimRow, ...]:
    """One row for each claimed score that has a column of its own, in the columns' order."""
    rows = []
    for key, column in _COLUMNS.items():
        value = claimed.get(key)
        if value is None:
            continue
        score = record.score(key)
        rows.append(
            ClaimRow(
                head=column.head,
                anchor=column.definition.anchor,
                claimed=rounded(value, column.decimals),
                measured=number(score, column.decimals),
                verdict=_verdict(value, score, column),
            )
        )
    return tuple(rows)


def _verdict(claimed: float, score: Score | None, column: Column) -> str:
    if score is None or score.value is None:
        return "not measured"
    if column.definition.spread_only:
        return "not judged: a spread is no interval"
    if score.low is None or score.high is None or score.ci95 is None:
        return "no interval"
    if claimed < score.low:
        return "below the interval"
    return "above the interval" if claimed > score.high else "inside the interval"


def history_view(entry: Any, columns: Sequence[Column]) -> HistoryView | None:
    """The current measurement and the older ones; None where there is no older one."""
    past = getattr(entry, "history", ())
    if not past:
        return None
    record = entry.record
    measured_at = record.document["timing"]["measured_at"][:10]
    now = Version(
        version=_name(getattr(entry, "version", None)),
        date=measured_at,
        note="current",
        numbers=tuple(number(record.score(c.key), c.decimals) for c in columns),
        path=None,
        current=True,
    )
    older = (
        Version(
            version=_name(each.version),
            date=each.date,
            note="older data version" if each.older_data else "",
            numbers=tuple(number(each.values.get(c.key), c.decimals) for c in columns),
            path=getattr(each, "path", None),
            current=False,
        )
        for each in past
    )
    return HistoryView(tuple(columns), (now, *older))


def _name(version: int | None) -> str:
    return MISSING if version is None else str(version)
