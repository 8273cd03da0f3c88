"""One column of a board, its decimal points under each other."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.definitions import Column
from leaderboard.numbers import Number, pad


@dataclass(frozen=True)
class ColumnView:
    """A column; ``most`` is how many decimals stand in it, by which shorter numbers are moved."""

    column: Column
    most: int

    @property
    def key(self) -> str:
        return self.column.key

    @property
    def slug(self) -> str:
        """Its name in an address."""
        return self.column.key.replace("_", "-")

    def pad(self, number: Number) -> str:
        """Class that brings a number's decimal point under the others' of its column."""
        return pad(number, self.most)


def column_view(column: Column, numbers: Iterable[Number]) -> ColumnView:
    """The column that ``numbers`` stand in."""
    known = (number.decimals for number in numbers if number.value is not None)
    return ColumnView(column, max(known, default=0))
