"""The contexts of a folder as a Parquet table, and their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmark.datasets.pictures import open_parquet, read_columns
from benchmark.errors import UserError
from benchmark.files import replacing
from benchmark.text.tokens import SPLITS, Context

FILE = "contexts.parquet"
_GROUP_ROWS = 50_000
_NUMBERS = pa.list_(pa.int32())
SCHEMA = pa.schema(
    [
        ("context", pa.int64()),
        ("document", pa.string()),
        ("split", pa.string()),
        ("text", pa.string()),
        ("input_ids", _NUMBERS),
        ("places", _NUMBERS),
        ("starts", _NUMBERS),
        ("stops", _NUMBERS),
    ]
)


def write_contexts(path: Path, contexts: Sequence[Context], splits: Mapping[str, str]) -> None:
    """Write a row a context; ``splits`` gives the split of every document."""
    columns = {
        "context": range(len(contexts)),
        "document": [one.document for one in contexts],
        "split": [splits[one.document] for one in contexts],
        "text": [one.text for one in contexts],
        "input_ids": [one.input_ids for one in contexts],
        "places": [one.places for one in contexts],
        "starts": [one.spans[:, 0] for one in contexts],
        "stops": [one.spans[:, 1] for one in contexts],
    }
    table = pa.table(
        {name: pa.array(values, SCHEMA.field(name).type) for name, values in columns.items()},
        schema=SCHEMA,
    )
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=_GROUP_ROWS)


def read_contexts(path: Path) -> tuple[list[Context], list[str]]:
    """Contexts in their order, and the split of each; a fault is a ``UserError``."""
    with open_parquet(path) as file:
        if not file.schema_arrow.equals(SCHEMA):
            raise UserError(
                f"{path}: columns are {file.schema_arrow.names}; expected {SCHEMA.names}"
            )
    table = read_columns(path, SCHEMA.names, SCHEMA)
    if any(column.null_count for column in table.columns):
        raise UserError(f"{path}: holds null; every value must be given")
    if table["context"].to_pylist() != list(range(table.num_rows)):
        raise UserError(f"{path}: contexts are not numbered 0, 1, 2, …")
    numbers = {name: _lists(table[name]) for name in ("input_ids", "places", "starts", "stops")}
    documents, splits, texts = (table[name].to_pylist() for name in ("document", "split", "text"))
    contexts = []
    for row, text in enumerate(texts):
        ids, places, starts, stops = (numbers[name][row] for name in numbers)
        _check(path, row, text, splits[row], ids, places, starts, stops)
        contexts.append(Context(documents[row], text, ids, places, np.stack([starts, stops], 1)))
    _check_documents(path, documents, splits)
    return contexts, splits


def _lists(column: pa.ChunkedArray) -> list[np.ndarray]:
    whole = column.combine_chunks()
    values, ends = whole.flatten().to_numpy(zero_copy_only=False), whole.value_lengths()
    return np.split(values, np.cumsum(ends.to_numpy(zero_copy_only=False))[:-1])


def _check(
    path: Path,
    row: int,
    text: str,
    split: str,
    ids: np.ndarray,
    places: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
) -> None:
    where = f"{path}: context {row}"
    if split not in SPLITS:
        raise UserError(f"{where}: split is {split!r}; expected match or score")
    if not len(places) == len(starts) == len(stops) or not len(places):
        raise UserError(f"{where}: places, starts and stops must be as many, and at least one")
    if places[0] < 0 or places[-1] >= len(ids) or (np.diff(places) <= 0).any():
        raise UserError(f"{where}: places must rise within the {len(ids)} input_ids")
    if (starts < 0).any() or (stops < starts).any() or (stops > len(text)).any():
        raise UserError(f"{where}: a token stands outside the text of {len(text)} characters")


def _check_documents(path: Path, documents: Sequence[str], splits: Sequence[str]) -> None:
    placed: dict[str, str] = {}
    for document, split in zip(documents, splits, strict=True):
        if placed.setdefault(document, split) != split:
            raise UserError(f"{path}: document {document!r} stands in both splits")


def contexts_sha256(contexts: Iterable[Context], splits: Iterable[str]) -> str:
    """Hash over the content, whatever wrote the table."""
    digest = hashlib.sha256(b"assay-contexts-1")
    for one, split in zip(contexts, splits, strict=True):
        numbers = (one.input_ids, one.places, one.spans)
        parts = [one.document.encode(), split.encode(), one.text.encode()]
        parts += [np.ascontiguousarray(values, "<i4").tobytes() for values in numbers]
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
