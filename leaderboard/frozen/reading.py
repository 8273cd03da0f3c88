"""Reading releases back, every byte checked against what was frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from leaderboard.citing import Permalink
from leaderboard.frozen.names import NAME, order
from leaderboard.frozen.zips import unpack
from leaderboard.records import read

DOCUMENT, PAGES = "release.json", "pages.zip"


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


def load_releases(folder: Path) -> tuple[Frozen, ...]:
    """Every release in ``folder``, newest first; () where there is none.

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
        found.append(_load(place))
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


def _load(folder: Path) -> Frozen:
    document = read(folder / DOCUMENT, "release")
    if document["name"] != folder.name:
        raise UserError(
            f"{folder / DOCUMENT}: name {document['name']!r}, expected {folder.name!r}, the "
            "folder's; restore the file"
        )
    expected = {PAGES: document["pages"]["sha256"], **document["records"]}
    for name, sha256 in expected.items():
        path = folder / name
        if ".." in name or not path.is_file() or file_sha256(path) != sha256:
            raise UserError(
                f"{path}: not the file that was frozen (SHA-256 {sha256[:16]}…); restore it from "
                "the commit of the release"
            )
    return Frozen(folder, document)
