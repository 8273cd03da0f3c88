"""Voxel-art avatars with labels and the regions of what they show."""

from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from multiprocessing import get_context

import numpy as np

from benchmark.processes import end_with_parent
from generation.avatars.render import changed_pixels, draw
from generation.avatars.sample import Base, draw_base
from generation.avatars.space import CONCEPT_ID, CONCEPTS
from generation.avatars.styles import STYLES
from generation.tiny_clip.phrases import PHRASES, STYLE

SIDE = 96
CELL = 4
"""Pixels along the side of a cell of a region mask."""
CELLS = SIDE // CELL

COVERS: dict[str, tuple[str, ...]] = {
    "glasses": ("top",),
    "facial hair": ("top",),
    "expression": ("facial hair",),
    "eyes": ("glasses", "top"),
    "top": ("outfit",),
    "hair colour": ("top",),
    "skin": ("top", "outfit"),
    "clothing": ("top", "outfit"),
    "outfit": ("top",),
    "background": ("top", "outfit"),
}
"""For each group, what else decides where it shows; what covers a little of it is left out."""

_CONCEPTS = tuple(PHRASES)
_IDS = [CONCEPT_ID[concept] for concept in _CONCEPTS]


@dataclass(frozen=True)
class Avatars:
    """A set of avatars.

    Attributes:
        images: uint8 (N, SIDE, SIDE, 3).
        labels: bool (N, A), A phrases in the order of ``PHRASES``.
        masks: uint8 (N, A, CELLS, CELLS), share of a cell's pixels that shows the attribute, of
            255; 0 where it is absent.
        backgrounds: uint8 (N, 3), the colour behind the figure.
    """

    images: np.ndarray
    labels: np.ndarray
    masks: np.ndarray
    backgrounds: np.ndarray


def avatars(number: int, seed: int, *, workers: int = 2, part: int = 250) -> Avatars:
    """Draw ``number`` avatars; the same for any number of workers."""
    jobs = [(seed, start, min(part, number - start)) for start in range(0, number, part)]
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=end_with_parent) as pool:
        parts = list(pool.map(_drawn, jobs))
    columns = zip(*parts, strict=True)
    return Avatars(*(np.concatenate(column) for column in columns))


def base_of(seed: int, index: int) -> Base:
    """Avatar ``index``: drawn around one concept, taken in turn, so that none is rare."""
    rounds, turn = divmod(index, len(_CONCEPTS))
    place = rounds * len(CONCEPTS) + _IDS[turn]
    tries = (draw_base(seed, "tiny-clip", place, attempt) for attempt in count())
    return next(base for base in tries if base.identity.label == STYLE)


def labels_of(base: Base) -> np.ndarray:
    """Which phrases are true: bool (A,)."""
    return np.array([index in base.labels for index in _IDS])


def picture(base: Base) -> np.ndarray:
    """The avatar as uint8 (SIDE, SIDE, 3)."""
    spec = base.identity.spec
    return np.asarray(draw(spec.style, spec.recolour, base.options, SIDE))


def _drawn(job: tuple[int, int, int]) -> tuple[np.ndarray, ...]:
    seed, start, number = job
    bases = [base_of(seed, index) for index in range(start, start + number)]
    images = np.stack([picture(base) for base in bases])
    labels = np.stack([labels_of(base) for base in bases])
    masks = np.zeros((number, len(_CONCEPTS), CELLS, CELLS), np.uint8)
    for row, base in enumerate(bases):
        for place, mask in regions(base):
            masks[row, place] = mask
    return images, labels, masks, images[:, 0, 0]


def regions(base: Base, groups: Container[str] = COVERS) -> Iterator[tuple[int, np.ndarray]]:
    """(place of the phrase, its region) of all of these groups that an avatar shows."""
    for place in np.flatnonzero(labels_of(base)):
        group = _CONCEPTS[place].split(": ")[0]
        if group in groups:
            yield int(place), _region(_Key.of(base, group))


@dataclass(frozen=True)
class _Key:
    """What decides where a group shows: how it is drawn, and what may cover it."""

    group: str
    value: str | None
    drawn: tuple[tuple[tuple[str, str | int | float], ...], ...]

    @classmethod
    def of(cls, base: Base, group: str) -> "_Key":
        groups = (group, *COVERS[group])
        drawn = [tuple(sorted(base.identity.drawings[g, base.values[g]].items())) for g in groups]
        return cls(group, base.values[group], tuple(drawn))


@cache
def _region(key: _Key) -> np.ndarray:
    """Where the picture changes when the group's value does, on an avatar plain otherwise."""
    spec = STYLES[STYLE]
    plain = _plain()
    groups = (key.group, *COVERS[key.group])
    drawings: dict[str, Mapping[str, str | int | float]] = {
        group: dict(options) for group, options in zip(groups, key.drawn, strict=True)
    }
    drawings = {**plain, **drawings}
    other = {**drawings, key.group: _other(key, drawings[key.group])}
    pictures = []
    for chosen in (drawings, other):
        options = dict(spec.fixed)
        for nuisance in spec.nuisances:
            options.update(nuisance[0])
        for drawing in chosen.values():
            options.update(drawing)
        pictures.append(draw(spec.style, spec.recolour, options, SIDE))
    changed = changed_pixels(pictures[0], pictures[1])
    share = changed.reshape(CELLS, CELL, CELLS, CELL).mean(axis=(1, 3))
    return np.asarray(np.rint(share * 255), np.uint8)


def _plain() -> dict[str, Mapping[str, str | int | float]]:
    return {a.group: a.values[0].drawings[0] for a in STYLES[STYLE].attributes}


def _other(key: _Key, own: Mapping[str, str | int | float]) -> Mapping[str, str | int | float]:
    """A drawing of the group to tell its region by: absence, or another value."""
    attribute = STYLES[STYLE].by_group[key.group]
    if key.group == "top":
        wanted: str | None = "short" if key.value == "bald" else "bald"
    elif None in attribute.names:
        wanted = None
    else:
        wanted = next(name for name in attribute.names if name != key.value)
    return attribute.value(wanted).drawings[0]


def with_values(base: Base, **values: str | None) -> Base:
    """The same avatar with other values of some groups (``facial_hair`` for ``facial hair``)."""
    changed = {group.replace("_", " "): value for group, value in values.items()}
    return replace(base, values={**base.values, **changed})
