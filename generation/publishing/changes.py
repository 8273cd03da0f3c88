"""What publishing a package changes in a repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generation.publishing.local import LocalFile

KEPT = ".gitattributes"
"""File that the Hub itself puts into a repository; it is neither compared nor deleted."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository.

    Attributes:
        bytes: its size.
        sha256: of a file in large file storage, else None.
        blob_id: SHA-1 of the Git blob; of a file in large file storage it is the pointer's.
    """

    bytes: int
    sha256: str | None
    blob_id: str

    def holds(self, local: LocalFile) -> bool:
        """Whether the content is that of a local file."""
        if self.sha256 is not None:
            return self.sha256 == local.sha256
        return self.blob_id == local.blob_id


@dataclass(frozen=True)
class Change:
    """A file: its path, its size, and the size it had, None where it was not there."""

    path: str
    bytes: int
    before: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"path": self.path, "bytes": self.bytes, "bytes_before": self.before}


@dataclass(frozen=True)
class Changes:
    """The files that are added, changed, deleted and left as they are, each sorted by path."""

    added: tuple[Change, ...]
    changed: tuple[Change, ...]
    deleted: tuple[Change, ...]
    unchanged: tuple[Change, ...]

    @property
    def sent(self) -> tuple[Change, ...]:
        """What has to be sent."""
        return (*self.added, *self.changed)

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)

    def as_dict(self) -> dict[str, Any]:
        """As JSON: a list of files each."""
        names = ("added", "changed", "deleted", "unchanged")
        return {name: [each.as_dict() for each in getattr(self, name)] for name in names}


def compare(local: Mapping[str, LocalFile], remote: Mapping[str, RemoteFile]) -> Changes:
    """What makes the files of a repository those of a package."""
    added, changed, unchanged = [], [], []
    for path, file in sorted(local.items()):
        there = remote.get(path)
        if there is None:
            added.append(Change(path, file.bytes))
        elif there.holds(file):
            unchanged.append(Change(path, file.bytes, there.bytes))
        else:
            changed.append(Change(path, file.bytes, there.bytes))
    deleted = [
        Change(path, 0, file.bytes)
        for path, file in sorted(remote.items())
        if path not in local and path != KEPT
    ]
    return Changes(tuple(added), tuple(changed), tuple(deleted), tuple(unchanged))


def in_words(size: int) -> str:
    """A number of bytes for people.

    >>> in_words(1_234_000)
    '1.2 MB'
    """
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= least:
            return f"{size / least:,.1f} {unit}"
    return f"{size} bytes"
