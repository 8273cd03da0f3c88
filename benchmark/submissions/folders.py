"""What may lie in a submission's folder: looked at without opening anything."""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark.submissions.documents import DOCUMENT, RESULTS, named
from benchmark.submissions.ids import DEVICES
from benchmark.submissions.problems import Problem, problem, visible
from benchmark.submissions.reading import MAX_DOCUMENT

MAX_FOLDER = 4 * 2**20
"""Bytes of a folder's own files; results are the suite's and do not count."""
MAX_UNPACKED = 64 * 2**20
"""Bytes that the pictures of a folder's file come to, however the file packs them."""
MAX_ENTRIES = 64
"""Files and folders beside each other."""

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


@dataclass(frozen=True)
class Entry:
    """A name in a folder, and what stands behind it, links not followed."""

    path: Path
    mode: int
    size: int

    @property
    def is_file(self) -> bool:
        """Whether it is an ordinary file."""
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder and no link to one."""
        return stat.S_ISDIR(self.mode)


def entries(folder: Path) -> list[Entry]:
    """What lies in a folder, sorted by name; empty where it is no folder."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        found.append(Entry(path, status.st_mode, status.st_size))
    return found


def is_small(path: Path) -> bool:
    """Whether ``path`` is an ordinary file of a size that a folder may have."""
    return not path.is_symlink() and path.is_file() and path.stat().st_size <= MAX_FOLDER


def odd_entries(found: Iterable[Entry]) -> Iterator[Problem]:
    """Links, devices, hidden and executable files."""
    for entry in found:
        kind = next((name for test, name in _KINDS if test(entry.mode)), None)
        if kind is not None:
            yield problem(
                named(entry.path), "", kind, "an ordinary file", "put the file itself there"
            )
        elif entry.path.name.startswith("."):
            yield problem(named(entry.path), "", "a hidden file", "no hidden files", "delete it")
        elif entry.is_file and entry.mode & 0o111:
            yield problem(
                named(entry.path),
                "",
                "an executable file",
                "data that nobody can run",
                f"run: chmod 644 {entry.path.name}",
            )


def folder_problems(folder: Path, declared: Iterable[str] | None) -> Iterator[Problem]:
    """Faults of what lies in a submission's folder.

    Args:
        folder: of the submission.
        declared: names of the files that the document says are there; None where it cannot be
            read, and any file may be one.
    """
    found = entries(folder)
    if len(found) > MAX_ENTRIES:
        yield problem(
            named(folder),
            "",
            f"{len(found)} entries",
            f"at most {MAX_ENTRIES}",
            "keep only what the document names",
        )
        return
    yield from odd_entries(found)
    yield from _names(found)
    known = None if declared is None else {DOCUMENT, *declared}
    for entry in found:
        if entry.path.name.startswith("."):
            continue
        if entry.is_folder and entry.path.name != RESULTS:
            yield problem(
                named(entry.path), "", "a folder", f"no folder but {RESULTS}/", "delete it"
            )
        elif entry.is_file and known is not None and entry.path.name not in known:
            yield problem(
                named(entry.path),
                "",
                "a file that the document does not name",
                f"only {', '.join(sorted(known))}",
                "delete it, or name it under files",
            )
    yield from _sizes(folder, found)


def _names(found: Iterable[Entry]) -> Iterator[Problem]:
    """Names that other systems cannot tell apart, or take for a device."""
    first: dict[str, str] = {}
    for entry in found:
        name = entry.path.name
        other = first.setdefault(name.casefold(), name)
        if other != name:
            expected = f"a name that differs from {visible(other)} by more than case"
            yield problem(named(entry.path), "", name, expected, "rename it")
        if name.split(".")[0].casefold() in DEVICES or name.endswith("."):
            expected = "a name that every system can store"
            yield problem(named(entry.path), "", name, expected, "rename it")


def _sizes(folder: Path, found: Iterable[Entry]) -> Iterator[Problem]:
    files = [entry for entry in found if entry.is_file]
    total = sum(entry.size for entry in files)
    if total > MAX_FOLDER:
        yield problem(
            named(folder),
            "",
            f"{total:,} bytes",
            f"at most {MAX_FOLDER:,} bytes of files",
            "put the files on the Hub and name repo and full revision under hub",
        )
    for entry in files:
        if entry.path.name == DOCUMENT and entry.size > MAX_DOCUMENT:
            yield problem(
                named(entry.path),
                "",
                f"{entry.size:,} bytes",
                f"at most {MAX_DOCUMENT:,} bytes",
                "shorten it",
            )
