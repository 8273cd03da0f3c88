"""Datasets by name; adding one is a module with a ``Source`` and a line in ``DATASETS``."""

from __future__ import annotations

import os
from pathlib import Path

from benchmark.datasets.base import Dataset
from benchmark.datasets.source import Source
from benchmark.errors import UserError
from benchmark.registry import Registry

DATASETS = Registry(
    "dataset",
    {
        "planted": "benchmark.datasets.planted:SOURCE",
        "synavatars": "benchmark.datasets.synavatars:SOURCE",
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
        name: a registered name, for some datasets with options (``planted:noise=0``), or the path
            of a dataset folder.
        root: where to look for a named dataset: its folder, or the folder that holds it.
            By default ``benchmark.files.home() / "datasets"``.
        revision: the version asked for; another one on disk is an error.

    Raises:
        UserError: unknown name (the known ones are listed), absent data (how to get it is said),
            a broken folder, or another revision.
    """
    dataset = _open(os.fspath(name), None if root is None else Path(root))
    if revision is not None and revision != dataset.revision:
        raise UserError(
            f"dataset {dataset.name} is at revision {dataset.revision}, asked for {revision}"
        )
    return dataset


def _open(name: str, root: Path | None) -> Dataset:
    if name in DATASETS:
        source: Source = DATASETS.load(name)
        return source.load(root)
    registered, colon, options = name.partition(":")
    if colon and registered in DATASETS:
        source = DATASETS.load(registered)
        if source.options is None:
            raise UserError(f"dataset {registered} takes no options, found {name!r}")
        return source.options(options)
    if Path(name).is_dir():
        from benchmark.datasets.parquet import open_folder

        return open_folder(Path(name))
    if "/" in name or os.sep in name or name.startswith("."):
        raise UserError(
            f"no dataset folder {name}; registered names: {', '.join(DATASETS.names())}"
        )
    DATASETS.load(name)
    raise AssertionError("an unregistered name was loaded")
