"""Base and reference pictures of a plan, read from its source by id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from benchmark import files
from benchmark.datasets import Dataset, load_dataset, source_of_name
from benchmark.datasets.folder import FolderDataset
from benchmark.errors import UserError
from generation.work.checks import check_source
from generation.work.folder import PLAN, SOURCE, Work

Progress = Callable[[int, int], None]


def open_source(
    work: Work, root: Path | None = None, *, progress: Progress | None = None
) -> Dataset:
    """Open the source of a plan and check that it is the one that was planned on.

    Args:
        work: folder with the plan.
        root: where the source lies; by default where it lay when the plan was made.
        progress: told pictures done and all of them, where the source must be hashed anew.

    Raises:
        UserError: it is not there, has another revision or content, or the plan names concepts,
            pictures or classes that it does not have.
    """
    wanted = work.plan.source
    noted = _noted(work)
    name, place = noted["dataset"] or wanted.name, root or noted["root"]
    if place is not None and source_of_name(name) is None:  # a folder without a known name
        dataset = load_dataset(place)
    else:
        dataset = load_dataset(name, root=place)
    if dataset.revision != wanted.revision:
        raise UserError(
            f"dataset {wanted.name} is at revision {dataset.revision}; {work.root} was planned on "
            f"{wanted.revision}"
        )
    if progress is not None and isinstance(dataset, FolderDataset):
        dataset.hashed(progress)
    if dataset.fingerprint != wanted.fingerprint:
        raise UserError(
            f"dataset {wanted.name} has fingerprint {dataset.fingerprint[:12]}…; {work.root} was "
            f"planned on {wanted.fingerprint[:12]}…: pictures or labels changed; plan anew"
        )
    check_source(work.plan, dataset, str(work.root / PLAN))
    return dataset


def base_bytes(source: Dataset, image: str) -> bytes:
    """A picture of the source as the bytes that it holds.

    Raises:
        UserError: no picture of this id.
    """
    row = source.locate(image)
    if row is None:
        raise UserError(f"dataset {source.name} has no picture {image!r}")
    return source.images.encoded(row)


def _noted(work: Work) -> dict[str, str | None]:
    """How the source was opened when the plan was made: ``dataset`` and ``root``."""
    path = work.root / SOURCE
    try:
        found = json.loads(path.read_bytes(), object_pairs_hook=files.unique_keys)
        noted = {key: found.get(key) for key in ("dataset", "root")}
    except FileNotFoundError:
        return {"dataset": None, "root": None}
    except (OSError, ValueError, AttributeError):
        noted = {"root": False}
    if not all(value is None or isinstance(value, str) for value in noted.values()):
        raise UserError(
            f"{path}: not as written by assay generate plan; expected dataset and root, each text "
            "or null"
        )
    return noted
