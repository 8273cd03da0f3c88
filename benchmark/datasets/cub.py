"""CUB-200-2011 in its original folder layout: 312 attributes of birds, official split."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark import files
from benchmark.datasets.base import Dataset
from benchmark.datasets.characters import has_control
from benchmark.datasets.folder import FolderDataset, FolderImages, absent, inner_name
from benchmark.datasets.names import group_of, numbered_lines, read_vocabulary, shown_name
from benchmark.datasets.options import parse_options
from benchmark.datasets.source import Source
from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.datasets.cub_labels import AttributeLabels

NAME = "cub"
REVISION = "2011"
LIST = "images.txt"
_DATA = "CUB_200_2011"
_CERTAINTY = ("not visible", "guessing", "probably", "definitely")


@dataclass(frozen=True, eq=False)
class CubDataset(FolderDataset):
    """CUB with what its annotators added.

    Attributes:
        certainty: uint8 (N, A): 1 not visible, 2 guessing, 3 probably, 4 definitely, 0 unknown.
        species: names of the classes.
        species_of: int64 (N,), class of each picture.
    """

    certainty: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.uint8), repr=False)
    species: tuple[str, ...] = field(default=(), repr=False)
    species_of: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)


def default_folder() -> Path:
    """Where CUB is looked for when nobody says where it is."""
    return files.home() / "datasets" / NAME


def find(root: Path) -> Path | None:
    """The folder with ``images.txt``: ``root`` or one of its usual places below."""
    for place in (root, root / _DATA, root / NAME, root / NAME / _DATA):
        if (place / LIST).is_file() and (place / "images").is_dir():
            return place
    return None


def load(root: Path | None = None) -> Dataset:
    """Open CUB with every label, whatever its certainty."""
    return open_cub(_located(root))


def load_options(text: str, root: Path | None = None) -> Dataset:
    """Open CUB with options: ``certainty=3`` counts a presence only from that certainty on."""
    given = parse_options(NAME, text, ("certainty",))
    least = given.get("certainty", "1")
    if least not in ("1", "2", "3", "4"):
        meaning = ", ".join(f"{i} {word}" for i, word in enumerate(_CERTAINTY, start=1))
        raise UserError(f"{NAME}: certainty is {least!r}; expected 1 to 4 ({meaning})")
    return open_cub(_located(root), certainty=int(least))


def _located(root: Path | None) -> Path:
    place = root if root is not None else default_folder()
    found = find(place)
    if found is None:
        raise UserError(f"dataset {NAME} is not at {place}; {fetch()}")
    return found


def fetch() -> str:
    """One line: where it is, or how to get it."""
    place = default_folder()
    if find(place):
        return f"{NAME} is at {place}"
    return (
        f"{NAME} comes from its makers: unpack CUB_200_2011.tgz of "
        f"https://www.vision.caltech.edu/datasets/cub_200_2011/ into {place} (with attributes.txt "
        "beside the data folder, as in the archive)"
    )


def open_cub(folder: Path, *, certainty: int = 1) -> CubDataset:
    """Read a CUB folder: the one with ``images.txt``.

    Args:
        folder: holds ``images.txt``, ``images/`` and the other lists; ``attributes.txt`` is looked
            for in ``attributes/``, here, and beside this folder.
        certainty: least certainty (1 to 4) of a presence that counts; less sure ones count as
            absent. A label whose certainty is unknown counts from 1 on only.

    Raises:
        UserError: lists that are missing, broken or disagree, or pictures that are not there; file
            and line are named.
    """
    from benchmark.datasets.cub_labels import read_labels

    ids, names, line_of = _images(folder)
    train = _column(folder / "train_test_split.txt", ids, {0, 1})
    species, species_of = _species(folder, ids)
    vocabulary = _vocabulary(_attributes(folder))
    labels = read_labels(
        folder / "attributes" / "image_attribute_labels.txt", np.array(ids), len(vocabulary)
    )
    gone = absent(folder / "images", names)
    if gone:
        first = names[gone[0]]
        more = f" (and {len(gone) - 1:,} more)" if len(gone) > 1 else ""
        raise UserError(
            f"{folder / LIST} line {line_of[gone[0]]}: no picture {folder / 'images' / first}{more}"
        )
    splits = {"match": np.flatnonzero(train == 1), "score": np.flatnonzero(train == 0)}
    return CubDataset(
        name=NAME if certainty == 1 else f"{NAME}:certainty={certainty}",
        revision=REVISION,
        concepts=tuple(map(shown_name, vocabulary)),
        groups=tuple(map(group_of, vocabulary)),
        ids=names,
        annotations=labels.present & (labels.certainty >= certainty)
        if certainty > 1
        else labels.present,
        images=FolderImages(folder / "images", names),
        splits=splits,
        notes=_notes(labels, certainty),
        certainty=labels.certainty,
        species=species,
        species_of=species_of,
    )


def _images(folder: Path) -> tuple[list[int], tuple[str, ...], list[int]]:
    """Ids, file names and lines of ``images.txt``."""
    path = folder / LIST
    ids: dict[int, int] = {}
    names: dict[str, int] = {}
    for line, number, text in numbered_lines(path):
        name = inner_name(text, f"{path} line {line}")
        if ids.setdefault(number, line) != line:
            raise UserError(f"{path} line {line}: image {number} is also in line {ids[number]}")
        if names.setdefault(name, line) != line:
            raise UserError(f"{path} line {line}: {name} is also in line {names[name]}")
    if not ids:
        raise UserError(f"{path}: no images; expected lines NUMBER FILE")
    return list(ids), tuple(names), list(ids.values())


def _column(path: Path, ids: list[int], values: set[int]) -> np.ndarray:
    """int64 (N,): the value that a list gives to each image, exactly one."""
    found: dict[int, tuple[int, int]] = {}
    known = set(ids)
    for line, number, text in numbered_lines(path):
        if number not in known:
            raise UserError(f"{path} line {line}: image {number} is not in {LIST}")
        if number in found:
            first = found[number][1]
            raise UserError(f"{path} line {line}: image {number} is also in line {first}")
        if not text.isascii() or not text.isdigit() or int(text[:9]) not in values:
            few = f"one of {sorted(values)}" if len(values) < 9 else "a number of classes.txt"
            raise UserError(f"{path} line {line}: value {text[:40]!r}, expected {few}")
        found[number] = (int(text[:9]), line)
    missing = [number for number in ids if number not in found]
    if missing:
        raise UserError(
            f"{path}: {len(found):,} images, {LIST} has {len(ids):,}; none for {missing[0]}"
        )
    return np.array([found[number][0] for number in ids], dtype=np.int64)


def _species(folder: Path, ids: list[int]) -> tuple[tuple[str, ...], np.ndarray]:
    species = _vocabulary(folder / "classes.txt")
    numbers = set(range(1, len(species) + 1))
    return species, _column(folder / "image_class_labels.txt", ids, numbers) - 1


def _vocabulary(path: Path) -> tuple[str, ...]:
    names = read_vocabulary(path)
    for number, name in enumerate(names, start=1):
        if has_control(name):
            raise UserError(f"{path}: name {number}, {name[:80]!r}, holds a control character")
    return names


def _attributes(folder: Path) -> Path:
    inside = folder / "attributes" / "attributes.txt"
    places = (inside, folder / "attributes.txt", folder.resolve().parent / "attributes.txt")
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"no attributes.txt beside {folder} or in {inside.parent}; the archive has it")


def _notes(labels: AttributeLabels, certainty: int) -> tuple[str, ...]:
    notes = []
    if labels.extended:
        unread = int((labels.certainty == 0).sum())
        notes.append(
            f"{labels.extended:,} labels have extra fields; their first three values are kept"
            + (f", and no certainty in {unread:,} of them" if unread else "")
        )
    if certainty > 1:
        dropped = int((labels.present & (labels.certainty < certainty)).sum())
        notes.append(f"{dropped:,} presences of certainty below {certainty} count as absent")
    return tuple(notes)


SOURCE = Source(
    name=NAME,
    summary="CUB-200-2011: 11,788 photographs of birds with 312 attributes; "
    f"options in its name: {NAME}:certainty=3",
    licence="non-commercial research; see the source's terms",
    citation="C. Wah, S. Branson, P. Welinder, P. Perona, S. Belongie: The Caltech-UCSD "
    "Birds-200-2011 Dataset. California Institute of Technology, CNS-TR-2011-001, 2011.",
    load=load,
    fetch=fetch,
    options=load_options,
)
