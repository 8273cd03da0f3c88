"""Tables of a board as CSV, JSON and Parquet."""

import csv
import io
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from leaderboard.building.cache import key_of
from leaderboard.building.reuse import Shelf
from leaderboard.exports.rows import Value, about, board_rows
from leaderboard.ranking.boards import Board
from leaderboard.reading.concepts import COLUMNS, unpacked
from leaderboard.reading.records import compact

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard

_COUNTS = frozenset(("rank", "rank_best", "rank_worst", "images", "d_sae", "seed", "version"))
_WHO = ("id", "name", "status", "kind", "architecture", "licence", "exposure")
_TEXTS = frozenset((*_WHO, "measured_at", "page", "record", "record_sha256"))
_FORMULA = tuple("=+-@\t\r\n")


def write_tables(shelf: Shelf, board: "AnyBoard") -> None:
    """``<slug>.csv``, ``.json`` and ``.parquet``, and an SAE board's per-concept rows."""
    rows = board_rows(board)
    place = shelf.folder / "data"
    text = compact({"board": about(board), "rows": rows})
    (place / f"{board.slug}.json").write_text(text, encoding="utf-8")
    (place / f"{board.slug}.csv").write_text(_csv(rows), encoding="utf-8", newline="")
    (place / f"{board.slug}.parquet").write_bytes(_parquet(_table(rows)))
    if isinstance(board, Board):
        found = [[entry.record.id, entry.record.sha256] for entry in (*board.entries, *board.older)]
        key, path = key_of(found), f"data/{board.slug}.concepts"
        table = cache(lambda: _concept_table(board))
        shelf.put(f"{path}.parquet", key, lambda: _parquet(table()))
        shelf.put(f"{path}.csv", key, lambda: concept_csv(table()))


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


def _concept_table(board: Board) -> Any:
    import numpy as np
    import pyarrow as pa

    entries = (*board.entries, *board.older)
    found = [unpacked(entry.record.packed_concepts) for entry in entries]
    sizes = [len(names) for names, _ in found]
    ids = np.repeat(np.arange(len(entries)), sizes)
    texts = pa.array([entry.record.id for entry in entries], pa.string())
    table = np.concatenate([columns for _, columns in found], axis=1)
    values = {}
    for column, numbers in zip(COLUMNS, table, strict=True):
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
    """As the other tables: texts are quoted where they must be, which pyarrow's writer cannot."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = table.column("concept").combine_chunks().dictionary_encode()
    quoted = pa.array([_csv_cell(name) for name in names.dictionary.to_pylist()], pa.string())
    concepts = pa.DictionaryArray.from_arrays(names.indices, quoted).cast(pa.string())
    columns = [
        concepts if head == "concept" else table.column(head).combine_chunks().cast(pa.string())
        for head in table.column_names
    ]
    lines = pc.binary_join_element_wise(*columns, ",", null_handling="replace", null_replacement="")
    return "\n".join([",".join(table.column_names), *lines.to_pylist(), ""]).encode()


def _csv_cell(text: str) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([unformula(text)])
    return out.getvalue()
