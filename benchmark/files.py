"""Where files live, and writing them so that nobody ever sees half of one."""

import glob
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

_DAY = 24 * 3600.0


def home() -> Path:
    """Folder of what can be made again: ``$ASSAY_HOME``, else in the user's cache folder."""
    if own := os.environ.get("ASSAY_HOME"):
        return Path(own)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "assay"


def check_target(path: Path) -> Path:
    """The file that writing ``path`` would replace: links followed, refused unless a plain file.

    Raises:
        UserError: a folder, a device, or a place whose parent is not a folder.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if str(path) in ("", "."):
        raise UserError("an empty path was given; expected a file to write")
    if target.is_dir():
        raise UserError(f"{path}: is a folder; expected a file to write")
    if target.exists() and not target.is_file():
        raise UserError(f"{path}: is no ordinary file; expected a file to write")
    for parent in target.parents:
        if parent.is_dir():
            break
        if parent.exists():
            raise UserError(f"{path}: {parent} is a file; expected a folder")
    return target


def _umask_mode(default: int) -> int:
    current = os.umask(0)
    os.umask(current)
    return default & ~current


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside ``path``; on success it takes the place of ``path``.

    If the block raises, the temporary file goes and ``path`` is as it was.
    """
    path = check_target(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_umask_mode(0o666))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _clear_left_over(path: Path) -> None:
    """Remove temporary folders of ``path`` that a killed run left more than a day ago."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        if left.is_dir() and time.time() - left.stat().st_mtime > _DAY:
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def replacing_dir(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder beside ``path``; on success it takes its place."""
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear_left_over(path)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
    try:
        yield temporary
        temporary.chmod(_umask_mode(0o777))
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
            path.replace(old)
            temporary.replace(path)
            shutil.rmtree(old)
        else:
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` at once."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def json_text(document: Any) -> str:
    """Canonical JSON: sorted keys, no NaN or Infinity (``ValueError``)."""
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)


def write_json(path: Path, document: Any) -> None:
    """Write canonical JSON as UTF-8."""
    write_bytes(path, (json_text(document) + "\n").encode())


def file_sha256(path: Path) -> str:
    """Hex SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class RepeatedKey(ValueError):
    """A key stands twice in one JSON object; ``key`` is it."""

    def __init__(self, key: str) -> None:
        super().__init__("a name appears twice")
        self.key = key


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """``object_pairs_hook`` of ``json.loads`` that raises ``RepeatedKey`` instead of losing one."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise RepeatedKey(key)
        found[key] = value
    return found
