"""Rows of a board: a record, where it comes from, and what its submission says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leaderboard.numbers import Number
from leaderboard.reading.records import Record, Score

if TYPE_CHECKING:
    from benchmark.submissions import Submission


@dataclass(frozen=True)
class Rank:
    """Position by value (ties share it), and the best and worst the intervals allow."""

    place: int
    best: int
    worst: int

    @property
    def span(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


@dataclass(frozen=True)
class Past:
    """An earlier measurement of an entry at the same place.

    Attributes:
        version: number of its file.
        date: day of the measurement, YYYY-MM-DD.
        older_data: whether it was made on another state of the data than the newest.
        values: its scores by column.
        sha256: of its record as the site holds it.
        path: where the site holds it, from the root.
    """

    version: int
    date: str
    older_data: bool
    values: Mapping[str, Score]
    sha256: str
    path: str


@dataclass(frozen=True)
class Origin:
    """Where a record comes from: nothing of it for a record that lies alone.

    Attributes:
        submission: the folder's document.
        place: the results folder.
        version: number of the record's file there.
        exposure: parts of the score data that the training saw.
        history: earlier measurements at this place, newest first.
        older_data: whether the record was made on an older state of the data.
    """

    submission: "Submission | None" = None
    place: str | None = None
    version: int | None = None
    exposure: tuple[str, ...] = ()
    history: tuple[Past, ...] = ()
    older_data: bool = False

    @property
    def withdrawn(self) -> Mapping[str, Any] | None:
        """Date and reason where the submission was taken back."""
        return None if self.submission is None else self.submission.withdrawn

    @property
    def claimed(self) -> Mapping[str, float]:
        """The submitter's own numbers for this place by score; never a measurement."""
        if self.submission is None or self.place is None:
            return {}
        claimed: Mapping[str, float] = self.submission.claimed.get(self.place, {})
        return claimed


@dataclass(frozen=True, kw_only=True)
class Placed:
    """What rows of every kind of board have: numbers by column, rank (None: not ranked), origin."""

    cells: Mapping[str, Number]
    rank: Rank | None
    origin: Origin = field(default_factory=Origin)

    @property
    def submission(self) -> "Submission | None":
        return self.origin.submission

    @property
    def place(self) -> str | None:
        return self.origin.place

    @property
    def version(self) -> int | None:
        return self.origin.version

    @property
    def exposure(self) -> tuple[str, ...]:
        return self.origin.exposure

    @property
    def history(self) -> tuple[Past, ...]:
        return self.origin.history

    @property
    def older_data(self) -> bool:
        return self.origin.older_data

    @property
    def withdrawn(self) -> Mapping[str, Any] | None:
        return self.origin.withdrawn

    @property
    def claimed(self) -> Mapping[str, float]:
        return self.origin.claimed


@dataclass(frozen=True, kw_only=True)
class Entry(Placed):
    """One SAE on a board."""

    record: Record


@dataclass(frozen=True)
class Measured:
    """A record and its origin, before it has a place on a board."""

    record: Record
    origin: Origin = field(default_factory=Origin)
