"""Writing the pages of a site into an empty folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark import __version__
from leaderboard.building.bodies import AnyBoard
from leaderboard.building.cache import Cache
from leaderboard.building.content import Content
from leaderboard.building.entry_pages import EntryPages
from leaderboard.building.pool import Pool
from leaderboard.building.reuse import Shelf
from leaderboard.building.templating import make_environment
from leaderboard.definitions import GROUPS, SOURCES
from leaderboard.exports import ConceptTables, write_exports
from leaderboard.pages.citing import Citing
from leaderboard.pages.pictures import Pictures
from leaderboard.ranking.boards import Board
from leaderboard.ranking.changes import Changes
from leaderboard.reading.comparison import copy_comparison
from leaderboard.views.board import BoardView, gate_view, view_board
from leaderboard.views.deficit import published_deficit
from leaderboard.views.generators import view_generators
from leaderboard.views.sanity import sanity_view

if TYPE_CHECKING:
    from benchmark.datasets import Dataset


_API = ("api/v1/boards", "api/v1/entries")
_FOLDERS = ("saes", "generators", "boards", "records", "static", "badges", "data", *_API)


@dataclass(frozen=True)
class Release:
    """A frozen state of all boards, as the site lists it."""

    name: str
    date: str
    n_entries: int

    @property
    def path(self) -> str:
        """Its front page, from the root of the newest site."""
        return f"r/{self.name}/index.html"


@dataclass(frozen=True)
class Around:
    """What lies around the boards.

    Attributes:
        changes: what is otherwise than in the newest release.
        releases: all of them, newest first.
        release: the one these pages belong to; None on the newest pages.
        repository: address of the project; None where it is not known.
    """

    citing: Citing = field(default_factory=Citing)
    changes: Sequence[Changes] = ()
    releases: Sequence[Release] = ()
    release: Release | None = None
    repository: str | None = None


@dataclass(frozen=True)
class Site:
    """What every page may ask of the site around it; ``address`` is of its root."""

    version: str
    has_sweep: bool
    has_images: bool
    release: Release | None
    exports: bool
    feed: bool
    address: str | None
    repository: str | None


class Writer:
    """Writes one site; the folder must be empty."""

    def __init__(
        self,
        folder: Path,
        content: Content,
        around: Around,
        cache: Cache,
        pool: Pool,
        earlier: Path | None = None,
    ) -> None:
        """``earlier`` is a site whose unchanged files may be taken over."""
        self._folder, self._content, self._around = folder, content, around
        self._cache, self._pool = cache, pool
        self._shelf = Shelf(folder, earlier, cache)
        self._site = Site(
            version=__version__,
            has_sweep=content.sweep is not None,
            has_images=content.images is not None,
            release=around.release,
            exports=True,
            feed=around.citing.base_url is not None and around.release is None,
            address=_root_address(around),
            repository=around.repository,
        )
        self._environment = make_environment(cache.templates)
        self._environment.globals["site"] = self._site

    def write(self, dataset: "Dataset | None" = None) -> None:
        """Everything; ``dataset`` gives the pictures where its licence and hash allow it."""
        content, citing = self._content, self._around.citing
        kinds = [board.slug for board in content.boards]
        folders = [*_FOLDERS, *(f"compare/{slug}" for slug in kinds)]
        for name in folders:
            (self._folder / name).mkdir(parents=True)
        for asset in sorted(resources.files("leaderboard").joinpath("static").iterdir(), key=str):
            (self._folder / "static" / asset.name).write_bytes(asset.read_bytes())
        if content.images is not None:
            copy_comparison(content.images, self._folder / "images")
        concepts = [
            ConceptTables(self._shelf, board, content, self._cache, self._pool)
            for board in content.boards
        ]
        self._write_fixed_pages()
        pictures = Pictures(dataset, self._folder / "img")
        pages = EntryPages(content, citing, self._render, self._shelf, pictures, self._cache)
        pages.write(self._site, self._pool)
        names = [release.name for release in self._around.releases]
        write_exports(self._shelf, content, citing, names)
        for tables in concepts:
            tables.write()
        self._shelf.close()
        for name in folders:
            if not any((self._folder / name).iterdir()):
                (self._folder / name).rmdir()

    def _render(self, path: str, template: str, **context: Any) -> bytes:
        root = "../" * path.count("/")
        html = self._environment.get_template(template).render(root=root, page=path, **context)
        return html.encode()

    def _page(self, path: str, template: str, **context: Any) -> None:
        (self._folder / path).write_bytes(self._render(path, template, **context))

    def _write_fixed_pages(self) -> None:
        content = self._content
        views = {board.slug: view_board(board) for board in content.boards}
        shown = [views[board.slug] for board in content.boards if board.entries]
        generators = {board.slug: view_generators(board) for board in content.generators}
        self._page(
            "index.html",
            "index.html.j2",
            boards=shown,
            generators=[view for view in generators.values() if view.board.entries],
            gate=gate_view(content.gate, content.boards),
            sanity=sanity_view(content.sanity),
            waiting=content.waiting,
            changes=list(self._around.changes),
            releases=list(self._around.releases),
        )
        self._page("metrics.html", "metrics.html.j2", groups=GROUPS, sources=list(SOURCES.values()))
        self._page(
            "methods.html",
            "methods.html.j2",
            boards=shown,
            generators=list(generators.values()),
            deficit=published_deficit(),
            judged=any(view.deficits for view in shown),
        )
        if content.sweep is not None:
            self._page("sweep.html", "sweep.html.j2", sweep=content.sweep)
        for board in content.all_boards:
            if board.entries or board.older:
                self._write_board(board, views, generators)

    def _write_board(
        self, board: AnyBoard, views: Mapping[str, BoardView], generators: Mapping[str, Any]
    ) -> None:
        path = f"boards/{board.slug}.html"
        if isinstance(board, Board):
            self._page(path, "board.html.j2", view=views[board.slug])
        else:
            self._page(path, "generator_board.html.j2", view=generators[board.slug])


def _root_address(around: Around) -> str | None:
    """Of the pages' own root: a release has one below the site's."""
    base, inside = around.citing.base_url, around.citing.inside
    return base + f"r/{inside}/" if base is not None and inside else base
