"""A comparison of image sets on the site: its document as it was written, its page linked back."""

from pathlib import Path

from benchmark.errors import UserError
from leaderboard.reading.records import read

_GENERATOR = 'content="Assay leaderboard'
_TITLE = b"<h1>"
_CRUMBS = b'<p class="crumbs"><a href="../index.html">All boards</a></p>\n'
_MOST_BYTES = 64 * 2**20


def copy_comparison(source: Path, out: Path) -> None:
    """Copy ``comparison.json`` and ``report.html`` of a folder into the new folder ``out``.

    The page gets a link to the site above its title.

    Raises:
        UserError: one of them is absent, the document breaks its schema, or the page is not one
            of ours; the file is named.
    """
    document, page = source / "comparison.json", source / "report.html"
    read(document, "images")
    if not page.is_file() or page.stat().st_size > _MOST_BYTES:
        raise UserError(f"{page}: expected the page that `assay images compare --out` writes")
    text = page.read_bytes()
    if _GENERATOR.encode() not in text[:4000]:
        raise UserError(f"{page}: not a page that `assay images compare --out` wrote")
    out.mkdir()
    (out / document.name).write_bytes(document.read_bytes())
    (out / page.name).write_bytes(text.replace(_TITLE, _CRUMBS + _TITLE, 1))
