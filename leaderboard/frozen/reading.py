"""Reading releases back, every byte checked against what was frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from leaderboard.building.cache import Cache, key_of
from leaderboard.frozen.names import NAME, order
from leaderboard.frozen.sealing import DOCUMENT, PAGES, check_files, check_parts, check_seal
from leaderboard.frozen.zips import unpack
from leaderboard.pages.citing import Permalink
from leaderboard.reading.records import read


@dataclass(frozen=True)
class Frozen:
    """One release; ``document`` is its ``release.json``."""

    folder: Path
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def date(self) -> str:
        """Day it was frozen."""
        return str(self.document["date"])

    @property
    def root(self) -> str:
        """Of its pages, from the root of the newest site."""
        return f"r/{self.name}/"

    @property
    def n_entries(self) -> int:
        return sum(len(board["entries"]) for board in self.document["boards"])

    def unpack(self, out: Path) -> None:
        """Its pages into ``out/r/<name>``."""
        target = out / "r" / self.name
        target.mkdir(parents=True)
        unpack(self.folder / PAGES, target, self.document["pages"])


def load_releases(folder: Path, cache: Cache | None = None) -> tuple[Frozen, ...]:
    """Every release in ``folder``, newest first; () where there is none.

    Args:
        cache: remembers of which releases all numbers were compared with their records.

    Raises:
        UserError: a file that is not what was frozen, named.
    """
    if not folder.is_dir():
        return ()
    found = []
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or place.is_file():
            continue
        if not NAME.fullmatch(place.name):
            raise UserError(f"{place}: no release; expected folders like {folder}/2026.1")
        found.append(load_release(place, place.name, cache))
    return tuple(sorted(found, key=lambda release: order(release.name), reverse=True))


def permalinks(releases: Sequence[Frozen]) -> dict[str, Permalink]:
    """Record's hash → the newest release that holds it."""
    found: dict[str, Permalink] = {}
    for release in releases:
        for board in release.document["boards"]:
            for entry in board["entries"]:
                link = Permalink(release.name, release.date, release.root, entry["page"])
                found.setdefault(entry["record_sha256"], link)
    return found


def load_release(folder: Path, name: str, cache: Cache | None = None) -> Frozen:
    """The release ``name`` in ``folder``; arguments and errors as for ``load_releases``."""
    path = folder / DOCUMENT
    document = read(path, "release")
    if document["name"] != name:
        raise UserError(
            f"{path}: name {document['name']!r}, expected {name!r}, the folder's; restore the file"
        )
    check_seal(path, document)
    check_files(folder, document)
    # with the same seal and the same files, what was found once is so for good
    key = key_of([document["seal"]])
    if cache is None or cache.read("release", key) is None:
        check_parts(folder, document)
        if cache is not None:
            cache.write("release", key, b"")
    return Frozen(folder, document)
