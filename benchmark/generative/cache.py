"""Results of single images on disk, by the hash of the image's bytes.

One folder a key, below ``images/`` in the cache folder:

- ``key.json``: what the results were made with (model, attributes, options);
- ``rows.bin``: one row of a fixed size an image, appended; each ends in its own checksum.

A killed process loses no row that is written: a torn last one is cut off, and one whose checksum
is wrong counts as absent. Rows of images that are in no set any more stay; the folder can be
deleted at any time.
"""

import hashlib
import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from filelock import FileLock

from benchmark.errors import UserError
from benchmark.files import write_json

FORMAT = 2
READ_ROWS = 64

_log = logging.getLogger(__name__)

Field = tuple[str, str, tuple[int, ...]]
"""Name, NumPy type and shape of one part of a row."""


class RowCache:
    """Rows of one key; a context manager that holds the key for this process.

    Args:
        home: the cache folder.
        key: JSON values; any change is another cache.
        fields: parts of a row.
    """

    def __init__(self, home: Path, key: Mapping[str, Any], fields: Sequence[Field]) -> None:
        parts: list[Field] = [("digest", "u1", (32,)), *fields, ("check", "<u4", ())]
        self.dtype = np.dtype(parts)
        self.key = {**key, "format": FORMAT, "fields": [list(map(str, part)) for part in parts]}
        text = json.dumps(self.key, sort_keys=True)
        self.folder = home / "images" / hashlib.sha256(text.encode()).hexdigest()[:32]
        self._places: dict[bytes, int] = {}

    def __enter__(self) -> "RowCache":
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder.with_suffix(".lock"))
            self._lock.acquire()
            try:
                self._open()
            except BaseException:
                self._lock.release()
                raise
        except OSError as error:
            raise UserError(
                f"the cache of image scores {self.folder}: {error.strerror or error}; set "
                "ASSAY_HOME to a folder that can be written"
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._lock.release()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._places

    def __len__(self) -> int:
        return len(self._places)

    def add(self, digests: Sequence[bytes], parts: Mapping[str, np.ndarray]) -> None:
        """Append rows and see them onto the disk.

        Args:
            digests: SHA-256 of each image's bytes.
            parts: by field name, one entry an image.
        """
        rows = np.zeros(len(digests), self.dtype)
        rows["digest"] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
        for name, values in parts.items():
            rows[name] = values
        rows["check"] = _checks(rows)
        start = self._count
        self._stream.write(rows.tobytes())
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._count += len(rows)
        self._places |= {digest: start + place for place, digest in enumerate(digests)}

    def read(self, digests: Sequence[bytes], rows: int = READ_ROWS) -> Iterator[np.ndarray]:
        """The rows of these images in order, at most ``rows`` at a time; all must be there."""
        for start in range(0, len(digests), rows):
            places = [self._places[digest] for digest in digests[start : start + rows]]
            yield np.array(self._table()[places])

    def _table(self) -> np.ndarray:
        """The file's rows; mapped anew each time, so that what was read need not stay in memory."""
        return np.memmap(self._path, self.dtype, "r", shape=(self._count,))

    @property
    def _path(self) -> Path:
        return self.folder / "rows.bin"

    def _open(self) -> None:
        written = self.folder / "key.json"
        if not written.exists():
            write_json(written, self.key)
        size = self.dtype.itemsize
        self._stream = self._path.open("ab")
        whole, rest = divmod(self._path.stat().st_size, size)
        if rest:
            self._stream.truncate(whole * size)
        self._count = whole
        if not whole:
            return
        damaged = 0
        for start in range(0, whole, READ_ROWS):
            rows = np.array(self._table()[start : start + READ_ROWS])
            good = rows["check"] == _checks(rows)
            damaged += int((~good).sum())
            for place in np.flatnonzero(good).tolist():
                self._places[rows["digest"][place].tobytes()] = start + place
        if damaged:
            _log.warning("%d damaged rows in %s: making them again", damaged, self._path)


def _checks(rows: np.ndarray) -> np.ndarray:
    """Checksum of each row without its last four bytes."""
    size = rows.dtype.itemsize
    data = memoryview(rows.tobytes())
    spans = (data[start : start + size - 4] for start in range(0, len(data), size))
    return np.fromiter((zlib.crc32(span) for span in spans), np.uint32, len(rows))
