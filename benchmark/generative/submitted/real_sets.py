"""Images and attributes of the real sets that generators are compared with."""

import hashlib
from importlib.resources import files
from typing import Any

import numpy as np

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from benchmark.generative.attributes import checked_attributes
from benchmark.generative.image_sets import DatasetSet
from benchmark.submissions.generators_known import RealSet


def real_images(chosen: RealSet, dataset: Dataset) -> DatasetSet:
    """The real images of a set.

    Raises:
        UserError: no such split, or no image that shows the concept.
    """
    whole = DatasetSet.of(dataset, chosen.split)
    if chosen.concept is None:
        return whole
    if chosen.concept not in dataset.concepts:
        raise UserError(f"dataset {dataset.name} has no concept {chosen.concept!r}")
    shown = dataset.annotations[list(whole.rows), dataset.concepts.index(chosen.concept)]
    if not shown.any():
        raise UserError(f"{whole.name}: no image with {chosen.concept!r}")
    label = f"{whole.name}, {chosen.concept}"
    return whole.only(np.flatnonzero(shown).tolist(), label)


def attribute_list(name: str) -> tuple[str, ...]:
    """The attributes of a list of this package, in order."""
    text = (files(__package__) / "attributes" / f"{name}.txt").read_text(encoding="utf-8")
    return checked_attributes(text.splitlines())


def attributes_json(name: str) -> dict[str, Any]:
    """What a result says of a list: name, hash over its attributes one a line, their number."""
    names = attribute_list(name)
    content = "".join(f"{each}\n" for each in names)
    return {
        "name": name,
        "sha256": hashlib.sha256(content.encode()).hexdigest(),
        "n": len(names),
    }
