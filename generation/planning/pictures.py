"""What a plan needs to know of the source's pictures, in an order that the source has no say in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.datasets import Dataset
from benchmark.datasets.cub import CubDataset
from benchmark.errors import UserError

SURE = 3
"""Certainty from which on a presence is believed: 3 probably, 4 definitely."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """N pictures sorted by id.

    Attributes:
        ids: N names.
        splits: split of each, empty where it is in none.
        classes: class of each, None where the source has no classes.
        present: bool (N, A), annotated as showing the concept, however sure.
        sure: bool (N, A), surely showing it; the same where annotators said nothing of certainty.
        concepts, groups: A names each.
    """

    ids: tuple[str, ...]
    splits: tuple[str, ...]
    classes: tuple[str | None, ...]
    present: np.ndarray
    sure: np.ndarray
    concepts: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, dataset: Dataset) -> Pictures:
        """The pictures of a dataset."""
        if not dataset.splits:
            raise UserError(f"dataset {dataset.name} holds edit pairs only; expected pictures")
        order = np.array(sorted(range(len(dataset.ids)), key=lambda row: dataset.ids[row]))
        split_of = [""] * len(order)
        for name in sorted(dataset.splits):
            for row in dataset.splits[name].tolist():
                split_of[row] = name
        annotations = np.asarray(dataset.annotations, bool)
        sure = annotations
        classes: list[str | None] = [None] * len(order)
        if isinstance(dataset, CubDataset):
            sure = annotations & (dataset.certainty >= SURE)
            classes = [dataset.species[number] for number in dataset.species_of.tolist()]
        return cls(
            tuple(dataset.ids[row] for row in order),
            tuple(split_of[row] for row in order),
            tuple(classes[row] for row in order),
            annotations[order],
            sure[order],
            tuple(dataset.concepts),
            tuple(dataset.groups),
        )

    def places(self, names: Sequence[str], what: str) -> list[int]:
        """Place of each concept; ``UserError`` names those that are not known."""
        known = {name: place for place, name in enumerate(self.concepts)}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UserError(
                f"{what}: unknown to the source: {', '.join(map(repr, unknown))}; its concepts "
                f"read like {self.concepts[0]!r}"
            )
        return [known[name] for name in names]

    def check_classes(self, names: Sequence[str], what: str) -> None:
        """``UserError`` where a class is not the source's."""
        known = {name for name in self.classes if name is not None}
        unknown = [name for name in names if name not in known]
        if unknown:
            like = f"its classes read like {min(known)!r}" if known else "it has no classes"
            raise UserError(f"{what}: unknown to the source: {', '.join(unknown)}; {like}")


def draw(seed: int, *parts: str) -> str:
    """A seeded number as text, for ordering by chance: the same for the same parts, always."""
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest()


def pick(among: Sequence[int], count: int, seed: int, *parts: str) -> list[int]:
    """``count`` different rows of ``among``, drawn by seed.

    Work does not grow with ``among``, of which thousands of edits draw. There must be as many.
    """
    chosen: list[int] = []
    number = 0
    while len(chosen) < count:
        row = among[int(draw(seed, *parts, str(number)), 16) % len(among)]
        if row not in chosen:
            chosen.append(row)
        number += 1
    return chosen
