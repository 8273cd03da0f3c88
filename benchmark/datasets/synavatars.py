"""synAvatars: drawn avatars with exact annotations and single-attribute edits, built locally."""

from __future__ import annotations

from pathlib import Path

from benchmark import files
from benchmark.datasets.base import Dataset
from benchmark.datasets.layout import MANIFEST
from benchmark.datasets.parquet import open_folder
from benchmark.datasets.source import Source
from benchmark.errors import UserError

NAME = "synavatars"


def default_folder() -> Path:
    """Where synAvatars is looked for when nobody says where it is."""
    return files.home() / "datasets" / NAME


def _folder(root: Path | None) -> Path:
    if root is None:
        return default_folder()
    return root if (root / MANIFEST).is_file() else root / NAME


def load(root: Path | None = None) -> Dataset:
    """Open synAvatars; absent, the error names the command that builds it."""
    path = _folder(root)
    if not path.is_dir():
        raise UserError(
            f"dataset {NAME} is not at {path}; build it with: assay generate avatars --out {path}"
        )
    dataset = open_folder(path)
    if dataset.name != NAME:
        raise UserError(f"{path} holds dataset {dataset.name!r}, expected {NAME!r}")
    return dataset


def fetch() -> str:
    """One line: where it is, or the command that builds it."""
    path = default_folder()
    if (path / MANIFEST).is_file():
        return f"{NAME} is at {path}"
    return f"{NAME} is built here, not downloaded; run: assay generate avatars --out {path}"


SOURCE = Source(
    name=NAME,
    summary="drawn avatars in three styles with exact annotations and single-attribute edit pairs",
    licence="cc0-1.0",
    citation="Cite the project Assay and the fingerprint of the data used.",
    load=load,
    fetch=fetch,
)
