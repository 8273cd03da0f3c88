"""Numbers as readers see them: no more digits than their interval supports."""

import re
from dataclasses import dataclass

from benchmark.rounding import decimals_for
from leaderboard.reading.records import Score

MINUS = "\N{MINUS SIGN}"
MISSING = "n/a"
# controls but for the line feed, separators of lines and paragraphs, surrogates, directions
_NEVER = "\ufdd0-\ufdef" + "".join(
    chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF)
)
"""Unicode's noncharacters; XML cannot hold all of them."""
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069" + _NEVER + "]"
)


@dataclass(frozen=True)
class Number:
    """A number ready to be shown.

    ``sort_key`` is the exact value for scripts (None: missing, always last), ``text`` the rounded
    one, ``interval`` its bounds at the same precision or None, ``note`` the full story.
    """

    value: float | None
    text: str
    interval: str | None
    decimals: int
    note: str

    @property
    def sort_key(self) -> str | None:
        return None if self.value is None else repr(self.value)


def fixed(value: float, decimals: int) -> str:
    """``value`` with that many decimals and a true minus sign; never minus zero."""
    text = f"{value:.{decimals}f}"
    if text.startswith("-"):
        text = text[1:] if not text.strip("-0.") else MINUS + text[1:]
    return text


def number(score: Score | None, default: int = 3) -> Number:
    """A score ready to be shown; ``default`` decimals where it has no interval."""
    if score is None:
        return Number(None, MISSING, None, 0, "not measured")
    if score.value is None:
        return Number(None, MISSING, None, 0, f"not applicable: {_reasons(score)}")
    note = f"{fixed(score.value, 6)}, n = {score.n:,}"
    if score.not_applicable:
        note += f"; left out: {_reasons(score)}"
    if score.ci95 is None:
        return Number(score.value, fixed(score.value, default), None, default, note)
    low, high = score.ci95
    decimals = _decimals(score, default)
    interval = f"[{fixed(low, decimals)}, {fixed(high, decimals)}]"
    return Number(score.value, fixed(score.value, decimals), interval, decimals, note)


def _decimals(score: Score, default: int) -> int:
    return default if score.ci95 is None else decimals_for(*score.ci95, default)


def plain(value: float | None, decimals: int = 2) -> Number:
    """A bare number without interval."""
    if value is None:
        return Number(None, MISSING, None, 0, "not applicable")
    return Number(value, fixed(value, decimals), None, decimals, fixed(value, 6))


def spread(scores: list[Score], default: int = 3) -> str:
    """Lowest to highest value of several scores, at the coarsest of their precisions."""
    known = [score for score in scores if score.value is not None]
    if not known:
        return MISSING
    values = [score.value for score in known if score.value is not None]
    decimals = min(_decimals(score, default) for score in known)
    low, high = fixed(min(values), decimals), fixed(max(values), decimals)
    return low if low == high else f"{low} – {high}"


def pad(number: Number, most: int) -> str:
    """Class of a right-aligned number that has fewer decimals than ``most`` in its column."""
    if number.value is None or number.decimals >= most:
        return ""
    return f" pad{most - number.decimals}" + (" point" if number.decimals == 0 else "")


def visible(text: str) -> str:
    """``text`` with control and noncharacters and direction overrides replaced by U+FFFD.

    Such characters can reorder or hide what stands beside them on the page.
    """
    return text if text.isprintable() else _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def _reasons(score: Score) -> str:
    parts = [f"{reason} ({count:,})" for reason, count in sorted(score.not_applicable.items())]
    return ", ".join(parts) or "no reason given"
