"""Features on disk: kept once complete, resumed while they are not, never read half-written.

One folder per key, below ``features/`` in the cache folder:

- ``key.json``: what the features were made from;
- ``images.npy``, ``base.npy``, ``edited.npy``: float32 (rows, D);
- ``complete.json``: written last; rows and SHA-256 of each array;
- ``work/``: while they are being made, ``rows.f32`` with a row for each distinct picture, and
  ``journal``, a line of JSON for each block of rows that is on disk.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing, write_bytes, write_json

FORMAT = 2
TABLES = ("images", "base", "edited")
COPY_ROWS = 4096

_log = logging.getLogger(__name__)


class FeatureStore:
    """The folder that belongs to one key: the same key, the same features."""

    def __init__(self, home: Path, key: Mapping[str, Any]) -> None:
        self.key = {**key, "format": FORMAT}
        text = json.dumps(self.key, sort_keys=True)
        self.folder = home / "features" / hashlib.sha256(text.encode()).hexdigest()[:32]

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the key for one process at a time; a killed process lets go of it."""
        with self._explained():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder.with_suffix(".lock"))
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def read(self) -> dict[str, np.ndarray] | None:
        """The complete arrays, read-only and memory-mapped; None where they have to be made.

        Every byte is compared with the recorded hash, so a damaged file counts as absent.
        """
        complete = self.folder / "complete.json"
        if not complete.exists():
            return None
        try:
            if json.loads((self.folder / "key.json").read_bytes()) != self.key:
                raise ValueError("key.json has another key")
            recorded = json.loads(complete.read_bytes())
            return {table: self._table(table, recorded[table]) for table in TABLES}
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("features in %s are damaged (%s): making them again", self.folder, error)
            return None

    def _table(self, table: str, recorded: dict[str, Any]) -> np.ndarray:
        path = self.folder / f"{table}.npy"
        if file_sha256(path) != recorded["sha256"]:
            raise ValueError(f"{path.name} differs from its recorded hash")
        # An array without rows has no bytes to map.
        array: np.ndarray = np.load(
            path, mmap_mode="r" if recorded["rows"] else None, allow_pickle=False
        )
        array.flags.writeable = False
        return array

    def finish(self, work: "Work", rows_of: Mapping[str, np.ndarray]) -> None:
        """Write the arrays from the rows in ``work``, then drop it.

        ``rows_of`` gives for each table the row of ``work`` that belongs to each of its rows.
        """
        with self._explained():
            distinct = work.rows()
            recorded = {}
            for table in TABLES:
                rows = rows_of[table]
                path = self.folder / f"{table}.npy"
                with replacing(path) as temporary:
                    _copy_rows(temporary, distinct, rows)
                recorded[table] = {"rows": len(rows), "sha256": file_sha256(path)}
            write_json(self.folder / "complete.json", recorded)
            shutil.rmtree(work.folder)

    def work(self, *, rows: int, dim: int, block_rows: int, runtime: str) -> "Work":
        """The unfinished work of this key, with whatever of it can be trusted (under the lock)."""
        with self._explained():
            (self.folder / "complete.json").unlink(missing_ok=True)
            # What replacing() leaves when the process is killed inside it.
            for left in self.folder.glob(".*.tmp"):
                left.unlink()
            write_json(self.folder / "key.json", self.key)
            return Work(self.folder / "work", rows, dim, block_rows, runtime)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        with explained(self.folder):
            yield


class Work:
    """Blocks of rows that are done; what a killed process leaves behind is still good."""

    def __init__(self, folder: Path, rows: int, dim: int, block_rows: int, runtime: str) -> None:
        self.folder = folder
        self.shape = (rows, dim)
        self.block_rows = block_rows
        header = {"rows": rows, "dim": dim, "block_rows": block_rows, "runtime": runtime}
        folder.mkdir(exist_ok=True)
        self.done = self._trusted(header)
        lines = [header, *({"block": b, "sha256": digest} for b, digest in self.done.items())]
        # Rewritten whole, so that a line cut short by a kill is not continued.
        write_bytes(self._journal, b"".join(_line(line) for line in lines))

    @property
    def blocks(self) -> int:
        """Number of blocks, done or not."""
        return -(-self.shape[0] // self.block_rows)

    def span(self, block: int) -> tuple[int, int]:
        """First row of a block, and the row after its last."""
        start = block * self.block_rows
        return start, min(start + self.block_rows, self.shape[0])

    def rows_done(self) -> int:
        """Number of rows in the blocks that are done."""
        return sum(stop - start for start, stop in map(self.span, self.done))

    def add(self, block: int, features: np.ndarray) -> None:
        """Store a block; it is on disk before the journal names it."""
        data = np.ascontiguousarray(features, dtype="<f4").tobytes()
        with explained(self.folder):
            self._rows.touch()
            with self._rows.open("r+b") as stream:
                stream.seek(self._offset(block))
                stream.write(data)
                _sync(stream)
            self.done[block] = hashlib.sha256(data).hexdigest()
            with self._journal.open("ab") as stream:
                stream.write(_line({"block": block, "sha256": self.done[block]}))
                _sync(stream)

    def rows(self) -> np.ndarray:
        """All rows: float32 (rows, D), read-only."""
        if not self.shape[0]:
            return np.empty(self.shape, dtype="<f4")
        return np.memmap(self._rows, "<f4", "r", shape=self.shape)

    @property
    def _rows(self) -> Path:
        return self.folder / "rows.f32"

    @property
    def _journal(self) -> Path:
        return self.folder / "journal"

    def _offset(self, block: int) -> int:
        return block * self.block_rows * self.shape[1] * 4

    def _trusted(self, header: dict[str, Any]) -> dict[int, str]:
        """Blocks that the journal names, made in the same way, and whose bytes have that hash."""
        done: dict[int, str] = {}
        try:
            lines = self._journal.read_bytes().splitlines(keepends=True)
            if not lines or json.loads(lines[0]) != header:
                return {}
            with self._rows.open("rb") as stream:
                for line in lines[1:]:
                    if not line.endswith(b"\n"):
                        break
                    entry = json.loads(line)
                    block, digest = int(entry["block"]), str(entry["sha256"])
                    if block not in range(self.blocks):
                        break
                    start, stop = self.span(block)
                    stream.seek(self._offset(block))
                    data = stream.read((stop - start) * self.shape[1] * 4)
                    if hashlib.sha256(data).hexdigest() == digest:
                        done[block] = digest
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            # Blocks checked before the fault stay good.
            return done
        return done


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn a failure to write below ``folder`` into one line that says what to do."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write the feature cache {folder}: {error.strerror or error}; free space "
            "there, or set ASSAY_HOME to another folder"
        ) from error


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, sort_keys=True).encode() + b"\n"


def _sync(stream: Any) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _copy_rows(path: Path, source: np.ndarray, rows: np.ndarray) -> None:
    shape = (len(rows), source.shape[1])
    if not len(rows):
        with path.open("wb") as stream:
            np.save(stream, np.empty(shape, dtype="<f4"))
        return
    target = np.lib.format.open_memmap(path, mode="w+", dtype="<f4", shape=shape)
    # In pieces, so that memory does not grow with the dataset.
    for start in range(0, len(rows), COPY_ROWS):
        target[start : start + COPY_ROWS] = source[rows[start : start + COPY_ROWS]]
    target.flush()
