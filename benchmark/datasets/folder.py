"""Pictures that lie as files in a folder, and a dataset of them with its fingerprint remembered."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
from PIL import Image

from benchmark import files
from benchmark.datasets.base import Dataset, ImageSequence
from benchmark.errors import UserError
from benchmark.images import MAX_BYTES, read_file, read_image

_SETTLED_NS = 2 * 10**9


@dataclass(frozen=True, eq=False)
class FolderImages(Sequence[Image.Image]):
    """Pictures by file name below a folder, each read when it is asked for."""

    root: Path
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Image.Image:  # type: ignore[override]
        return read_image(self.encoded(index), name=self.describe(index))

    def encoded(self, index: int) -> bytes:
        """The file's bytes."""
        path = self.root / self.names[range(len(self))[index]]
        data = read_file(path)
        if len(data) > MAX_BYTES:
            raise UserError(f"cannot read image {path}: larger than {MAX_BYTES // 2**20} MiB")
        return data

    def describe(self, index: int) -> str:
        """The file of row ``index``, for messages."""
        return str(self.root / self.names[index])

    def stamps(self) -> Iterator[tuple[str, int, int]]:
        """Path, size and time of last change (ns) of every file, in row order."""
        root = os.path.realpath(self.root)
        for name in self.names:
            path = f"{root}/{name}"
            try:
                found = os.stat(path)  # noqa: PTH116 - a Path for each of 100,000 files costs more
            except OSError as error:
                raise UserError(f"cannot read image {path}: {error.strerror or error}") from None
            yield path, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, eq=False)
class NoImages(Sequence[Image.Image]):
    """Stands where a dataset of pairs has no pictures of its own."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: int) -> Image.Image:  # type: ignore[override]
        raise IndexError(index)

    def encoded(self, index: int) -> bytes:
        raise IndexError(index)


@dataclass(frozen=True, eq=False)
class FolderDataset(Dataset):
    """A dataset of files.

    Hashing all of them takes minutes for a large dataset, so the fingerprint is kept in
    ``home()/fingerprints`` under a hash of all labels and of every file's path, size and time of
    last change. A file that was replaced by one of the same size and time would go unnoticed there;
    ``hash_content`` and ``assay data check`` always read every byte.
    """

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the full content, from an earlier run where no file changed since."""
        return remembered_fingerprint(self)

    def hashed(self, progress: Callable[[int, int], None]) -> str:
        """The fingerprint; where it has to be worked out, ``progress`` gets rows done and all."""
        if "fingerprint" not in self.__dict__:
            self.__dict__["fingerprint"] = remembered_fingerprint(self, progress)
        return self.fingerprint


def remembered_fingerprint(
    dataset: Dataset, progress: Callable[[int, int], None] | None = None
) -> str:
    """The fingerprint of a dataset of files, kept from one run to the next."""
    started = time.time_ns()
    key, newest = _stamp(dataset)
    path = files.home() / "fingerprints" / f"{key}.json"
    try:
        kept = json.loads(path.read_bytes())["fingerprint"]
        if isinstance(kept, str) and len(kept) == 64:
            return kept
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = dataset.hash_content(progress)
    # a file changed this very moment could change again without a new time
    if newest < started - _SETTLED_NS:
        files.write_json(path, {"dataset": dataset.name, "fingerprint": found})
    return found


def _stamp(dataset: Dataset) -> tuple[str, int]:
    """Hash of all that the fingerprint depends on but the bytes; time of the latest change."""
    digest = hashlib.sha256(b"assay-fingerprint-key-1")

    def add(*values: Any) -> None:
        digest.update((json.dumps(values) + "\n").encode())

    newest = 0
    add(dataset.name, dataset.revision, dataset.concepts, dataset.ids)
    for name in sorted(dataset.splits):
        add(name, len(dataset.splits[name]))
        digest.update(np.ascontiguousarray(dataset.splits[name], "<i8").tobytes())
    digest.update(np.packbits(dataset.annotations).tobytes())
    tables: list[ImageSequence] = [dataset.images]
    if (pairs := dataset.pairs) is not None:
        add(pairs.ids, pairs.added, pairs.removed)
        digest.update(np.packbits(pairs.present).tobytes())
        tables += [pairs.base, pairs.edited]
    for table in tables:
        add("table", len(table))
        if isinstance(table, FolderImages):
            for stamp in table.stamps():
                newest = max(newest, stamp[2])
                add(stamp)
        elif len(table):
            raise TypeError("remembered_fingerprint is for datasets of files")
    return digest.hexdigest(), newest


def inner_name(text: str, where: str) -> str:
    """A file name below a folder as a file gives it; one that leads out of it is refused."""
    posix, windows = PurePosixPath(text), PureWindowsPath(text)
    if not text or "\0" in text or posix.is_absolute() or windows.anchor or ".." in posix.parts:
        raise UserError(f"{where}: {text!r} is no file name inside the dataset's folder")
    return str(posix)


def absent(root: Path, names: Sequence[str]) -> list[int]:
    """Which of these files are not below ``root``; each folder is listed once."""
    listed: dict[str, set[str]] = {}
    missing = []
    for place, name in enumerate(names):
        folder, _, leaf = name.rpartition("/")
        if folder not in listed:
            try:
                with os.scandir(root / folder) as entries:
                    listed[folder] = {entry.name for entry in entries}
            except OSError:
                listed[folder] = set()
        if leaf not in listed[folder]:
            missing.append(place)
    return missing
