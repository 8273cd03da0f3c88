"""The layout in which the paper's authors publish edit pairs: ``images/`` and ``metadata.csv``.

One line a pair. Concepts are given twice, as 0-based index and as name, and both must agree with
the vocabulary, whose file numbers its names from 1; so a table that counts otherwise is noticed.
Lists of indices are text such as ``"[7, 17]"``. Columns (others are passed over):

=========  =============================================  =========================================
what       synCUB                                         synCOCO
=========  =============================================  =========================================
id         ``pair_id``                                    ``pair_id``
pictures   ``orig_image``, ``syn_image``                  ``orig_image``, ``syn_image``
removed    ``old_attr_idx``, ``old_attr``                 ``removed_cls_idx``, ``removed_class``
added      ``new_attr_idx``, ``new_attr``                 none
concepts   ``orig_attr_idx``, ``syn_attr_idx``            ``orig_labels``, ``syn_labels``
source     none                                           ``coco_idx``
=========  =============================================  =========================================

``orig_path`` and ``syn_path`` (names of the same columns before publication) are accepted for the
pictures; a table with both spellings is refused.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmark.datasets.base import PairSequence
from benchmark.datasets.folder import FolderDataset, FolderImages, NoImages, absent, inner_name
from benchmark.datasets.names import group_of, join_key, shown_name
from benchmark.errors import UserError

TABLE = "metadata.csv"
VOCABULARY = "attributes.txt"
UNVERSIONED = "local"
"""Revision of a folder that does not say which one it is."""

_MAX_CELL = 2**16
_MAX_PAIRS = 10**6
_WHOLE = re.compile(r"(\d{1,9})(\.0)?")
_HASH = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Columns:
    """Accepted spellings of each column of one dataset.

    Attributes:
        removed, added: index and name of the concept; ``added`` is None where nothing is added.
        base_concepts, edited_concepts: lists of indices.
        source: index of the picture that the base picture is, None where it is not given.
    """

    removed: tuple[str, str]
    added: tuple[str, str] | None
    base_concepts: str
    edited_concepts: str
    source: str | None = None
    pair: str = "pair_id"
    base: tuple[str, ...] = ("orig_image", "orig_path")
    edited: tuple[str, ...] = ("syn_image", "syn_path")

    @property
    def telling(self) -> set[str]:
        """Columns by which a table is known to be of this dataset."""
        return {self.removed[0], self.base_concepts, self.edited_concepts}


@dataclass(frozen=True)
class _Row:
    """One pair, its line, and its indices checked."""

    where: str
    id: str
    base: str
    edited: str
    added: int | None
    removed: int | None
    concepts: Sequence[int]
    source: int | None


def table_header(folder: Path) -> set[str]:
    """Names of the columns of a folder's table; none where it cannot be read."""
    try:
        # what is no UTF-8 further down is for the reader of the table to name
        with (folder / TABLE).open(encoding="utf-8-sig", errors="replace", newline="") as stream:
            return {name.strip() for name in next(csv.reader([stream.readline(_MAX_CELL)]), [])}
    except (OSError, csv.Error):
        return set()


def open_published(
    folder: Path,
    *,
    name: str,
    columns: Columns,
    vocabulary: Sequence[str],
    source_prefix: str = "",
    groups: Mapping[str, str] | None = None,
    revision: str | None = None,
) -> FolderDataset:
    """Open a folder in the published layout.

    Args:
        folder: holds ``metadata.csv`` and the pictures that it names.
        name: of the dataset.
        columns: what the table's columns are called.
        vocabulary: raw names by 0-based index.
        source_prefix: stands before the number of a pair's source picture.
        groups: group of each raw name; by default what stands before its ``::``.
        revision: by default the commit that ``hf download --local-dir`` left word of.

    Raises:
        UserError: a broken table, indices and names that disagree, an edit that the lists of
            concepts do not show, or pictures that are not there; file and line are named.
    """
    rows = _rows(folder / TABLE, columns, vocabulary)
    for side in ("base", "edited"):
        names = [getattr(row, side) for row in rows]
        gone = absent(folder, names)
        if gone:
            more = f" (and {len(gone) - 1:,} more)" if len(gone) > 1 else ""
            raise UserError(f"{rows[gone[0]].where}: no picture {folder / names[gone[0]]}{more}")
    present = np.zeros((len(rows), len(vocabulary)), bool)
    for number, row in enumerate(rows):
        present[number, list(row.concepts)] = True
    return FolderDataset(
        name=name,
        revision=revision or _downloaded_revision(folder) or UNVERSIONED,
        concepts=tuple(map(shown_name, vocabulary)),
        groups=tuple((groups or {}).get(raw, group_of(raw)) for raw in vocabulary),
        ids=(),
        annotations=np.zeros((0, len(vocabulary)), bool),
        images=NoImages(),
        splits={},
        pairs=PairSequence(
            ids=tuple(row.id for row in rows),
            base=FolderImages(folder, tuple(row.base for row in rows)),
            edited=FolderImages(folder, tuple(row.edited for row in rows)),
            added=tuple(row.added for row in rows),
            removed=tuple(row.removed for row in rows),
            present=present,
            sources=tuple(f"{source_prefix}{row.source}" for row in rows) if columns.source else (),
        ),
    )


def _downloaded_revision(folder: Path) -> str | None:
    note = folder / ".cache" / "huggingface" / "download" / f"{TABLE}.metadata"
    try:
        with note.open(encoding="utf-8") as stream:
            first = stream.readline(100).strip()
    except (OSError, UnicodeDecodeError):
        return None
    return first if _HASH.fullmatch(first) else None


def _rows(path: Path, columns: Columns, vocabulary: Sequence[str]) -> list[_Row]:
    rows: list[_Row] = []
    lines: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = [name.strip() for name in next(reader, [])]
            used = _used(header, columns, path)
            for fields in reader:
                where = f"{path} line {reader.line_num}"
                if not fields:
                    continue
                if len(fields) != len(header):
                    raise UserError(f"{where}: {len(fields)} fields, expected {len(header)}")
                cells = dict(zip(header, (field.strip() for field in fields), strict=True))
                row = _row(where, cells, used, columns, vocabulary)
                if row.id in lines:
                    raise UserError(f"{where}: pair {row.id!r} is also in {lines[row.id]}")
                lines[row.id] = f"line {reader.line_num}"
                rows.append(row)
                if len(rows) > _MAX_PAIRS:
                    raise UserError(f"{path}: more than {_MAX_PAIRS:,} pairs")
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is no readable table: {error}") from None
    if not rows:
        raise UserError(f"{path}: no pairs")
    return rows


def _used(header: Sequence[str], columns: Columns, path: Path) -> dict[str, str]:
    """Which column holds what; each must be there under exactly one of its names."""
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{path}: column {twice!r} is there twice")
    wanted: dict[str, tuple[str, ...]] = {
        "pair": (columns.pair,),
        "base": columns.base,
        "edited": columns.edited,
        "removed": (columns.removed[0],),
        "removed name": (columns.removed[1],),
        "base concepts": (columns.base_concepts,),
        "edited concepts": (columns.edited_concepts,),
    }
    if columns.added is not None:
        wanted |= {"added": (columns.added[0],), "added name": (columns.added[1],)}
    if columns.source is not None:
        wanted["source"] = (columns.source,)
    used = {}
    for what, names in wanted.items():
        found = [name for name in names if name in header]
        if len(found) > 1:
            raise UserError(f"{path}: columns {' and '.join(found)} mean the same; keep one")
        if not found:
            raise UserError(
                f"{path}: no column {' or '.join(names)}; found {', '.join(header)[:300] or 'none'}"
            )
        used[what] = found[0]
    return used


def _row(
    where: str,
    cells: Mapping[str, str],
    used: Mapping[str, str],
    columns: Columns,
    vocabulary: Sequence[str],
) -> _Row:
    removed = _concept(where, cells, columns.removed, vocabulary)
    added = None if columns.added is None else _concept(where, cells, columns.added, vocabulary)
    base, edited = (
        _indices(where, used[what], cells[used[what]], len(vocabulary))
        for what in ("base concepts", "edited concepts")
    )
    if added is None and removed is None:
        raise UserError(f"{where}: neither adds nor removes a concept")
    if edited != (base - {removed}) | ({added} - {None}) or added in base:
        raise UserError(
            f"{where}: {used['edited concepts']} is not {used['base concepts']} without the "
            "removed and with the added concept"
        )
    if removed is not None and removed not in base:
        raise UserError(f"{where}: removes {vocabulary[removed]!r}, which the base picture lacks")
    if not cells[used["pair"]]:
        raise UserError(f"{where}: no {used['pair']}")
    return _Row(
        where,
        cells[used["pair"]],
        inner_name(cells[used["base"]], f"{where} {used['base']}"),
        inner_name(cells[used["edited"]], f"{where} {used['edited']}"),
        added,
        removed,
        sorted(base),
        _number(where, used["source"], cells[used["source"]]) if "source" in used else None,
    )


def _concept(
    where: str, cells: Mapping[str, str], column: tuple[str, str], vocabulary: Sequence[str]
) -> int | None:
    index, name = cells[column[0]], cells[column[1]]
    if not index and not name:
        return None
    number = _number(where, column[0], index)
    if number >= len(vocabulary):
        raise UserError(f"{where}: {column[0]} is {number}, expected 0 to {len(vocabulary) - 1}")
    if join_key(vocabulary[number]) != join_key(name):
        hint = ""
        if number and join_key(vocabulary[number - 1]) == join_key(name):
            hint = "; the column seems to count from 1"
        raise UserError(
            f"{where}: {column[0]} {number} is {vocabulary[number]!r}, but {column[1]} says "
            f"{name!r}{hint}"
        )
    return number


def _number(where: str, column: str, text: str) -> int:
    found = _WHOLE.fullmatch(text)
    if found is None:
        raise UserError(f"{where}: {column} is {text[:40]!r}, expected a whole number from 0")
    return int(found[1])


def _indices(where: str, column: str, text: str, size: int) -> set[int]:
    """A set from text such as ``[7, 17]``, read as JSON and as nothing else."""
    try:
        found = json.loads(text) if len(text) <= _MAX_CELL else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(type(each) is int for each in found):
        raise UserError(f"{where}: {column} is {text[:60]!r}, expected a list such as [7, 17]")
    outside = [each for each in found if not 0 <= each < size]
    if outside:
        raise UserError(f"{where}: {column} holds {outside[0]}, expected 0 to {size - 1}")
    if len(set(found)) < len(found):
        raise UserError(f"{where}: {column} holds an index twice")
    return set(found)
