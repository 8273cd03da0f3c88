"""``image_attribute_labels.txt`` of CUB-200-2011: millions of lines, read in blocks.

A line is ``IMAGE ATTRIBUTE PRESENT CERTAINTY SECONDS``. The original has some lines with extra
fields: their first three values are kept, and the fourth as the certainty where it is one.

A file with anything else (tabs, lines of spaces, a fault) is read once more, slowly, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from benchmark.datasets.layout import MAX_CELLS
from benchmark.errors import UserError

FIELDS = ("image", "attribute", "present", "certainty", "seconds")
MAX_CERTAINTY = 4
_BLOCK_BYTES = 8 * 2**20


@dataclass(frozen=True)
class AttributeLabels:
    """What annotators said of N images and A attributes.

    Attributes:
        present: bool (N, A).
        certainty: uint8 (N, A): 1 not visible, 2 guessing, 3 probably, 4 definitely; 0 where a line
            with extra fields has none that can be read.
        extended: number of lines with extra fields.
    """

    present: np.ndarray
    certainty: np.ndarray
    extended: int


class _Odd(Exception):
    """Something that only reading line by line can make sense of, or explain."""


def read_labels(path: Path, ids: np.ndarray, attributes: int) -> AttributeLabels:
    """Read the labels of images ``ids`` (int64 (N,)), attributes numbered from 1.

    Raises:
        UserError: a broken line, an image or attribute that is not known, one of them labelled
            twice or not at all; file and line are named.
    """
    if len(ids) * attributes > MAX_CELLS:
        raise UserError(f"{path}: {len(ids):,} x {attributes} labels are more than can be held")
    try:
        try:
            return _quickly(path, ids, attributes)
        except _Odd:
            return _slowly(path, ids, attributes)
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error}") from None


def _quickly(path: Path, ids: np.ndarray, attributes: int) -> AttributeLabels:
    """Labels of a file as the original is; ``_Odd`` where it is not."""
    size = len(ids) * attributes
    order = np.argsort(ids)
    ordered = np.asarray(ids)[order]
    present, seen = np.zeros(size, bool), np.zeros(size, bool)
    certainty = np.zeros(size, np.uint8)
    total = extended = 0
    for lines, long in _blocks(path):
        image, attribute, is_present, sure = lines
        rank = np.minimum(np.searchsorted(ordered, image), len(ids) - 1)
        valid = (ordered[rank] == image) & (attribute >= 1) & (attribute <= attributes)
        valid &= (is_present >= 0) & (is_present <= 1)
        valid &= (sure >= (0 if long else 1)) & (sure <= MAX_CERTAINTY)
        if not valid.all():
            raise _Odd
        place = order[rank] * attributes + attribute - 1
        present[place], certainty[place], seen[place] = is_present == 1, sure, True
        total += len(image)
        extended += long
    # as many lines as cells and every cell met: none is there twice
    if total != size or not seen.all():
        raise _Odd
    shape = (len(ids), attributes)
    return AttributeLabels(present.reshape(shape), certainty.reshape(shape), extended)


def _blocks(path: Path) -> Iterator[tuple[tuple[np.ndarray, ...], int]]:
    """Columns of the well-formed lines block by block, then those of the lines with extra fields.

    With each block, how many of its lines have extra fields.
    """
    long: list[str] = []
    short = False

    def keep(row: Any) -> str:
        nonlocal short
        if row.actual_columns > len(FIELDS):
            long.append(row.text)
        else:
            short = True
        return "skip"

    wanted = {name: pa.int64() for name in FIELDS[:4]}
    try:
        with pc.open_csv(
            path,
            # any byte is a character in this encoding, so that ``keep`` is called for every line
            read_options=pc.ReadOptions(
                column_names=list(FIELDS),
                block_size=_BLOCK_BYTES,
                use_threads=False,
                encoding="latin-1",
            ),
            parse_options=pc.ParseOptions(
                delimiter=" ", quote_char=False, invalid_row_handler=keep
            ),
            convert_options=pc.ConvertOptions(
                column_types=wanted, include_columns=list(wanted), null_values=[]
            ),
        ) as reader:
            for batch in reader:
                yield (
                    tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns),
                    False,
                )
    except pa.ArrowException:
        raise _Odd from None
    # more than one space in a row makes a line look longer than it is
    split = [text.split() for text in long]
    if short or any(len(fields) <= len(FIELDS) for fields in split):
        raise _Odd
    if split:
        try:
            values = np.array([_first_four(fields) for fields in split], dtype=np.int64)
        except ValueError:
            raise _Odd from None
        yield tuple(values.T), len(split)


def _first_four(fields: list[str]) -> tuple[int, int, int, int]:
    image, attribute, present = (_whole(field) for field in fields[:3])
    sure = fields[3]
    known = len(sure) == 1 and sure in "1234"
    return image, attribute, present, int(sure) if known else 0


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ValueError(text)
    return int(text)


def _slowly(path: Path, ids: np.ndarray, attributes: int) -> AttributeLabels:
    """Labels of any file; ``UserError`` names the line of the first fault."""
    row_of = {number: row for row, number in enumerate(ids.tolist())}
    present = np.zeros((len(ids), attributes), bool)
    certainty = np.zeros((len(ids), attributes), np.uint8)
    first = np.zeros((len(ids), attributes), np.int32)
    extended = 0
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.split()
            if not fields:
                continue
            where = f"{path} line {number}"
            fault = _fault(fields, row_of, attributes)
            if fault:
                raise UserError(f"{where}: {fault}")
            image, attribute, is_present, sure = _first_four(fields)
            place = row_of[image], attribute - 1
            if before := int(first[place]):
                raise UserError(
                    f"{where}: image {image} attribute {attribute} is also in line {before}"
                )
            present[place], certainty[place], first[place] = is_present == 1, sure, number
            extended += len(fields) > len(FIELDS)
    missing = np.argwhere(first == 0)
    if len(missing):
        row, column = missing[0].tolist()
        raise UserError(
            f"{path}: {int((first > 0).sum()):,} labels, expected one for each image and "
            f"attribute; none for image {ids[row]} attribute {column + 1}"
        )
    return AttributeLabels(present, certainty, extended)


def _fault(fields: list[str], known: Mapping[int, int], attributes: int) -> str | None:
    if len(fields) < len(FIELDS):
        return f"{len(fields)} fields, expected {len(FIELDS)}: {', '.join(FIELDS)}"
    try:
        image, attribute, present, sure = _first_four(fields)
    except ValueError as error:
        return f"{str(error)!r} is no whole number"
    if image not in known:
        return f"image {image} is not in images.txt"
    if not 1 <= attribute <= attributes:
        return f"attribute {attribute}, expected 1 to {attributes}"
    if present not in (0, 1):
        return f"present is {present}, expected 0 or 1"
    if not sure and len(fields) == len(FIELDS):
        return f"certainty is {fields[3]!r}, expected 1 to {MAX_CERTAINTY}"
    return None
