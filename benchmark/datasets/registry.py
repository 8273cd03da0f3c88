"""Datasets by name; adding one is a module with a ``Source`` and a line in ``DATASETS``."""

from __future__ import annotations

import os
from pathlib import Path

from benchmark.datasets.base import Dataset
from benchmark.datasets.hub import is_dataset_id
from benchmark.datasets.source import Source
from benchmark.errors import UserError
from benchmark.registry import Registry

DATASETS = Registry(
    "dataset",
    {
        "coco": "benchmark.datasets.coco:SOURCE",
        "cub": "benchmark.datasets.cub:SOURCE",
        "planted": "benchmark.datasets.planted:SOURCE",
        "synavatars": "benchmark.datasets.synavatars:SOURCE",
        "syncoco": "benchmark.datasets.syncoco:SOURCE",
        "syncub": "benchmark.datasets.syncub:SOURCE",
    },
)


def load_dataset(
    name: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> Dataset:
    """Open a dataset without decoding a picture.

    Args:
        name: a registered name, for some datasets with options (``planted:noise=0``); the path of
            a dataset folder; or a Hub repository. ``NAME@REVISION`` names a revision too.
        root: where to look for a named dataset: its folder, or the folder that holds it.
            By default ``benchmark.files.home() / "datasets"``.
        revision: the version asked for; another one on disk is an error. For a Hub repository a
            full hash or a tag, which is resolved once (``benchmark.datasets.hub``).

    Raises:
        UserError: unknown name (the known ones are listed), absent data (how to get it is said),
            a broken folder, or another revision.
    """
    text = os.fspath(name)
    place = None if root is None else Path(root)
    if revision is None and "@" in text and not Path(text).exists():
        text, _, revision = text.rpartition("@")
    if revision is not None and place is None and (at := _from_hub(text, revision)) is not None:
        return at
    dataset = _open(text, place)
    if revision is not None and revision != dataset.revision:
        raise UserError(
            f"dataset {dataset.name} is at revision {dataset.revision}, asked for {revision}"
        )
    return dataset


def source_of_name(name: str) -> Source | None:
    """What is known of a dataset by its name, which may carry options."""
    registered = name.partition(":")[0]
    return DATASETS.load(registered) if registered in DATASETS else None


def _from_hub(name: str, revision: str) -> Dataset | None:
    if name in DATASETS:
        source: Source = DATASETS.load(name)
        return None if source.at is None else source.at(revision)
    if is_dataset_id(name) and not Path(name).is_dir():
        from benchmark.datasets.layouts import open_hub

        return open_hub(name, revision)
    return None


def _open(name: str, root: Path | None) -> Dataset:
    if name in DATASETS:
        source: Source = DATASETS.load(name)
        return source.load(root)
    registered, colon, options = name.partition(":")
    if colon and registered in DATASETS:
        source = DATASETS.load(registered)
        if source.options is None:
            raise UserError(f"dataset {registered} takes no options, found {name!r}")
        return source.options(options, root)
    if Path(name).is_dir():
        from benchmark.datasets.layouts import open_any

        return open_any(Path(name))
    if "/" in name or os.sep in name or name.startswith("."):
        hint = f"; for a Hub repository: {name}@REVISION" if is_dataset_id(name) else ""
        raise UserError(
            f"no dataset folder {name}; registered names: {', '.join(DATASETS.names())}{hint}"
        )
    DATASETS.load(name)
    raise AssertionError("an unregistered name was loaded")
