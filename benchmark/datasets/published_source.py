"""A dataset of edit pairs that its authors keep on the Hub: from a folder, the cache or the Hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark import files
from benchmark.datasets import hub
from benchmark.datasets.base import Dataset
from benchmark.datasets.layout import MANIFEST
from benchmark.datasets.parquet import open_folder
from benchmark.datasets.published import TABLE
from benchmark.errors import UserError


@dataclass(frozen=True)
class HubPairs:
    """Where a dataset is looked for, and what opens its folder.

    Attributes:
        name: as ``load_dataset`` takes it.
        repo, tag: of the release on the Hub.
        open_published: opens a folder in the authors' layout.
    """

    name: str
    repo: str
    tag: str
    open_published: Callable[[Path], Dataset]

    def open(self, folder: Path) -> Dataset:
        """Open a folder in the authors' layout or in ours."""
        if not (folder / MANIFEST).is_file():
            return self.open_published(folder)
        dataset = open_folder(folder)
        if dataset.name != self.name:
            raise UserError(f"{folder} holds dataset {dataset.name!r}, expected {self.name!r}")
        return dataset

    def default_folder(self) -> Path:
        """A local copy that goes before the Hub's."""
        return files.home() / "datasets" / self.name

    def find(self, root: Path) -> Path | None:
        """The folder with a table or a manifest: ``root``, or the one of this name in it."""
        for place in (root, root / self.name):
            if (place / TABLE).is_file() or (place / MANIFEST).is_file():
                return place
        return None

    def load(self, root: Path | None = None) -> Dataset:
        """Open it from a folder, else from what was fetched; nothing is downloaded here."""
        folder = self.find(self.default_folder() if root is None else root)
        if folder is not None:
            return self.open(folder)
        if root is not None:
            raise UserError(f"dataset {self.name} is not at {root}: no {TABLE} and no {MANIFEST}")
        kept = hub.cached(self.repo, self.tag)
        if kept is None:
            raise UserError(
                f"dataset {self.name} is not here; get {self.repo} {self.tag} with: assay data "
                f"fetch {self.name}, or put a copy at {self.default_folder()}"
            )
        return self._at_commit(*kept)

    def at(self, revision: str) -> Dataset:
        """Open it at a tag or full hash, downloaded where it is not in the cache."""
        return self._at_commit(*hub.fetch(self.repo, revision))

    def fetch(self) -> str:
        """Ask for the release's commit and download it; one line with both."""
        folder = self.find(self.default_folder())
        if folder is not None:
            return f"{self.name} is at {folder}"
        if hub.recorded(self.repo, self.tag) is None or hub.cached(self.repo, self.tag) is None:
            hub.ask(self.repo, self.tag)
        place, commit = hub.fetch(self.repo, self.tag)
        return f"{self.name}: {self.repo} {self.tag}, commit {commit}, is at {place}"

    def _at_commit(self, folder: Path, commit: str) -> Dataset:
        return replace(self.open(folder), revision=commit)
