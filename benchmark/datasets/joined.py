"""Pictures of one dataset with the edit pairs of another, concepts joined by name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from benchmark.datasets.base import Dataset, PairSequence
from benchmark.datasets.names import match_names
from benchmark.errors import UserError

_MOST_DIFFERING = 0.02
"""Largest share of source pictures whose annotations may differ from their pair's."""


@dataclass(frozen=True)
class Joined:
    """A dataset and the pairs of another one, in the dataset's concepts.

    Attributes:
        dataset: the dataset of the pictures, as it is.
        pairs_dataset: the dataset of the pairs, as it is.
        pairs: its pairs, ``added``, ``removed`` and ``present`` in the concepts of ``dataset``.
        match: rows of the match split, without the pictures that the pairs were made from.
        left_out: how many left the match split.
    """

    dataset: Dataset
    pairs_dataset: Dataset
    pairs: PairSequence = field(repr=False)
    match: np.ndarray = field(repr=False)
    left_out: int

    @property
    def kept(self) -> np.ndarray:
        """Which rows of the dataset's own match split stay: bool, one a row."""
        return np.isin(self.dataset.split("match"), self.match)

    def view(self) -> Dataset:
        """A dataset of these pictures, splits and pairs.

        Its fingerprint is neither of the two; records and caches name the two datasets.
        """
        splits = {**self.dataset.splits, "match": self.match}
        return replace(self.dataset, splits=splits, pairs=self.pairs)


def join(dataset: Dataset, pairs_dataset: Dataset) -> Joined:
    """Join pairs to the pictures that they are scored with.

    Concepts join by name: ``has_breast_pattern::striped`` and ``has breast pattern: striped`` are
    the same one. Concepts that the pairs do not know count as absent from their pictures. Pictures
    that the base pictures were made from leave the match split, so that no coalition is found on
    what it is then tested with.

    Raises:
        UserError: no pairs, activations on either side, a name that the dataset does not know (all
            are listed), or source pictures that are not in the dataset or annotated otherwise.
    """
    pairs = pairs_dataset.pairs
    if pairs is None:
        raise UserError(f"dataset {pairs_dataset.name} has no edit pairs; --pairs needs some")
    for each in (dataset, pairs_dataset):
        if each.activations is not None:
            raise UserError(f"dataset {each.name} holds activations; --pairs joins pictures only")
    dataset.split("match")  # pairs beside pairs are refused here
    places = np.array(
        match_names(
            pairs_dataset.concepts,
            dataset.concepts,
            what=f"pairs of {pairs_dataset.name}",
            where=f"dataset {dataset.name}",
        ),
        dtype=np.int64,
    )
    present = np.zeros((len(pairs), len(dataset.concepts)), bool)
    present[:, places] = pairs.present
    mapped = replace(
        pairs,
        added=tuple(None if one is None else int(places[one]) for one in pairs.added),
        removed=tuple(None if one is None else int(places[one]) for one in pairs.removed),
        present=present,
    )
    sources = _source_rows(dataset, pairs_dataset, mapped, places)
    match = dataset.split("match")
    kept = match[~np.isin(match, sources)]
    if not len(kept):
        raise UserError(
            f"every picture of {dataset.name}'s match split is a source of {pairs_dataset.name}"
        )
    return Joined(dataset, pairs_dataset, mapped, kept, len(match) - len(kept))


def _source_rows(
    dataset: Dataset, pairs_dataset: Dataset, pairs: PairSequence, places: np.ndarray
) -> np.ndarray:
    """Rows of the pictures that the pairs were made from, proved by their annotations."""
    rows, differing = [], []
    for name, source, present in zip(pairs.ids, pairs.sources, pairs.present, strict=False):
        if source is None:
            continue
        row = dataset.locate(source)
        if row is None:
            raise UserError(
                f"pair {name} of {pairs_dataset.name} was made from {source}, which {dataset.name} "
                "does not have; use the dataset that the pairs belong to"
            )
        rows.append(row)
        if (dataset.annotations[row, places] != present[places]).any():
            differing.append(name)
    if len(differing) > _MOST_DIFFERING * len(rows):
        raise UserError(
            f"{len(differing):,} of {len(rows):,} pairs of {pairs_dataset.name} do not show what "
            f"{dataset.name} says of their source pictures (the first is pair {differing[0]}); "
            "these are not the pictures that the pairs were made from"
        )
    return np.unique(np.array(rows, dtype=np.int64))
