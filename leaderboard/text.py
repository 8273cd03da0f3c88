"""Text from submissions on its way into pages: cut, made visible, escaped."""

from typing import Any
from urllib.parse import urlsplit

from markupsafe import escape

from leaderboard.numbers import visible

NAME = 120
"""Characters of a name that are shown."""

LONG = 2000
"""Characters of a description that are shown."""

MOST = 6 * LONG
"""Characters of any text, whatever it is."""


def cut(text: Any, most: int = NAME) -> str:
    """``text`` in at most ``most`` characters; where it is longer, its end is "…"."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1].rstrip() + "…"


def shown(text: str) -> str:
    """Any text as a template shows it: nothing hidden in it, and never megabytes."""
    return visible(cut(text, MOST))


def esc(text: Any, most: int = NAME) -> str:
    """``text`` cut, without control and direction characters, escaped for HTML."""
    return str(escape(visible(cut(text, most))))


def bdi(text: Any, most: int = NAME) -> str:
    """The same inside an element that keeps its direction to itself."""
    return f"<bdi>{esc(text, most)}</bdi>"


def web_address(text: Any) -> str | None:
    """An http(s) address that may become a link; None for everything else."""
    if not isinstance(text, str) or len(text) > LONG or not text.isprintable():
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    safe = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return text if safe and not set(text) & set(" \"'<>\\`") else None


def orcid_address(orcid: Any) -> str | None:
    """The page of an ORCID iD; None where it is none."""
    text = str(orcid)
    plain = text.replace("-", "")
    valid = len(text) == 19 and len(plain) == 16 and plain[:15].isdigit() and plain.isascii()
    return f"https://orcid.org/{text}" if valid and plain[15] in "0123456789X" else None
