"""synCUB: one attribute of a bird exchanged for another value of the same group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.errors import UserError
from generation.planning.balance import Candidate
from generation.planning.pictures import SURE, Pictures, draw, pick
from generation.planning.request import Request

IDENTITY = (
    "has size",
    "has shape",
    "has primary size",
    "has primary shape",
    "has primary color",
)
"""Groups that are what the bird is, or a summary of the others: changing one of them alone would
change the species or contradict the rest."""


@dataclass(frozen=True, eq=False)
class Exchange:
    """What an exchange of attributes is planned with.

    Attributes:
        classes: of the base pictures, sorted.
        concepts: places of the attributes that are removed and added, ascending.
        sole: int64 (N, G): the one value of a group that a picture shows, and surely, else -1; G
            groups in the order of ``groups``.
        references: by concept, rows of the pictures that surely show it; where there are any, of
            those that show no other value of the group.
    """

    pictures: Pictures
    classes: tuple[str, ...]
    concepts: tuple[int, ...]
    groups: tuple[str, ...]
    sole: np.ndarray
    references: Mapping[int, tuple[int, ...]]

    def candidates(self, rows: Sequence[int]) -> Iterator[Candidate]:
        """Every exchange that base pictures ``rows`` allow."""
        pictures, planned = self.pictures, set(self.concepts)
        for row in rows:
            for column, group in enumerate(self.groups):
                shown = int(self.sole[row, column])
                if shown not in planned:
                    continue
                for target in self.concepts:
                    if pictures.groups[target] != group or target == shown:
                        continue
                    if self.references[target]:  # never the picture itself, which shows another
                        yield Candidate(
                            pictures.ids[row],
                            pictures.classes[row],
                            pictures.concepts[shown],
                            pictures.concepts[target],
                            group,
                        )

    def reference(self, target: int, row: int, seed: int) -> int:
        """Row of a picture that shows ``target``, for base picture ``row``, drawn by seed."""
        pictures = self.pictures
        parts = (pictures.ids[row], pictures.concepts[target])
        return pick(self.references[target], 1, seed, *parts)[0]


def prepare(pictures: Pictures, rows: Sequence[int], request: Request) -> Exchange:
    """Choose classes and attributes where the request names none.

    Args:
        rows: of the pictures that may be base pictures.

    Raises:
        UserError: names that the source does not know, attributes without a reference picture or
            alone in their group, or nothing to choose from.
    """
    groups = tuple(dict.fromkeys(sorted(pictures.groups)))
    columns = [[i for i, name in enumerate(pictures.groups) if name == group] for group in groups]
    sole = np.full((len(pictures.ids), len(groups)), -1, np.int64)
    for number, places in enumerate(columns):
        places = sorted(places, key=lambda place: pictures.concepts[place])
        one = (pictures.present[:, places].sum(1) == 1) & pictures.sure[:, places].any(1)
        sole[one, number] = np.array(places)[pictures.present[one][:, places].argmax(1)]
    references = {
        place: _references(pictures, place, sole[:, groups.index(group)])
        for place, group in enumerate(pictures.groups)
    }
    classes = _classes(pictures, rows, request)
    if request.concepts:
        concepts = pictures.places(request.concepts, "concepts")
        _check_named(pictures, concepts, references)
    else:
        concepts = _concepts(pictures, groups, sole, references, request.concept_count)
    return Exchange(pictures, classes, tuple(sorted(concepts)), groups, sole, references)


def _references(pictures: Pictures, place: int, sole: np.ndarray) -> tuple[int, ...]:
    alone = np.flatnonzero(sole == place)
    return tuple((alone if len(alone) else np.flatnonzero(pictures.sure[:, place])).tolist())


def _classes(pictures: Pictures, rows: Sequence[int], request: Request) -> tuple[str, ...]:
    if request.classes:
        pictures.check_classes(request.classes, "classes")
        return tuple(sorted(request.classes))
    there = {name for row in rows if (name := pictures.classes[row]) is not None}
    drawn = sorted(there, key=lambda name: draw(request.seed, "class", name))
    return tuple(sorted(drawn[: request.class_count]))


def _check_named(
    pictures: Pictures, concepts: Sequence[int], references: Mapping[int, tuple[int, ...]]
) -> None:
    counts = Counter(pictures.groups[place] for place in concepts)
    for place in concepts:
        name = pictures.concepts[place]
        if not references[place]:
            raise UserError(
                f"attribute {name!r} has no reference picture: none of {len(pictures.ids):,} is "
                f"annotated as showing it with certainty {SURE} or more; leave it out"
            )
        if counts[pictures.groups[place]] < 2:
            raise UserError(
                f"attribute {name!r} is the only one named of {pictures.groups[place]!r}; name "
                "another value that it can be exchanged with"
            )


def _concepts(
    pictures: Pictures,
    groups: Sequence[str],
    sole: np.ndarray,
    references: Mapping[int, tuple[int, ...]],
    count: int,
) -> list[int]:
    """The two best shown values of as many groups as fit, then the best of the others.

    How well a value is shown: in how many pictures it is surely the only one of its group.
    """
    shown = Counter(sole[sole >= 0].tolist())
    ranked: list[list[int]] = []
    for group in groups:
        places = [
            place
            for place, name in enumerate(pictures.groups)
            if name == group and shown[place] and references[place]
        ]
        places.sort(key=lambda place: (-shown[place], pictures.concepts[place]))
        if len(places) > 1 and group not in IDENTITY:
            ranked.append(places)
    ranked.sort(key=lambda places: (-shown[places[1]], pictures.concepts[places[1]]))
    pairs = count // 2
    chosen = [place for places in ranked[:pairs] for place in places[:2]]
    rest = [place for places in ranked[:pairs] for place in places[2:]]
    rest.sort(key=lambda place: (-shown[place], pictures.concepts[place]))
    chosen += rest[: count - len(chosen)]
    if not chosen:
        raise UserError(
            "no group of concepts has two values that pictures surely show; expected a source "
            "such as cub, whose concepts are values of groups"
        )
    return chosen
