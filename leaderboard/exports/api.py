"""``api/v1``: the boards and entries as small JSON documents."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmark import __version__
from leaderboard.building.reuse import Shelf
from leaderboard.definitions import GENERATOR_COLUMNS
from leaderboard.exports.rows import CURRENT, OLDER, about, record_path
from leaderboard.pages.citing import Citation, kind_of, page_path
from leaderboard.ranking.entries import Past
from leaderboard.reading.records import Score, compact

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard, AnyEntry
    from leaderboard.building.content import Content

VERSION = 1
ROOT = f"api/v{VERSION}"
_SPREADS = frozenset(column.key for column in GENERATOR_COLUMNS if column.kind == "spread")


def write_api(shelf: Shelf, content: "Content", release: str | None, releases: list[str]) -> None:
    """An index, and one document a board; paths in them are from the site's root.

    ``release`` is the one that these pages belong to.
    """
    boards = [board for board in content.all_boards if board.entries or board.older]
    names: dict[str, str] = {}
    for _, entry in content.each():
        names.setdefault(entry.record.id, entry.record.name)
    for board in boards:
        rows = [_place(board, entry) for entry in (*board.entries, *board.older)]
        document = _document({**about(board), "entries": rows})
        (shelf.folder / ROOT / "boards" / f"{board.slug}.json").write_bytes(document)
    index = {
        "suite": __version__,
        "release": release,
        "releases": [{"name": name, "page": f"r/{name}/index.html"} for name in releases],
        "boards": [
            {
                "slug": board.slug,
                "title": board.title,
                "kind": kind_of(board),
                "entries": len(board.entries),
                "page": f"boards/{board.slug}.html",
                "api": f"{ROOT}/boards/{board.slug}.json",
            }
            for board in boards
        ],
        "entries": [
            {"id": each, "name": name, "api": f"{ROOT}/entries/{each}.json"}
            for each, name in sorted(names.items())
        ],
    }
    (shelf.folder / ROOT / "index.json").write_bytes(_document(index))


RANK = "\0rank {}\0"
"""What stands for the rank on a board, of which ``entry_document`` has the slug."""


def with_rank(document: bytes, board: "AnyBoard", entry: "AnyEntry") -> bytes:
    """The document with the rank of ``entry`` on ``board`` in its place."""
    mark = json.dumps(RANK.format(board.slug))
    rank = json.dumps(_rank(entry), sort_keys=True, separators=(",", ":"))
    return document.replace(mark.encode(), rank.encode())


def entry_document(name: str, places: Sequence[tuple["AnyBoard", "AnyEntry", Citation]]) -> bytes:
    """The document of one entry with all its boards, with marks in place of its ranks."""
    submission = places[0][1].submission
    return _document(
        {
            "id": name,
            "name": places[0][1].record.name,
            "submission": None if submission is None else submission.document,
            "boards": [
                {
                    "board": board.slug,
                    "title": board.title,
                    "kind": kind_of(board),
                    **_place(board, entry),
                    "rank": RANK.format(board.slug),
                    "badge": citation.badge,
                    "citation": {"text": citation.text, "permalink": citation.permalink},
                    "claimed": dict(entry.claimed),
                    "history": [_past(past) for past in entry.history],
                }
                for board, entry, citation in places
            ],
        }
    )


def _document(content: dict[str, Any]) -> bytes:
    return compact({"api_version": VERSION, **content}).encode()


def _past(past: Past) -> dict[str, Any]:
    return {
        "version": past.version,
        "date": past.date,
        "older_data": past.older_data,
        "record": past.path,
        "record_sha256": past.sha256,
        "scores": {key: _score(key, score) for key, score in past.values.items()},
    }


def _place(board: "AnyBoard", entry: "AnyEntry") -> dict[str, Any]:
    record = entry.record
    scores = {column.key: record.score(column.key) for column in board.columns}
    status = "withdrawn" if entry.withdrawn else OLDER if entry.older_data else CURRENT
    return {
        "id": record.id,
        "status": status,
        "rank": _rank(entry),
        "scores": {key: _score(key, score) for key, score in scores.items() if score is not None},
        "exposure": list(entry.exposure),
        "version": entry.version,
        "measured_at": record.document["timing"]["measured_at"],
        "page": page_path(board, entry),
        "record": record_path(board, entry),
        "record_sha256": record.sha256,
    }


def _rank(entry: "AnyEntry") -> dict[str, int] | None:
    return None if entry.rank is None else asdict(entry.rank)


def _score(key: str, score: Score) -> dict[str, Any]:
    return {
        "kind": "spread" if key in _SPREADS else "interval",
        "value": score.value,
        "ci95": None if score.ci95 is None else list(score.ci95),
        "n": score.n,
        "not_applicable": dict(score.not_applicable),
    }
