"""Freezing the boards: records, pages and citations of a release, written once."""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing_dir, write_bytes, write_json
from leaderboard.building.cache import Cache
from leaderboard.building.content import Content
from leaderboard.building.pool import Pool
from leaderboard.building.writing import Around, Release, Writer
from leaderboard.frozen.names import order
from leaderboard.frozen.reading import load_release, load_releases
from leaderboard.frozen.sealing import BIBTEX, CITATION, DOCUMENT, PAGES, seal
from leaderboard.frozen.zips import pack
from leaderboard.pages.citing import (
    SUITE,
    TITLE,
    Citing,
    Permalink,
    cite,
    kind_of,
    latex,
    page_path,
)
from leaderboard.reading.records import compact
from leaderboard.reading.slim import whole_text

if TYPE_CHECKING:
    from benchmark.datasets import Dataset
    from leaderboard.building.bodies import AnyBoard, AnyEntry


def freeze(
    name: str,
    content: Content,
    releases: Path,
    *,
    date: str,
    cache: Cache,
    pool: Pool,
    base_url: str | None = None,
    repository: str | None = None,
    dataset: "Dataset | None" = None,
) -> Path:
    """Write the release ``name`` into ``releases/name``; returns that folder.

    Args:
        content: what the boards hold now.
        date: day of the release, YYYY-MM-DD.
        base_url: address of the site's root, for whole addresses in citations.
        repository: address of the project.
        dataset: pictures of edit pairs, where they may be shown.

    Raises:
        UserError: the release exists, a newer one does, or there is nothing to freeze.
    """
    _check(name, content, releases)
    here = f"r/{name}/"
    links = {
        entry.record.sha256: Permalink(name, date, here, page_path(board, entry))
        for board, entry in _shown(content)
    }
    citing = Citing(base_url, links, inside=name)
    count = sum(1 for _ in _shown(content))
    around = Around(citing, release=Release(name, date, count), repository=repository)
    with replacing_dir(releases / name) as folder:
        records = _write_records(folder, content, cache)
        with tempfile.TemporaryDirectory(prefix=".pages.", dir=releases) as temporary:
            Writer(Path(temporary), content, around, cache, pool).write(dataset)
            size, files = pack(Path(temporary), folder / PAGES)
        pages = {"sha256": file_sha256(folder / PAGES), "bytes": size, "files": files}
        document = _document(name, date, content)
        document |= {
            "records": records,
            "pages": pages,
            "citations": _write_citations(folder, name, date, content, citing),
        }
        write_json(folder / DOCUMENT, {**document, "seal": seal(document)})
        load_release(folder, name)  # what was written can be read
    return releases / name


def _check(name: str, content: Content, releases: Path) -> None:
    at = order(name)
    if (releases / name).exists():
        raise UserError(f"{releases / name}: is there already; a release is never written again")
    newer = [other.name for other in load_releases(releases) if order(other.name) > at]
    if newer:
        raise UserError(f"release {name}: {newer[0]} is there already; choose a later number")
    if not any(True for _ in _shown(content)):
        raise UserError(f"release {name}: no entry stands on a board; nothing to freeze")


def _shown(content: Content) -> Iterator[tuple["AnyBoard", "AnyEntry"]]:
    """Entries that a release holds: without those that were withdrawn."""
    return ((board, entry) for board, entry in content.each() if not entry.withdrawn)


def _record_path(board: "AnyBoard", entry: "AnyEntry") -> str:
    return f"records/{kind_of(board)}/{entry.record.id}/{board.slug}.json"


def _write_records(folder: Path, content: Content, cache: Cache) -> dict[str, str]:
    """Every record, and the document of its submission; returns SHA-256 by path."""
    written: dict[str, str] = {}

    def write(path: str, data: bytes) -> None:
        write_bytes(folder / path, data)
        written[path] = hashlib.sha256(data).hexdigest()

    for board, entry in _shown(content):
        text = whole_text(content.files[entry.record.sha256], entry.record.sha256, cache)
        write(_record_path(board, entry), text)
        if entry.submission is not None:
            path = f"records/{kind_of(board)}/{entry.record.id}/submission.json"
            write(path, compact(entry.submission.document).encode())
    return written


def _document(name: str, date: str, content: Content) -> dict[str, Any]:
    """What the release says itself, without the hashes of its files."""
    from benchmark.records import environment

    boards = [board for board in content.all_boards if board.entries or board.older]
    return {
        "schema_version": 1,
        "name": name,
        "date": date,
        "suite_version": __version__,
        "commit": environment()["commit"],
        "boards": [board_json(board) for board in boards],
    }


def board_json(board: "AnyBoard") -> dict[str, Any]:
    """A board with its entries and numbers as shown."""
    return {
        "slug": board.slug,
        "kind": kind_of(board),
        "title": board.title,
        "columns": [{"key": column.key, "label": column.head} for column in board.columns],
        "entries": [_entry_json(board, entry) for entry in (*board.entries, *board.older)],
    }


def _entry_json(board: "AnyBoard", entry: "AnyEntry") -> dict[str, Any]:
    rank, record = entry.rank, entry.record
    values = {}
    for column in board.columns:
        score, cell = record.score(column.key), entry.cells[column.key]
        if score is not None:
            values[column.key] = {
                "value": score.value,
                "ci95": None if score.ci95 is None else list(score.ci95),
                "n": score.n,
                "text": cell.text,
                "interval": cell.interval,
            }
    return {
        "id": record.id,
        "name": record.name,
        "rank": (
            None if rank is None else {"place": rank.place, "best": rank.best, "worst": rank.worst}
        ),
        "older_data": entry.older_data,
        "record": _record_path(board, entry),
        "record_sha256": record.sha256,
        "page": page_path(board, entry),
        "values": values,
    }


def _write_citations(
    folder: Path, name: str, date: str, content: Content, citing: Citing
) -> dict[str, str]:
    """The release as a whole and every entry, ready to be cited; returns SHA-256 by path."""
    url = None if citing.base_url is None else f"{citing.base_url}r/{name}/index.html"
    title = f"{TITLE}, release {name}"
    rows = {
        "cff-version": "1.2.0",
        "message": "If you quote numbers of this release, please cite it.",
        "title": title,
        "type": "dataset",
        "version": name,
        "date-released": date,
        **({} if url is None else {"url": url}),
    }
    # JSON's strings are YAML's
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in rows.items()]
    lines += ["authors:", f"  - name: {json.dumps(SUITE)}"]
    write_bytes(folder / CITATION, ("\n".join(lines) + "\n").encode())
    whole = [
        f"@misc{{assay-{name},",
        f"  author = {{{{{SUITE}}}}},",
        f"  title = {{{{{latex(title)}}}}},",
        f"  year = {{{date[:4]}}},",
        *([] if url is None else [f"  url = {{{url}}},"]),
        f"  note = {{Frozen on {date}}}",
        "}",
    ]
    entries = [cite(board, entry, citing).bibtex for board, entry in _shown(content)]
    write_bytes(folder / BIBTEX, ("\n".join(whole) + "\n\n" + "\n".join(entries)).encode())
    return {path: file_sha256(folder / path) for path in (CITATION, BIBTEX)}
