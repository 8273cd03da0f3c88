"""Pictures inside Parquet files, with at most one row group of them in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from benchmark.datasets.layout import MAX_ROW_GROUP_BYTES
from benchmark.errors import UserError
from benchmark.images import read_image


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; whatever is wrong with it becomes a ``UserError`` naming it."""
    try:
        with pq.ParquetFile(path) as file:
            _check_row_groups(file, path)
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{path} is not a readable Parquet file: {reason}") from error


def _check_row_groups(file: pq.ParquetFile, path: Path) -> None:
    for number in range(file.num_row_groups):
        size = file.metadata.row_group(number).total_byte_size
        if size > MAX_ROW_GROUP_BYTES:
            raise UserError(
                f"{path}: row group {number} holds {size:,} bytes, more than "
                f"{MAX_ROW_GROUP_BYTES:,}; write it with smaller row groups"
            )


def read_columns(path: Path, columns: list[str], schema: pa.Schema | None = None) -> pa.Table:
    """These columns of all rows, cast to ``schema`` where it is given."""
    with open_parquet(path) as file:
        table = file.read(columns=columns, use_threads=False)
        # A damaged file can be read and still hold broken offsets or text.
        table.validate(full=True)
        return table if schema is None else table.cast(schema)


class ParquetImages(Sequence[Image.Image]):
    """The pictures of one column over several files, in row order.

    Holds the last row group it read, so that reading in order decompresses each once.
    """

    def __init__(self, paths: Sequence[Path], column: str) -> None:
        self._column = column
        self._groups: list[tuple[Path, int]] = []
        self._starts = [0]
        for path in paths:
            with open_parquet(path) as file:
                for number in range(file.num_row_groups):
                    self._groups.append((path, number))
                    rows = file.metadata.row_group(number).num_rows
                    self._starts.append(self._starts[-1] + rows)
        self._held: tuple[int, pa.ChunkedArray] | None = None

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Image.Image:  # type: ignore[override]
        return read_image(self.encoded(index), name=self.describe(index))

    def encoded(self, index: int) -> bytes:
        """The bytes that the file holds for row ``index``."""
        data = self._cell(index)["bytes"]
        if data is None:
            raise UserError(f"{self.describe(index)} holds no bytes; expected an embedded picture")
        return bytes(data)

    def path(self, index: int) -> str | None:
        """The file name that stands beside the bytes of row ``index``, if any."""
        path: str | None = self._cell(index)["path"]
        return path

    def describe(self, index: int) -> str:
        """File, row and column of row ``index``, for messages."""
        group, row = self._locate(index)
        path, _ = self._groups[group]
        first = next(place for place, each in enumerate(self._groups) if each[0] == path)
        in_file = self._starts[group] - self._starts[first] + row
        return f"{path} row {in_file} column {self._column}"

    def _locate(self, index: int) -> tuple[int, int]:
        row = range(len(self))[index]
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def _cell(self, index: int) -> dict[str, Any]:
        group, row = self._locate(index)
        held = self._held
        if held is None or held[0] != group:
            path, number = self._groups[group]
            with open_parquet(path) as file:
                table = file.read_row_group(number, columns=[self._column], use_threads=False)
                table.validate(full=True)
                expected = self._starts[group + 1] - self._starts[group]
                if table.num_rows != expected:
                    raise ValueError(f"{table.num_rows} rows in row group {number}, not {expected}")
            held = (group, table[self._column])
            self._held = held
        value: dict[str, Any] | None = held[1][row].as_py()
        if value is None:
            raise UserError(f"{self.describe(index)} is null; expected an embedded picture")
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}
