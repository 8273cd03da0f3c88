"""Taking over from the site that stands there what would come out the same."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

from leaderboard.building.cache import Cache, key_of
from leaderboard.reading.records import compact

Stamp = list[object]
"""Key of the content, size and time of the file that holds it."""


class Shelf:
    """Files of an earlier site, known by what they were made from.

    A file is taken over, by a link and without reading it, where its key is the wanted one and
    neither its size nor its time changed since it was written.
    """

    def __init__(self, folder: Path, earlier: Path | None, cache: Cache) -> None:
        """Fill ``folder``, a new one, perhaps from the site ``earlier``."""
        self.folder, self._earlier, self._cache = folder, earlier, cache
        self._old, self._new = (
            str(earlier),
            str(folder),
        )  # joined as text: quick, ten thousand times
        self._known = self._read()
        self._written: dict[str, Stamp] = {}

    def has(self, path: str, key: str) -> bool:
        """Whether the earlier site holds it; without a key it never does."""
        found = self._known.get(path)
        if not key or found is None or found[0] != key or self._earlier is None:
            return False
        return _stamp(f"{self._old}/{path}", key) == found

    def put(self, path: str, key: str, make: Callable[[], bytes]) -> None:
        """Write what ``make`` returns to ``path``, or take it over under ``key``."""
        target = f"{self._new}/{path}"
        if self.has(path, key) and self._link(path, target):
            self._written[path] = self._known[path]
            return
        Path(target).write_bytes(make())
        if (stamp := _stamp(target, key)) is not None:
            self._written[path] = stamp

    def close(self) -> None:
        """Remember what was written for the next build of the same place."""
        if self._earlier is not None:
            self._cache.write("shelf", self._place(), compact(self._written).encode())

    def _link(self, path: str, target: str) -> bool:
        try:
            os.link(f"{self._old}/{path}", target, follow_symlinks=False)
        except OSError:  # another file system, or one without links
            return False
        return True

    def _read(self) -> dict[str, Stamp]:
        if self._earlier is None:
            return {}
        content = self._cache.read("shelf", self._place())
        known: dict[str, Stamp] = {} if content is None else json.loads(content)
        return known

    def _place(self) -> str:
        return key_of([str((self._earlier or self.folder).resolve())])


def _stamp(path: str, key: str) -> Stamp | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [key, status.st_size, status.st_mtime_ns] if stat.S_ISREG(status.st_mode) else None
