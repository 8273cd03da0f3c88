"""Tables of a board as CSV, JSON and Parquet."""

import csv
import io
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from leaderboard.building.cache import Cache, key_of
from leaderboard.building.pool import Pool
from leaderboard.building.reuse import Shelf
from leaderboard.exports.rows import Value, about, board_rows
from leaderboard.ranking.boards import Board
from leaderboard.reading.concepts import COLUMNS, unpacked
from leaderboard.reading.records import compact
from leaderboard.reading.slim import File, packed_concepts

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard
    from leaderboard.building.content import Content

_COUNTS = frozenset(("rank", "rank_best", "rank_worst", "images", "d_sae", "seed", "version"))
_WHO = ("id", "name", "status", "kind", "architecture", "licence", "exposure")
_TEXTS = frozenset((*_WHO, "measured_at", "page", "record", "record_sha256"))
_FORMULA = tuple("=+-@\t\r\n")
_SPECIAL = frozenset(',"\r\n')


def write_tables(shelf: Shelf, board: "AnyBoard") -> None:
    """``<slug>.csv``, ``.json`` and ``.parquet``."""
    rows = board_rows(board)
    place = shelf.folder / "data"
    text = compact({"board": about(board), "rows": rows})
    (place / f"{board.slug}.json").write_text(text, encoding="utf-8")
    (place / f"{board.slug}.csv").write_text(_csv(rows), encoding="utf-8", newline="")
    (place / f"{board.slug}.parquet").write_bytes(_parquet(_table(rows)))


class ConceptTables:
    """``<slug>.concepts.parquet`` and ``.csv`` of a board: a row for each concept of each SAE.

    Of many SAEs they are begun in another process, and written when all else is.
    """

    def __init__(
        self, shelf: Shelf, board: Board, content: "Content", store: Cache, pool: Pool
    ) -> None:
        records = [entry.record for entry in (*board.entries, *board.older)]
        self._shelf, self._any = shelf, bool(records)
        self._key = key_of([[record.id, record.sha256] for record in records])
        self._paths = [f"data/{board.slug}.concepts.{ending}" for ending in ("parquet", "csv")]
        there = all(shelf.has(path, self._key) for path in self._paths)
        files = [(each.id, content.files[each.sha256], each.sha256) for each in records]
        self._made = pool.begin(concept_tables, (files, store), 0 if there else len(files))

    def write(self) -> None:
        """Take them over from the earlier site, or wait for them."""
        if self._any:
            for place, path in enumerate(self._paths):
                self._shelf.put(path, self._key, partial(self._part, place))

    def _part(self, place: int) -> bytes:
        return self._made()[place]


def concept_tables(job: tuple[Sequence[tuple[str, File, str]], Cache]) -> tuple[bytes, bytes]:
    """Parquet and CSV of the concepts of SAEs: name, file, hash of each."""
    files, store = job
    table = _concept_table([(name, packed_concepts(file, sha, store)) for name, file, sha in files])
    return _parquet(table), concept_csv(table)


def unformula(value: Value) -> Value:
    """Text that a spreadsheet would take for a formula, marked as text; numbers as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv(rows: Sequence[dict[str, Value]]) -> str:
    out = io.StringIO()
    heads = list(rows[0]) if rows else []
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([unformula(head) for head in heads])
    writer.writerows([[unformula(row[head]) for head in heads] for row in rows])
    return out.getvalue()


def _table(rows: Sequence[dict[str, Value]]) -> Any:
    import pyarrow as pa

    heads = list(rows[0]) if rows else []
    return pa.table(
        [[row[head] for row in rows] for head in heads],
        schema=pa.schema([(head, _type(head)) for head in heads]),
    )


def _type(head: str) -> Any:
    import pyarrow as pa

    if head in _TEXTS:
        return pa.string()
    return pa.int64() if head in _COUNTS or head.endswith("_n") else pa.float64()


def _concept_table(packed: Sequence[tuple[str, bytes]]) -> Any:
    import numpy as np
    import pyarrow as pa

    found = [unpacked(each) for _, each in packed]
    sizes = [len(names) for names, _ in found]
    ids = np.repeat(np.arange(len(packed)), sizes)
    texts = pa.array([name for name, _ in packed], pa.string())
    values = {}
    for place, column in enumerate(COLUMNS):
        numbers = np.concatenate([columns[place] for _, columns in found])
        # NaN is how the packed columns say that a value is missing
        array = pa.array(numbers, pa.float64(), mask=np.isnan(numbers))
        values[column] = array.cast(pa.int64()) if column.startswith("n_") else array
    names = pa.array([name for names, _ in found for name in names], pa.string())
    return pa.table({"id": texts.take(pa.array(ids)), "concept": names, **values})


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", use_dictionary=["id", "concept"])
    return out.getvalue()


def concept_csv(table: Any) -> bytes:
    """Quoted as the other tables, where texts must be; pyarrow then quotes all of them."""
    import pyarrow as pa
    from pyarrow.csv import WriteOptions, write_csv

    place = table.column_names.index("concept")
    names = table.column(place).combine_chunks().dictionary_encode()
    texts = [unformula(name) for name in names.dictionary.to_pylist()]
    concepts = pa.DictionaryArray.from_arrays(names.indices, pa.array(texts, pa.string()))
    bare = not any(_SPECIAL & set(str(text)) for text in texts)
    out = io.BytesIO(f"{','.join(table.column_names)}\n".encode())
    out.seek(0, io.SEEK_END)
    write_csv(
        table.set_column(place, "concept", concepts.cast(pa.string())),
        out,
        WriteOptions(include_header=False, quoting_style="none" if bare else "needed"),
    )
    return out.getvalue()
