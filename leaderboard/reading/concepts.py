"""The per-concept numbers of a record, column by column: a hundredth of the rows' memory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Values = tuple[float | None, ...]
Counts = tuple[int | None, ...]


@dataclass(frozen=True)
class Concepts:
    """One value a concept in every column, in the record's order; None: not applicable.

    Equal ``names`` of several records are one tuple.
    """

    names: tuple[str, ...]
    f1: Values
    f1_in_sample: Values
    prevalence: Values
    delta_add: Values
    n_add: Counts
    delta_rem: Values
    n_rem: Counts

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> "Concepts":
        """The columns of a record's ``per_concept`` rows."""
        columns = {name: tuple([row.get(name) for row in rows]) for name in COLUMNS}
        return cls(_shared(tuple(row["concept"] for row in rows)), **columns)

    @classmethod
    def read(cls, content: bytes) -> "Concepts":
        """What ``packed`` made."""
        names, table = unpacked(content)
        columns: dict[str, Any] = {
            column: tuple([None if value != value else _exact(column, value) for value in values])
            for column, values in zip(COLUMNS, table.tolist(), strict=True)
        }
        return cls(names, **columns)

    def packed(self) -> bytes:
        """The names as a line of JSON, then the columns as float64, NaN where not applicable."""
        missing = float("nan")
        table = [
            [missing if value is None else value for value in getattr(self, column)]
            for column in COLUMNS
        ]
        return json.dumps(self.names).encode() + b"\n" + np.asarray(table, "<f8").tobytes()


COLUMNS = tuple(field.name for field in fields(Concepts) if field.name != "names")

_known: dict[tuple[str, ...], tuple[str, ...]] = {}


def unpacked(content: bytes) -> tuple[tuple[str, ...], FloatArray]:
    """Names, and the columns as an array (columns, concepts), of what ``packed`` made."""
    line, _, data = content.partition(b"\n")
    names = _shared(tuple(json.loads(line)))
    return names, np.frombuffer(data, "<f8").reshape(len(COLUMNS), len(names))


def _exact(column: str, value: float) -> float:
    return int(value) if column.startswith("n_") else value


def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    return _known.setdefault(names, names)
