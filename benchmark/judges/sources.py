"""What a judge is shown of a row: a picture, or a token in its text."""

import hashlib
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from benchmark.judges.base import Example


class ExampleSource(Protocol):
    """The N rows whose codes are judged, in the order of the codes."""

    @property
    def ids(self) -> Sequence[str]:
        """N names, each once."""
        ...

    @property
    def groups(self) -> np.ndarray | None:
        """Int (N,): rows of one group show the same input; None where all differ."""
        ...

    def example(self, row: int) -> Example:
        """Row ``row`` as a judge sees it."""
        ...


class PictureExamples:
    """Pictures of some rows of a dataset; identical files are one input.

    Args:
        dataset: with pictures.
        rows: int (N,), its rows in the order of the codes.
    """

    def __init__(self, dataset: Dataset, rows: np.ndarray) -> None:
        self._images = dataset.images
        self._rows = rows.tolist()
        self.ids: tuple[str, ...] = tuple(dataset.ids[row] for row in self._rows)

    @cached_property
    def groups(self) -> np.ndarray:
        """Int (N,): pictures whose bytes are the same have one number."""
        numbers: dict[bytes, int] = {}
        hashes = (hashlib.sha256(self._images.encoded(row)).digest() for row in self._rows)
        return np.array([numbers.setdefault(each, len(numbers)) for each in hashes], np.int64)

    def example(self, row: int) -> Example:
        return Example(self.ids[row], picture=partial(self._images.encoded, self._rows[row]))


def kind_of(dataset: Dataset) -> str:
    """``"image"`` or ``"text"``: what a judge is shown of a dataset.

    Raises:
        UserError: a dataset of activations, of which there is nothing to show.
    """
    if dataset.contexts is not None:
        return "text"
    if dataset.activations is not None:
        raise UserError(
            f"dataset {dataset.name} holds activations without pictures or texts; a judge needs "
            "something to look at: choose another --dataset"
        )
    return "image"


def source_for(dataset: Dataset, rows: np.ndarray) -> ExampleSource:
    """Pictures or token contexts of some rows of a dataset, in the order given.

    Raises:
        UserError: as ``kind_of``.
    """
    if kind_of(dataset) == "image":
        return PictureExamples(dataset, rows)
    from benchmark.text.contexts import ContextExamples

    return ContextExamples(dataset, rows)
