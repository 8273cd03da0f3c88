"""A map of the site for search engines, and a feed of new entries."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from benchmark.states import measured_at
from leaderboard.numbers import visible
from leaderboard.pages.citing import headline, page_path

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard, AnyEntry
    from leaderboard.building.content import Content

ATOM = "http://www.w3.org/2005/Atom"
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
MOST = 50
"""Entries in the feed."""

_MOST_PAGES = 50_000
"""What a sitemap may hold."""


def write_sitemap(folder: Path, base_url: str) -> None:
    """``sitemap.xml``: every page below ``folder`` by path, those of releases last."""
    root = ET.Element("urlset", xmlns=SITEMAP)
    pages = [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
    pages.sort(key=lambda page: (page.startswith("r/"), page))
    for page in pages[:_MOST_PAGES]:
        ET.SubElement(ET.SubElement(root, "url"), "loc").text = base_url + page
    _write(folder / "sitemap.xml", root)


def write_feed(folder: Path, content: "Content", base_url: str) -> None:
    """``feed.xml``: the entries measured first most recently, in Atom."""
    found = [(board, entry) for board, entry in content.each() if not entry.withdrawn]
    found.sort(key=lambda each: (-_first(each[1]).timestamp(), page_path(*each)))
    root = ET.Element("feed", xmlns=ATOM)
    times = [measured_at(entry.record.document) for _, entry in found]
    _text(root, "title", "Assay: new entries")
    _text(root, "id", base_url)
    _text(root, "updated", _iso(max(times, default=datetime(2000, 1, 1, tzinfo=UTC))))
    ET.SubElement(root, "link", href=base_url)
    ET.SubElement(root, "link", href=f"{base_url}feed.xml", rel="self")
    _text(ET.SubElement(root, "author"), "name", "Assay")
    for board, entry in found[:MOST]:
        _item(root, board, entry, base_url)
    _write(folder / "feed.xml", root)


def _item(root: ET.Element, board: "AnyBoard", entry: "AnyEntry", base_url: str) -> None:
    item = ET.SubElement(root, "entry")
    address = base_url + page_path(board, entry)
    _text(item, "title", f"{entry.record.name} on {board.title}")
    _text(item, "id", address)
    ET.SubElement(item, "link", href=address)
    _text(item, "published", _iso(_first(entry)))
    _text(item, "updated", _iso(measured_at(entry.record.document)))
    _text(item, "summary", "; ".join(headline(entry, board)) or "no headline score")


def _first(entry: "AnyEntry") -> datetime:
    """When it was measured first."""
    if entry.history:
        return datetime.fromisoformat(entry.history[-1].date).replace(tzinfo=UTC)
    return measured_at(entry.record.document)


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = visible(text)


def _write(path: Path, root: ET.Element) -> None:
    ET.indent(root, " ")
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
