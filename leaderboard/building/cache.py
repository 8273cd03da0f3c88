"""What an earlier build made from the same bytes with the same code, kept for the next."""

import hashlib
import json
import os
import shutil
import sys
import time
import zlib
from collections.abc import Iterable
from functools import cache
from importlib import metadata, resources
from pathlib import Path

from benchmark.files import replacing

_PACKAGES = ("leaderboard", "schemas", "benchmark")
_LIBRARIES = ("jinja2", "markupsafe", "jsonschema", "jsonschema-rs", "numpy", "pillow")
_CODE = (".py", ".j2", ".json", ".css", ".js", ".svg")
_KEPT_DAYS = 30
_CHECK = 8
"""Bytes at the end of a file: CRC-32 of the rest, in hexadecimal digits."""


@cache
def code_sha256() -> str:
    """Over all code that a page can depend on, and the versions of the libraries beneath."""
    digest = hashlib.sha256(sys.version.encode())
    for library in _LIBRARIES:
        digest.update(f"{library} {metadata.version(library)};".encode())
    for package in _PACKAGES:
        root = Path(str(resources.files(package)))
        for path in sorted(root.rglob("*")):
            if path.suffix in _CODE and path.is_file():
                digest.update(f"{package}/{path.relative_to(root).as_posix()};".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Cache:
    """Files by kind and key in one folder of this code; what cannot be read is as if absent."""

    def __init__(self, root: Path) -> None:
        self.folder = root / code_sha256()[:24]
        self._root = str(self.folder)

    @property
    def templates(self) -> Path:
        """Folder of compiled templates."""
        return self.folder / "templates"

    def read(self, kind: str, key: str) -> bytes | None:
        """What ``write`` was given; None where it is absent or damaged."""
        try:
            data = self._path(kind, key).read_bytes()
        except OSError:
            return None
        content, check = data[:-_CHECK], data[-_CHECK:]
        return content if check == _crc(content) else None

    def has(self, kind: str, key: str) -> bool:
        """Whether there is a file; ``read`` tells whether it is sound."""
        return self._path(kind, key).is_file()

    def write(self, kind: str, key: str, content: bytes) -> None:
        """Keep ``content`` for the next build."""
        with replacing(self._path(kind, key)) as temporary:
            temporary.write_bytes(content + _crc(content))

    def clear_old(self) -> None:
        """Remove what other states of the code left, and what no build used for long."""
        if not self.folder.is_dir():
            return
        os.utime(self.folder)
        oldest = time.time() - _KEPT_DAYS * 24 * 3600
        for other in self.folder.parent.iterdir():
            if other != self.folder and other.is_dir() and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)

    def _path(self, kind: str, key: str) -> Path:
        return Path(f"{self._root}/{kind}/{key[:2]}/{key[2:]}")


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


def key_of(parts: Iterable[object]) -> str:
    """Key of whatever can be written as JSON; equal parts have equal keys."""
    return hashlib.sha256(_encode(list(parts)).encode()).hexdigest()


def _crc(content: bytes) -> bytes:
    return f"{zlib.crc32(content):08x}".encode()
