"""Datasets by name with their features and labels, ready for any number of SAEs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.codes import read_arrays
from benchmark.datasets import Activations, Dataset, Joined, join, load_dataset
from benchmark.datasets.folder import FolderDataset
from benchmark.encoders import Encoder, load_encoder
from benchmark.errors import UserError
from benchmark.features import Features, Progress, embed
from benchmark.measure import Labels
from benchmark.scoring import Source

DEFAULT_ENCODER = "efficientnet-lite0"

NO_ENCODER = "none"
"""What a record names where the dataset holds activations."""

ShowProgress = Callable[[Progress], None]


def labels_of(dataset: Dataset) -> Labels:
    """Annotations of both splits, and what the pairs change."""
    match, score = (dataset.annotations[dataset.split(part)] for part in ("match", "score"))
    match_ids, score_ids = (
        [dataset.ids[row] for row in dataset.split(part)] for part in ("match", "score")
    )
    labels = Labels(dataset.concepts, match, score, match_ids=match_ids, score_ids=score_ids)
    pairs = dataset.pairs
    if pairs is None:
        return labels
    return replace(
        labels,
        present=pairs.present,
        added=pairs.added,
        removed=pairs.removed,
        pair_ids=pairs.ids,
    )


def joined_labels(joined: Joined) -> Labels:
    """Labels of joined pictures and pairs."""
    return replace(labels_of(joined.view()), left_out=joined.left_out)


def parts_of(features: Features | Activations, dataset: Dataset) -> dict[str, np.ndarray]:
    """Features by part: ``match``, ``score``, and ``base``, ``edited`` where there are pairs."""
    parts = {part: np.asarray(features.images)[dataset.split(part)] for part in ("match", "score")}
    if dataset.pairs is not None:
        parts |= {"base": np.asarray(features.base), "edited": np.asarray(features.edited)}
    return parts


def dataset_json(dataset: Dataset) -> dict[str, str]:
    """What a record says of a dataset."""
    return {
        "name": dataset.name,
        "revision": dataset.revision,
        "fingerprint": dataset.fingerprint,
    }


def sources_json(dataset: Dataset, joined: Joined | None = None) -> dict[str, Any]:
    """The datasets of a ``Source``: the one of the pictures and, if another, that of the pairs."""
    pairs = {} if joined is None else {"pairs_dataset": dataset_json(joined.pairs_dataset)}
    return {"dataset": dataset_json(dataset), **pairs}


def source_of(dataset: Dataset, features: Features) -> Source:
    """Dataset and encoder as a record names them."""
    return Source(dataset_json(dataset), features.encoder.as_dict())


@dataclass(frozen=True)
class Prepared:
    """A dataset with its features, ready for any number of SAEs."""

    dataset: Dataset
    features: Mapping[str, np.ndarray]
    labels: Labels
    source: Source

    @property
    def origin(self) -> dict[str, Any]:
        """What an SAE trained on the match split says of its data."""
        pairs = self.source.pairs_dataset
        return {
            "dataset": dict(self.source.dataset),
            "encoder": dict(self.source.encoder),
            "split": "match",
            # their source pictures are not in the match split
            **({} if pairs is None else {"pairs_dataset": dict(pairs)}),
        }


def prepare(
    dataset: Dataset,
    encoder: Encoder,
    *,
    pairs: Dataset | None = None,
    home: Path | None = None,
    progress: ShowProgress | None = None,
) -> Prepared:
    """Embed a dataset, through the cache.

    Pairs of another dataset are embedded under its own key and joined (``datasets.join``).
    """
    joined = None if pairs is None else join(dataset, pairs)
    for each in (dataset, pairs):
        if isinstance(each, FolderDataset) and progress is not None:
            each.hashed(partial(_hashing, progress))
    features = embed(dataset, encoder, home=home, progress=progress)
    if joined is not None:
        sides = embed(joined.pairs_dataset, encoder, home=home, progress=progress)
        view = joined.view()
        return Prepared(
            view,
            parts_of(Activations(features.images, sides.base, sides.edited), view),
            joined_labels(joined),
            Source(**sources_json(dataset, joined), encoder=features.encoder.as_dict()),
        )
    return Prepared(
        dataset, parts_of(features, dataset), labels_of(dataset), source_of(dataset, features)
    )


def _hashing(progress: ShowProgress, done: int, total: int) -> None:
    progress(Progress(done, total, 0.0, None))


def prepare_activations(dataset: Dataset) -> Prepared:
    """A dataset of activations, which are its features as they are."""
    if dataset.activations is None:
        raise ValueError(f"dataset {dataset.name} holds pictures; prepare it with an encoder")
    encoder = dataset.activations.encoder or unknown_encoder(NO_ENCODER)
    source = Source(dataset_json(dataset), encoder)
    return Prepared(dataset, parts_of(dataset.activations, dataset), labels_of(dataset), source)


def prepare_by_name(
    dataset: str,
    encoder: str | None,
    features_file: Path | None,
    progress: ShowProgress | None = None,
    *,
    pairs: str | None = None,
) -> Prepared:
    """Dataset and features by name, or features from a file made for this dataset.

    ``pairs`` names the dataset of the edit pairs, where it is another one.
    """
    data = load_dataset(dataset)
    edits = None if pairs is None else load_dataset(pairs)
    if data.activations is not None:
        if encoder not in (None, NO_ENCODER) or features_file is not None:
            raise UserError(
                f"dataset {data.name} holds activations already; leave out --encoder and --features"
            )
        if edits is not None:
            join(data, edits)  # refused there
        return prepare_activations(data)
    if features_file is None:
        return prepare(
            data, load_encoder(encoder or DEFAULT_ENCODER), pairs=edits, progress=progress
        )
    joined = None if edits is None else join(data, edits)
    parts = file_parts(features_file, data, joined)
    dense = {
        part: value.toarray() if hasattr(value, "toarray") else value
        for part, value in parts.items()
    }
    name = encoder or f"file:{features_file.name}"
    return Prepared(
        data if joined is None else joined.view(),
        dense,
        labels_of(data) if joined is None else joined_labels(joined),
        Source(**sources_json(data, joined), encoder=unknown_encoder(name)),
    )


def unknown_encoder(name: str) -> dict[str, Any]:
    """What a record says of an encoder known by name only."""
    return {"name": name, "weights_sha256": None}


def file_parts(
    path: Path, dataset: Dataset, joined: Joined | None = None, *, codes: bool = False
) -> dict[str, Any]:
    """The parts of a file of features or codes, with as many rows as the data has.

    A file has all rows of the dataset's match split; those that leave it for the sake of the pairs
    are dropped here.
    """
    pairs = dataset.pairs if joined is None else joined.pairs
    holder = dataset if joined is None else joined.pairs_dataset
    parts = read_arrays(
        path,
        fingerprint=dataset.fingerprint,
        pairs_fingerprint=None if pairs is None else holder.fingerprint,
        nonnegative=codes,
    )
    rows = {part: len(dataset.split(part)) for part in ("match", "score")}
    if pairs is not None:
        rows |= {"base": len(pairs), "edited": len(pairs)}
    for part, expected in rows.items():
        if part not in parts:
            raise UserError(f"{path}: no {part!r} part; expected {', '.join(rows)}")
        if parts[part].shape[0] != expected:
            name = holder.name if part in ("base", "edited") else dataset.name
            raise UserError(
                f"{path}: {part} has {parts[part].shape[0]} rows, but {name} has {expected}"
            )
    found: dict[str, Any] = {part: parts[part] for part in rows}
    if joined is not None and joined.left_out:
        found["match"] = found["match"][np.flatnonzero(joined.kept)]
    return found
