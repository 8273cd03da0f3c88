"""The page of every entry, and the files that belong to it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

from markupsafe import Markup

from leaderboard.building.bodies import (
    AnyBoard,
    AnyEntry,
    Body,
    body_of,
    make_bodies,
    measured,
    record_text,
    script_of,
)
from leaderboard.building.cache import Cache, key_of
from leaderboard.building.content import Content
from leaderboard.building.pool import Pool
from leaderboard.building.reuse import Shelf
from leaderboard.exports.api import entry_document, with_rank
from leaderboard.exports.rows import record_path
from leaderboard.pages.badges import badge
from leaderboard.pages.citing import (
    Citation,
    Citing,
    badge_path,
    cite,
    kind_of,
    page_path,
)  # fmt: skip
from leaderboard.pages.gallery import PER_QUARTILE, STRONGEST, gallery_view
from leaderboard.pages.identity import identity
from leaderboard.pages.pictures import Pictures
from leaderboard.pages.sae import Measurement
from leaderboard.ranking.boards import Board
from leaderboard.reading.records import Record
from leaderboard.reading.slim import whole_text


@dataclass(frozen=True)
class Section:
    """One board on the page of an entry; ``standing`` says where it stands among the others."""

    board: AnyBoard
    entry: AnyEntry
    body: Markup
    standing: Markup
    citation: Citation
    record_path: str
    record_sha256: str


class Render(Protocol):
    """What makes a page of a template."""

    def __call__(self, path: str, template: str, **context: Any) -> bytes: ...


@dataclass(frozen=True)
class _Part:
    """One board of an entry before its page is written.

    Attributes:
        frame: equal where the page is equal but for the entry's standing.
        state: equal where all is.
    """

    board: AnyBoard
    entry: AnyEntry
    body: Body
    citing: Citing
    frame: str
    state: str

    @cached_property
    def citation(self) -> Citation:
        return cite(self.board, self.entry, self.citing)

    @property
    def mark(self) -> str:
        """What stands in the frame for the standing; no text of a page can hold it."""
        return f"\0{self.board.slug}\0"


class EntryPages:
    """Writes pages, records, badges, scripts and API documents of all entries."""

    def __init__(
        self,
        content: Content,
        citing: Citing,
        render: Render,
        shelf: Shelf,
        pictures: Pictures,
        cache: Cache,
    ) -> None:
        self._content, self._citing, self._render = content, citing, render
        self._shelf, self._pictures, self._cache = shelf, pictures, cache

    def write(self, site: Any, pool: Pool) -> None:
        """Everything; ``site`` is what the pages show of the site around them."""
        pages = self._pages(key_of([asdict(site)]))
        make_bodies([part.body for path, parts in pages.items() for part in parts
                     if not self._shelf.has(path, _key(parts))], pool)  # fmt: skip
        for path, parts in pages.items():
            self._write_page(path, parts)
            for part in parts:
                self._write_files(part)
        for name, parts in self._by_id(pages).items():
            self._write_document(name, parts)

    def _write_document(self, name: str, parts: Sequence[_Part]) -> None:
        def make() -> bytes:
            key = key_of([name, [part.frame for part in parts]])
            document = self._cache.read("api", key)
            if document is None:
                places = [(part.board, part.entry, part.citation) for part in parts]
                document = entry_document(name, places)
                self._cache.write("api", key, document)
            for part in parts:
                document = with_rank(document, part.board, part.entry)
            return document

        self._shelf.put(f"api/v1/entries/{name}.json", _key(parts), make)

    def _pages(self, site: str) -> dict[str, list[_Part]]:
        """Path of a page → its parts."""
        pages: dict[str, list[_Part]] = defaultdict(list)
        for board, entry in self._content.each():
            file = self._content.files[entry.record.sha256]
            body = Body.of(board, entry, file, self._cache, self._pictures)
            link = self._citing.permalinks.get(entry.record.sha256)
            around = [self._citing.base_url, self._citing.inside, link and asdict(link)]
            frame = key_of([site, body.key, bool(board.entries), *around])
            at = entry.rank
            rank = None if at is None else (at.place, at.best, at.worst)
            state = key_of([frame, rank, len(board.ranked)])
            path = page_path(board, entry).partition("#")[0]
            pages[path].append(_Part(board, entry, body, self._citing, frame, state))
        return pages

    def _by_id(self, pages: Mapping[str, list[_Part]]) -> dict[str, list[_Part]]:
        found: dict[str, list[_Part]] = defaultdict(list)
        for parts in pages.values():
            for part in parts:
                found[part.entry.record.id].append(part)
        return found

    def _write_page(self, path: str, parts: Sequence[_Part]) -> None:
        if any(part.body.is_apart for part in parts):
            for part in parts:
                self._write_galleries(part)
            # its pictures must be written too
            self._shelf.put(path, "", lambda: self._page(path, parts))
        else:
            self._shelf.put(path, _key(parts), lambda: self._page(path, parts))

    def _page(self, path: str, parts: Sequence[_Part]) -> bytes:
        key = key_of([path, [part.frame for part in parts]])
        kept = not any(part.body.is_apart for part in parts)
        page = self._cache.read("page", key) if kept else None
        if page is None:
            page = self._frame(path, parts)
            if kept:
                self._cache.write("page", key, page)
        for part in parts:
            page = page.replace(part.mark.encode(), self._standing(path, part))
        return page

    def _standing(self, path: str, part: _Part) -> bytes:
        return self._render(
            path,
            "standing.html.j2",
            kind=kind_of(part.board),
            entry=part.entry,
            n_ranked=len(part.board.ranked),
        ).strip()

    def _frame(self, path: str, parts: Sequence[_Part]) -> bytes:
        """The page with marks where standings go."""
        sections = [
            Section(
                board=part.board,
                entry=part.entry,
                body=Markup(body_of(part.body, self._pictures)),
                standing=Markup(part.mark),
                citation=part.citation,
                record_path=record_path(part.board, part.entry),
                record_sha256=part.entry.record.sha256,
            )
            for part in parts
        ]
        template = "sae.html.j2" if path.startswith("saes/") else "generator.html.j2"
        return self._render(path, template, who=identity(sections), sections=sections)

    def _write_files(self, part: _Part) -> None:
        board, entry, body = part.board, part.entry, part.body
        put = self._shelf.put
        put(record_path(board, entry), body.record, lambda: record_text(body))
        for past in entry.history:
            file, sha256 = self._content.files[past.sha256], past.sha256
            put(past.path, sha256, lambda f=file, s=sha256: whole_text(f, s, self._cache))  # type: ignore[misc]
        put(badge_path(board, entry), body.key, lambda: badge(board, entry).encode())
        if isinstance(board, Board):
            path = f"compare/{board.slug}/{entry.record.id}.js"
            put(path, body.key, lambda: script_of(body))

    def _write_galleries(self, part: _Part) -> None:
        record = part.entry.record
        if not isinstance(record, Record) or not record.judged:
            return
        measurement: Measurement = measured(part.body, self._pictures)
        folder = self._shelf.folder
        for judged in measurement.judged:
            if judged.gallery is None:
                continue
            judgement = record.judged[judged.judge]
            for place in (folder / "saes" / record.id, folder / "judgements"):
                place.mkdir(exist_ok=True)
            (folder / judgement.path).write_bytes(judgement.text.encode())
            html = self._render(
                judged.gallery,
                "latents.html.j2",
                record=record,
                title=measurement.board.title,
                document=judgement.document,
                judged=judged,
                view=gallery_view(f"spread-{judged.key}", judgement, self._pictures),
                per_quartile=PER_QUARTILE,
                strongest=STRONGEST,
            )
            (folder / judged.gallery).write_bytes(html)


def _key(parts: Sequence[_Part]) -> str:
    return key_of([part.state for part in parts])
