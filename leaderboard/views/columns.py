"""One column of a board: as many digits as its intervals support, the same down the column."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.definitions import Column
from leaderboard.numbers import Number, fixed, pad
from leaderboard.reading.records import Score

_SPARED = 0.1
"""Share of the entries whose wide intervals do not take digits from all others."""


@dataclass(frozen=True)
class ColumnView:
    """A column with its precision.

    Attributes:
        decimals: of every number whose interval supports them.
        most: decimals that stand in the column; numbers with fewer are moved to align.
    """

    column: Column
    decimals: int
    most: int

    @property
    def key(self) -> str:
        return self.column.key

    @property
    def slug(self) -> str:
        """Its name in an address."""
        return self.column.key.replace("_", "-")

    def shown(self, number: Number, score: Score | None) -> Number:
        """``number`` at the column's precision, or at its own where that is coarser."""
        if number.value is None or number.decimals <= self.decimals:
            return number
        interval = None
        if number.interval is not None and score is not None and score.ci95 is not None:
            low, high = score.ci95
            interval = f"[{fixed(low, self.decimals)}, {fixed(high, self.decimals)}]"
        text = fixed(number.value, self.decimals)
        return Number(number.value, text, interval, self.decimals, number.note)

    def pad(self, number: Number) -> str:
        """Class that brings a number's decimal point under the others' of its column."""
        return pad(number, self.most)


def column_view(column: Column, numbers: Iterable[Number]) -> ColumnView:
    """The precision that all but the least certain of ``numbers`` support.

    Up to a tenth of them may support less: those keep their own, coarser one.
    """
    known = sorted(number.decimals for number in numbers if number.value is not None)
    if not known:
        return ColumnView(column, column.decimals, 0)
    decimals = known[int(len(known) * _SPARED)]
    return ColumnView(column, decimals, decimals)
