"""Planted truth: activations that are known sums of known directions, §4.

``x = Σ c_i g_i + noise``: which features are on, how strongly, and along which directions is
chosen here, so that every score has an answer. A dataset of activations, not of pictures: it needs
no encoder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from benchmark.datasets.base import Activations, Dataset, PairSequence
from benchmark.datasets.source import Source
from benchmark.errors import UserError

NAME = "planted"
REVISION = "1"
WEAKEST, STRONGEST = 1.0, 1.5
"""Least and greatest coefficient of a feature that is on."""

_MOST = 100_000_000
_PASSES = 12


@dataclass(frozen=True)
class Recipe:
    """What is planted.

    Attributes:
        features: number of directions, each a concept.
        width: dimensions of an activation; directions are orthonormal up to ``width`` features and
            random unit vectors beyond.
        sparsity: features that are on in each row, exactly.
        skew: feature i is drawn with weight ``(i + 1) ** -skew``; 0 makes all equally frequent.
        noise: standard deviation of the Gaussian noise in every dimension.
        match, score: rows of the splits.
        pairs: edit pairs; each switches one feature off and another on.
        seed: same recipe, same activations.
    """

    features: int = 48
    width: int = 64
    sparsity: int = 6
    skew: float = 0.5
    noise: float = 0.05
    match: int = 1500
    score: int = 1000
    pairs: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"features": 2, "width": 2, "sparsity": 1, "match": 1, "score": 1}
        most = {"skew": 10, "noise": 1000}
        for one in fields(self):
            value = getattr(self, one.name)
            low, high = least.get(one.name, 0), most.get(one.name, _MOST)
            if not low <= value <= high:  # NaN is in no range
                raise UserError(f"{NAME}: {one.name} is {value}; expected {low:,} to {high:,}")
        if self.sparsity >= self.features:
            raise UserError(
                f"{NAME}: sparsity is {self.sparsity}; expected fewer than the {self.features} "
                "features, so that one can be switched"
            )
        rows = self.match + self.score + 2 * self.pairs
        cells = max(rows, self.features) * max(self.width, self.features)
        if cells > _MOST:
            raise UserError(f"{NAME}: {cells:,} numbers were asked for; expected at most {_MOST:,}")

    @classmethod
    def parse(cls, options: str) -> Recipe:
        """A recipe from ``noise=0.1,sparsity=8``; what is not named keeps its default."""
        kinds = {one.name: float if isinstance(one.default, float) else int for one in fields(cls)}
        given: dict[str, int | float] = {}
        for option in options.split(","):
            key, _, text = (part.strip() for part in option.partition("="))
            if key not in kinds or key in given:
                raise UserError(
                    f"{NAME}: option {option!r}; expected NAME=NUMBER once each, names: "
                    f"{', '.join(kinds)}"
                )
            try:
                given[key] = kinds[key](text)
            except ValueError:
                wanted = "number" if kinds[key] is float else "whole number"
                raise UserError(f"{NAME}: {key} is {text!r}; expected a {wanted}") from None
        return cls(**given)  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """Name of the dataset: the options that differ from the defaults stand after a colon."""
        changed = [
            f"{one.name}={getattr(self, one.name):g}"
            if isinstance(one.default, float)
            else f"{one.name}={getattr(self, one.name)}"
            for one in fields(self)
            if getattr(self, one.name) != one.default
        ]
        return f"{NAME}:{','.join(changed)}" if changed else NAME


@dataclass(frozen=True, eq=False)
class NoPictures:
    """Stands where a dataset has pictures: rows of numbers, which nothing can decode."""

    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Image.Image:
        raise UserError(f"dataset {NAME} holds activations, not pictures; row {index} has no image")

    def __iter__(self) -> Iterator[Image.Image]:
        return (self[index] for index in range(len(self)))

    def encoded(self, index: int) -> bytes:
        """The row's numbers, little-endian float32: what the fingerprint covers."""
        return np.ascontiguousarray(self.rows[index], "<f4").tobytes()


@dataclass(frozen=True, eq=False)
class PlantedDataset(Dataset):
    """A dataset with the truth behind it.

    Attributes:
        recipe: how it was made.
        dictionary: float32 (features, width), unit rows: the directions g_i.
    """

    recipe: Recipe = field(default_factory=Recipe)
    dictionary: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the recipe, the dictionary and the full content."""
        digest = hashlib.sha256(json.dumps(asdict(self.recipe), sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.dictionary, "<f4").tobytes())
        digest.update(super().fingerprint.encode())
        return digest.hexdigest()


def plant(recipe: Recipe) -> PlantedDataset:
    """The dataset of a recipe; the same one gives the same fingerprint."""
    draw = np.random.default_rng(recipe.seed)
    dictionary = _dictionary(recipe, draw)
    images = recipe.match + recipe.score
    present = _present(images, recipe, draw)
    base = _present(recipe.pairs, recipe, draw)
    added, removed = _switches(base, draw)
    edited = base.copy()
    edited[np.arange(recipe.pairs), added] = True
    edited[np.arange(recipe.pairs), removed] = False
    rows, before, after = (
        _activations(there, dictionary, recipe, draw) for there in (present, base, edited)
    )
    parts = Activations(rows, before, after)
    pairs = PairSequence(
        ids=tuple(f"pair-{row}" for row in range(recipe.pairs)),
        base=NoPictures(parts.base),
        edited=NoPictures(parts.edited),
        added=tuple(added.tolist()),
        removed=tuple(removed.tolist()),
        present=base,
    )
    concepts = tuple(f"feature: {i}" for i in range(recipe.features))
    return PlantedDataset(
        name=recipe.name,
        revision=REVISION,
        concepts=concepts,
        groups=concepts,
        ids=tuple(f"row-{row}" for row in range(images)),
        annotations=present,
        images=NoPictures(parts.images),
        splits={
            "match": np.arange(recipe.match, dtype=np.int64),
            "score": np.arange(recipe.match, images, dtype=np.int64),
        },
        pairs=pairs if recipe.pairs else None,
        activations=parts,
        recipe=recipe,
        dictionary=dictionary.astype(np.float32),
    )


def _dictionary(recipe: Recipe, draw: np.random.Generator) -> np.ndarray:
    if recipe.features > recipe.width:
        rows = draw.standard_normal((recipe.features, recipe.width))
        return np.asarray(rows / np.sqrt((rows**2).sum(axis=1, keepdims=True)))
    # rational rotations of random pairs of rows: orthonormal by plain arithmetic, and so the
    # same on every machine, as no QR routine promises to be
    rows = np.eye(recipe.width)
    for _ in range(_PASSES):
        order = draw.permutation(recipe.width)
        half = recipe.width // 2
        first, second = order[:half], order[half : 2 * half]
        t = draw.uniform(-1, 1, (half, 1))
        cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        a, b = rows[first], rows[second]
        rows[first], rows[second] = cosine * a - sine * b, sine * a + cosine * b
    return rows[draw.permutation(recipe.width)[: recipe.features]]


def _present(rows: int, recipe: Recipe, draw: np.random.Generator) -> np.ndarray:
    """Exactly ``sparsity`` features a row, drawn without replacement by weight."""
    weights = np.arange(1, recipe.features + 1, dtype=np.float64) ** -recipe.skew
    keys = draw.standard_exponential((rows, recipe.features)) / weights
    chosen = np.argsort(keys, axis=1, kind="stable")[:, : recipe.sparsity]
    present = np.zeros((rows, recipe.features), bool)
    np.put_along_axis(present, chosen, True, axis=1)
    return present


def _switches(base: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """For each row one feature that is off (to add) and one that is on (to remove)."""
    order = draw.random(base.shape)
    added = np.argmax(np.where(base, -1.0, order), axis=1)
    removed = np.argmax(np.where(base, order, -1.0), axis=1)
    return added.astype(np.int64), removed.astype(np.int64)


def _activations(
    present: np.ndarray, dictionary: np.ndarray, recipe: Recipe, draw: np.random.Generator
) -> np.ndarray:
    coefficients = draw.uniform(WEAKEST, STRONGEST, present.shape) * present
    result = np.zeros((len(present), recipe.width))
    # one feature at a time: a matrix product may sum in another order elsewhere
    for feature in range(recipe.features):
        result += coefficients[:, feature, None] * dictionary[feature]
    if recipe.noise:
        result += recipe.noise * draw.standard_normal(result.shape)
    return result.astype(np.float32)


def load(root: Path | None = None) -> Dataset:
    """The default recipe; there is nothing on disk, and so no root."""
    _refuse(root)
    return plant(Recipe())


def load_options(options: str, root: Path | None = None) -> Dataset:
    """The recipe that the options give."""
    _refuse(root)
    return plant(Recipe.parse(options))


def _refuse(root: Path | None) -> None:
    if root is not None:
        raise UserError(f"dataset {NAME} is made when it is asked for; it takes no root")


SOURCE = Source(
    name=NAME,
    summary="activations that are known sparse sums of known directions; "
    f"options in its name: {NAME}:noise=0,sparsity=8",
    licence="cc0-1.0",
    citation="Cite the project Assay and the fingerprint of the data used.",
    load=load,
    fetch=lambda: f"{NAME} is made when it is asked for; nothing to get",
    options=load_options,
)
