"""The boards as data: tables, a small JSON API, a feed and a map of the site."""

from leaderboard.building.content import Content
from leaderboard.building.reuse import Shelf
from leaderboard.exports.api import write_api
from leaderboard.exports.feeds import write_feed, write_sitemap
from leaderboard.exports.tables import ConceptTables, write_tables
from leaderboard.pages.citing import Citing

__all__ = ["ConceptTables", "write_exports", "write_feed", "write_sitemap"]


def write_exports(shelf: Shelf, content: Content, citing: Citing, releases: list[str]) -> None:
    """Tables, API and where the site's address is known a feed; ``releases``: newest first."""
    for board in content.all_boards:
        if board.entries or board.older:
            write_tables(shelf, board)
    write_api(shelf, content, citing.inside, releases)
    if citing.base_url is not None and citing.inside is None:
        write_feed(shelf.folder, content, citing.base_url)
