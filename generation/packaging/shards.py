"""Rows into Parquet files of a bounded size, a few rows in memory at a time."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

SHARD_BYTES = 500 * 10**6
"""Of pictures in a file; the Hub's own tools cut there too."""

# small enough to look at one picture without reading many
_GROUP_ROWS = 100
_GROUP_BYTES = 64 * 2**20


class Shards:
    """Writes ``<split>-00000-of-00003.parquet`` and its like; the same rows give the same bytes.

    Args:
        folder: where; made if it is not there.
        split: name of the split.
        schema: of the rows.
        repeating: columns that are written as a dictionary.
        limit: bytes of pictures after which a new file is begun.
    """

    def __init__(
        self,
        folder: Path,
        split: str,
        schema: pa.Schema,
        repeating: list[str],
        limit: int = SHARD_BYTES,
    ) -> None:
        self._folder = folder
        self._split = split
        self._schema = schema
        self._repeating = repeating
        self._limit = limit
        self._rows: list[dict[str, Any]] = []
        self._row_bytes = self._file_bytes = 0
        self._parts: list[Path] = []
        self._writer: pq.ParquetWriter | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, row: dict[str, Any], size: int) -> None:
        """Take one row whose pictures hold ``size`` bytes."""
        if self._file_bytes and self._file_bytes + size > self._limit:
            self._close_file()
        if self._rows and self._row_bytes + size > _GROUP_BYTES:
            self._flush()
        self._rows.append(row)
        self._row_bytes += size
        self._file_bytes += size
        if len(self._rows) == _GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._writer is None:
            path = self._folder / f".{self._split}-{len(self._parts):05d}.part"
            # PNG and JPEG are compressed already; the page index lets the viewer fetch single rows
            self._writer = pq.ParquetWriter(
                path,
                self._schema,
                compression="snappy",
                use_dictionary=self._repeating,
                write_page_index=True,
            )
            self._parts.append(path)
        table = pa.Table.from_pylist(self._rows, schema=self._schema)
        self._writer.write_table(table, row_group_size=_GROUP_ROWS)
        self._rows, self._row_bytes = [], 0

    def _close_file(self) -> None:
        if self._rows:
            self._flush()
        if self._writer is not None:
            self._writer.close()
        self._writer, self._file_bytes = None, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            if self._writer is not None:
                self._writer.close()
            return
        self._close_file()
        for number, part in enumerate(self._parts):
            name = f"{self._split}-{number:05d}-of-{len(self._parts):05d}.parquet"
            part.replace(self._folder / name)
