"""What holds a release together: the seal of its document, and that its parts agree."""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from leaderboard.reading.records import DAME, compact

DOCUMENT, PAGES = "release.json", "pages.zip"
CITATION, BIBTEX = "CITATION.cff", "citation.bib"
RESTORE = "restore it from the commit of the release"
_NUMBERS = ("value", "ci95", "n")


def seal(document: Mapping[str, Any]) -> str:
    """SHA-256 of a release's document without its seal, whatever the layout of the file."""
    rest = {key: value for key, value in document.items() if key != "seal"}
    return hashlib.sha256(compact(rest).encode()).hexdigest()


def check_seal(path: Path, document: Mapping[str, Any]) -> None:
    """Raise a ``UserError`` where ``document``, read from ``path``, is not the one sealed."""
    if document["seal"] != seal(document):
        raise UserError(f"{path}: changed since the release was frozen; {RESTORE}")


def check_files(folder: Path, document: Mapping[str, Any]) -> None:
    """Raise a ``UserError`` naming a file that is absent, changed, or none of the release's."""
    expected = {
        PAGES: document["pages"]["sha256"],
        **document["citations"],
        **document["records"],
    }
    for name, sha256 in expected.items():
        path = folder / name
        if path.is_symlink() or not path.is_file() or file_sha256(path) != sha256:
            raise UserError(
                f"{path}: not the file that was frozen (SHA-256 {sha256[:16]}…); {RESTORE}"
            )
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in expected and name != DOCUMENT and path.name[0] != ".":
            raise UserError(f"{path}: not part of release {document['name']}; remove it")


def check_parts(folder: Path, document: Mapping[str, Any]) -> None:
    """Raise a ``UserError`` where boards say something else than records and pages do.

    The files must be those that were frozen. Records are read as they are, not by the schema of
    today: a release outlives it.
    """
    pages = _pages(folder / PAGES)
    for board in document["boards"]:
        for entry in board["entries"]:
            for what, stated, expected in _parts(folder, document, board, entry):
                if stated != expected:
                    raise UserError(
                        f"{folder / DOCUMENT}: {entry['id']} on {board['slug']}: {what} is "
                        f"{_short(stated)}, expected {_short(expected)} by the frozen files; "
                        f"{RESTORE}"
                    )
            if (page := entry["page"].partition("#")[0]) not in pages:
                raise UserError(f"{folder / PAGES}: no {page}; {RESTORE}")


def _parts(
    folder: Path, document: Mapping[str, Any], board: Mapping[str, Any], entry: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """What an entry states, and what its files say: what it is, the one, the other."""
    kind, slug, name = board["kind"], board["slug"], entry["id"]
    yield "page", entry["page"], f"{kind}/{name}.html#{slug}"
    yield "record", entry["record"], f"records/{kind}/{name}/{slug}.json"
    yield "record_sha256", entry["record_sha256"], document["records"].get(entry["record"])
    record = json.loads((folder / entry["record"]).read_bytes())
    yield "id", name, record["submission"]["id"]
    own = f"records/{kind}/{name}/submission.json"
    called = record["submission"]
    if own in document["records"]:
        called = json.loads((folder / own).read_bytes())
    yield "name", entry["name"], called["name"]
    for column in board["columns"]:
        key = column["key"]
        found = _score(record["scores"], key)
        if found is None and key.startswith(DAME):
            continue  # of a judgement beside the record
        yield key, _numbers(entry["values"].get(key)), _numbers(found)


def _score(scores: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    if key.startswith(DAME):
        scores, key = scores.get("dame", {}), key.removeprefix(DAME)
    return scores.get(key)


def _numbers(score: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if score is None else {name: score[name] for name in _NUMBERS}


def _short(stated: Any) -> str:
    text = json.dumps(stated, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _pages(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (zipfile.BadZipFile, OSError) as error:
        raise UserError(f"{path}: cannot be unpacked ({error}); {RESTORE}") from error
