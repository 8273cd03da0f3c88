"""``instances_*.json`` of COCO: hundreds of megabytes, streamed, and the result kept."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import files
from benchmark.datasets.characters import has_control
from benchmark.datasets.coco_stream import MOST, has_area, is_crowd, read_items
from benchmark.datasets.folder import inner_name
from benchmark.datasets.layout import MAX_CELLS
from benchmark.errors import UserError

_VERSION = 2


@dataclass(frozen=True)
class Instances:
    """What one annotation file says.

    Attributes:
        ids: int64 (N,), image ids in the file's order.
        names: N file names.
        annotated: bool (N,), whether any region names the image, of any kind.
        present: bool (N, A): a region of that class with an area is in the image, crowds included.
        categories: A (id, name, supercategory), by id.
        regions, crowds, flat: how many regions there are, are crowds, have a box without area.
    """

    ids: np.ndarray
    names: tuple[str, ...]
    annotated: np.ndarray
    present: np.ndarray
    categories: tuple[tuple[int, str, str], ...]
    regions: int
    crowds: int
    flat: int


def read_instances(path: Path) -> Instances:
    """Read an annotation file, or what an earlier run kept of the same file.

    Kept under ``home()/annotations`` by path, size and time of last change.

    Raises:
        UserError: not JSON of this kind, an id or a key that is there twice, a region of an
            unknown class or image, or one without a box; file and id are named.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    key = json.dumps([_VERSION, str(path.resolve()), found.st_size, found.st_mtime_ns])
    kept = files.home() / "annotations" / f"{hashlib.sha256(key.encode()).hexdigest()}.npz"
    instances = _load(kept)
    if instances is None:
        instances = _parse(path)
        _save(kept, instances)
    return instances


def _parse(path: Path) -> Instances:
    categories = _categories(path)
    column = {number: place for place, (number, _, _) in enumerate(categories)}
    row, names = _images(path, len(categories))
    present = np.zeros((len(row), len(categories)), bool)
    annotated = np.zeros(len(row), bool)
    seen: set[int] = set()
    crowds = flat = 0
    for region in read_items(path, "annotations"):
        number = _id(path, "annotation", region, seen)
        where = f"{path}: annotation {number}"
        image, category = region.get("image_id"), region.get("category_id")
        if type(image) is not int or image not in row:
            raise UserError(f"{where} is of image {image!r}, which the file does not list")
        if type(category) is not int or category not in column:
            raise UserError(f"{where} is of category {category!r}, which the file does not list")
        annotated[row[image]] = True
        crowds += is_crowd(region, where)
        if has_area(region.get("bbox"), where):
            present[row[image], column[category]] = True
        else:
            flat += 1
    return Instances(
        np.array(list(row), dtype=np.int64),
        names,
        annotated,
        present,
        categories,
        len(seen),
        crowds,
        flat,
    )


def _categories(path: Path) -> tuple[tuple[int, str, str], ...]:
    seen: set[int] = set()
    names: set[str] = set()
    found = []
    for category in read_items(path, "categories"):
        number = _id(path, "category", category, seen)
        name = category.get("name")
        if not isinstance(name, str) or not name.strip() or name in names:
            raise UserError(f"{path}: category {number} has name {name!r}; expected one of its own")
        names.add(name)
        above = category.get("supercategory") or name
        for text in (name, above):
            if not isinstance(text, str) or has_control(text):
                raise UserError(
                    f"{path}: category {number} has name or supercategory {str(text)[:80]!r}; "
                    "expected text without control characters"
                )
        found.append((number, name, above))
    if not found:
        raise UserError(f"{path}: no categories; expected an annotation file of COCO's layout")
    return tuple(sorted(found))


def _images(path: Path, classes: int) -> tuple[dict[int, int], tuple[str, ...]]:
    seen: set[int] = set()
    names: dict[str, int] = {}
    row: dict[int, int] = {}
    for image in read_items(path, "images"):
        number = _id(path, "image", image, seen)
        name = image.get("file_name")
        if not isinstance(name, str):
            raise UserError(f"{path}: image {number} has file_name {name!r}; expected a name")
        name = inner_name(name, f"{path}: image {number}")
        if names.setdefault(name, number) != number:
            raise UserError(f"{path}: images {names[name]} and {number} are both {name}")
        row[number] = len(row)
        if len(row) * classes > MAX_CELLS:
            raise UserError(f"{path}: more images than can be held")
    if not row:
        raise UserError(f"{path}: no images; expected an annotation file of COCO's layout")
    return row, tuple(names)


def _id(path: Path, kind: str, entry: dict[str, Any], seen: set[int]) -> int:
    number = entry.get("id")
    if type(number) is not int or not 0 <= number < MOST:
        raise UserError(f"{path}: {kind} number {len(seen) + 1} has id {number!r}")
    if number in seen:
        raise UserError(f"{path}: {kind} id {number} is there twice")
    seen.add(number)
    return number


def _save(path: Path, instances: Instances) -> None:
    with files.replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez(
            stream,
            ids=instances.ids,
            names=np.array(instances.names),
            annotated=instances.annotated,
            present=np.packbits(instances.present, axis=1),
            category_ids=np.array([number for number, _, _ in instances.categories]),
            category_names=np.array([[name, above] for _, name, above in instances.categories]),
            counts=np.array([instances.regions, instances.crowds, instances.flat]),
        )


def _load(path: Path) -> Instances | None:
    try:
        with np.load(path, allow_pickle=False) as kept:
            numbers = kept["category_ids"].tolist()
            regions, crowds, flat = kept["counts"].tolist()
            return Instances(
                kept["ids"],
                tuple(kept["names"].tolist()),
                kept["annotated"],
                np.unpackbits(kept["present"], axis=1, count=len(numbers)).astype(bool),
                tuple(
                    (number, name, above)
                    for number, (name, above) in zip(
                        numbers, kept["category_names"].tolist(), strict=True
                    )
                ),
                regions,
                crowds,
                flat,
            )
    except Exception:  # absent, or damaged in whatever way: it is made again
        return None
