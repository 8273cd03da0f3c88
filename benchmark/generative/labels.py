"""Which images show which attributes: from a file, or from a dataset's annotations."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.files import RepeatedKey, file_sha256, unique_keys
from benchmark.generative.attributes import folded
from benchmark.generative.image_sets import DatasetSet, ImageSet

OF_DATASET = "dataset"
"""In place of a file: the annotations of the dataset that the images are from."""

UNKNOWN = -1

_MOST_BYTES = 128 * 2**20
_VALUES = {"1": 1, "0": 0, "": UNKNOWN}
_EXPECTED = (
    "expected a CSV file with the head id,ATTRIBUTE,… and 1, 0 or nothing below it, or a JSON "
    "file of {id: {attribute: 1, 0 or null}}"
)


@dataclass(frozen=True)
class Labels:
    """Labels of images by id.

    Attributes:
        source: where they are from, JSON values.
        names: what is labelled, all different in whatever case.
        ids: of the labelled images, all different.
        values: int8 (len(ids), len(names)): 1 there, 0 not there, ``UNKNOWN``.
    """

    source: Mapping[str, Any]
    names: tuple[str, ...]
    ids: tuple[str, ...]
    values: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Aligned:
    """Labels of the images of a set, for the attributes asked for.

    Attributes:
        source: where they are from, JSON values.
        values: int8 (N, A), ``UNKNOWN`` where nothing is said.
        unlabelled: images of the set of which nothing is said.
        unmatched: labelled ids that no image of the set has.
        missing: attributes asked for that are not labelled.
        unused: labelled names that were not asked for.
    """

    source: Mapping[str, Any]
    values: np.ndarray = field(repr=False)
    unlabelled: int
    unmatched: tuple[str, ...]
    missing: tuple[str, ...]
    unused: tuple[str, ...]


def labels_for(choice: str, images: ImageSet, option: str) -> Labels:
    """The labels that an option asks for: a file, or the word ``dataset``."""
    if choice != OF_DATASET:
        return read_labels(Path(choice))
    if not isinstance(images, DatasetSet):
        raise UserError(
            f"{option} {OF_DATASET}: {images.name} is no split of a dataset; {_EXPECTED}"
        )
    return dataset_labels(images)


def dataset_labels(images: DatasetSet) -> Labels:
    """The annotations of a dataset's images.

    An edited picture has the labels of its base picture, with what was added and without what was
    removed **[choice]**.
    """
    dataset, rows = images.dataset, list(images.rows)
    if dataset.pairs is not None and images.split in ("base", "edited"):
        values = np.array(dataset.pairs.present[rows], np.int8)
        for place, row in enumerate(rows if images.split == "edited" else ()):
            if (gone := dataset.pairs.removed[row]) is not None:
                values[place, gone] = 0
            if (come := dataset.pairs.added[row]) is not None:
                values[place, come] = 1
    else:
        values = np.array(dataset.annotations[rows], np.int8)
    source = {"kind": "dataset", "name": dataset.name, "sha256": None}
    return Labels(source, tuple(dataset.concepts), tuple(images.ids), values)


def read_labels(path: Path) -> Labels:
    """Labels from a CSV or JSON file, by its ending.

    Raises:
        UserError: no such file, too large, not of that format, an id or attribute twice, another
            value than 1, 0 or nothing; file and line or id are named.
    """
    text = _text(path)
    if path.suffix.lower() == ".json":
        names, rows = _from_json(path, text)
    else:
        names, rows = _from_csv(path, text)
    keys = [folded(name) for name in names]
    counts = Counter(keys)
    twice = [name for name, key in zip(names, keys, strict=True) if counts[key] > 1]
    if twice or not all(keys):
        what = f"attribute {twice[0]!r} is there twice" if twice else "an attribute has no name"
        raise UserError(f"{path}: {what}; give each a name of its own")
    if not names or not rows:
        raise UserError(f"{path}: no labels; {_EXPECTED}")
    source = {"kind": "file", "name": path.name, "sha256": file_sha256(path)}
    values = np.array(list(rows.values()), np.int8)
    return Labels(source, tuple(names), tuple(rows), values)


def read_names(path: Path) -> dict[str, str]:
    """A JSON file of {attribute: name in the labels}.

    Raises:
        UserError: no such file, not JSON, not texts, or two attributes that go by one name.
    """
    found = _json(path, _text(path))
    if not isinstance(found, dict) or not all(isinstance(v, str) and v for v in found.values()):
        raise UserError(f"{path}: expected JSON of {{attribute: name in the labels}}")
    _check_text(path, [*found, *found.values()])
    names = {folded(key): str(value) for key, value in found.items()}
    if len(names) < len(found) or len(set(map(folded, names.values()))) < len(names):
        raise UserError(f"{path}: two attributes share a name; give each one of its own")
    return names


def names_notes(names: Mapping[str, str] | None, attributes: Sequence[str]) -> list[str]:
    """A note where ``read_names`` gave names for more than the attributes asked for.

    Raises:
        UserError: none of the names is of an attribute asked for.
    """
    asked = {folded(one) for one in attributes}
    others = [name for name in names or {} if folded(name) not in asked]
    if others and len(others) == len(names or {}):
        raise UserError(
            f"--label-names: {others[0]!r} is no attribute asked for, nor is any other name; "
            f"expected names such as {attributes[0]!r}"
        )
    told = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
    return [f"--label-names: not asked for: {told}"] if others else []


def aligned(
    labels: Labels, images: ImageSet, attributes: Sequence[str], names: Mapping[str, str] | None
) -> Aligned:
    """Bring labels to the images of a set and the attributes asked for.

    Args:
        labels: of images.
        images: the set; its ids and those of the labels must agree to the letter.
        attributes: asked for; compared with the labels' names whatever the case.
        names: attribute → what the labels call it, where that differs.

    Raises:
        UserError: no id or no attribute matches, or two attributes would have one label's values.
    """
    what = f"labels of {images.name} ({labels.source['name']})"
    given = {folded(key): value for key, value in (names or {}).items()}
    columns = {folded(name): column for column, name in enumerate(labels.names)}
    wanted = [folded(given.get(folded(one), one)) for one in attributes]
    there = [(a, columns[name]) for a, name in enumerate(wanted) if name in columns]
    first: dict[int, int] = {}
    for a, column in there:
        if (other := first.setdefault(column, a)) != a:
            raise UserError(
                f"{what}: {attributes[other]!r} and {attributes[a]!r} would both be read from "
                f"{labels.names[column]!r}; give each a label of its own in --label-names"
            )
    if not there:
        raise UserError(
            f"{what}: none of the attributes is labelled; asked for {attributes[0]!r}, labelled "
            f"{labels.names[0]!r}: give the labels these names, or --label-names"
        )
    places = {name: place for place, name in enumerate(images.ids)}
    rows = [(row, places[name]) for row, name in enumerate(labels.ids) if name in places]
    if not rows:
        raise UserError(
            f"{what}: no id is that of an image; the first label is of {labels.ids[0]!r}, the "
            f"first image {images.ids[0]!r}"
        )
    values = np.full((len(images.ids), len(attributes)), UNKNOWN, np.int8)
    own, of_labels = [place for _, place in rows], [row for row, _ in rows]
    for a, column in there:
        values[own, a] = labels.values[of_labels, column]
    used = {column for _, column in there}
    return Aligned(
        labels.source,
        values,
        unlabelled=int((values == UNKNOWN).all(axis=1).sum()),
        unmatched=tuple(name for name in labels.ids if name not in places),
        missing=tuple(
            one for one, name in zip(attributes, wanted, strict=True) if name not in columns
        ),
        unused=tuple(name for column, name in enumerate(labels.names) if column not in used),
    )


def _text(path: Path) -> str:
    if not path.is_file():
        raise UserError(f"{path}: no such file; {_EXPECTED}")
    if path.stat().st_size > _MOST_BYTES:
        raise UserError(f"{path}: larger than {_MOST_BYTES >> 20} MiB; expected a file of labels")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not text in UTF-8; {_EXPECTED}") from None


def _from_csv(path: Path, text: str) -> tuple[list[str], dict[str, list[int]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: dict[str, list[int]] = {}
    try:
        head = [name.strip() for name in next(reader, [])]
        if head[:1] != ["id"]:
            raise UserError(f"{path} line 1: the first column is not called id; {_EXPECTED}")
        for row in reader:
            if not row:
                continue
            where = f"{path} line {reader.line_num}"
            if len(row) != len(head):
                raise UserError(f"{where}: {len(row)} columns; expected {len(head)}")
            values = [_VALUES.get(value.strip()) for value in row[1:]]
            if None in values:
                wrong = row[1 + values.index(None)]
                raise UserError(f"{where}: {wrong[:40]!r}; expected 1, 0 or nothing")
            if row[0] in rows:
                raise UserError(f"{where}: id {row[0]!r} is there twice; give each image one line")
            rows[row[0]] = [value for value in values if value is not None]
    except csv.Error as error:
        raise UserError(f"{path} line {reader.line_num}: no CSV ({error}); {_EXPECTED}") from None
    return head[1:], rows


def _from_json(path: Path, text: str) -> tuple[list[str], dict[str, list[int]]]:
    found = _json(path, text)
    if not isinstance(found, dict) or not all(isinstance(row, dict) for row in found.values()):
        raise UserError(f"{path}: no object of objects; {_EXPECTED}")
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    _check_text(path, [*found, *names])
    rows = {}
    for key, row in found.items():
        for name, value in row.items():
            if value is not None and (not isinstance(value, int) or value not in (0, 1)):
                raise UserError(f"{path}: {key!r}, {name!r}: {value!r}; expected 1, 0 or null")
        values = (row.get(name) for name in names)
        rows[key] = [UNKNOWN if value is None else int(value) for value in values]
    return names, rows


def _check_text(path: Path, texts: Sequence[str]) -> None:
    """Refuse what JSON can hold but UTF-8 cannot: half of a pair of code units."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UserError(f"{path}: {text!a} is no text; expected whole characters") from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except RepeatedKey as error:
        raise UserError(f"{path}: {error.key!r} is there twice; give it once") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON that can be read ({error}); {_EXPECTED}") from None
