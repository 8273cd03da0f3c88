"""Numbers as readers see them: every score with the same decimals wherever it stands."""

import re
from dataclasses import dataclass

from leaderboard.reading.records import Score

MINUS = "\N{MINUS SIGN}"
TO = " – "
"""Between the lowest and the highest of several values."""
MISSING = "n/a"
ITSELF = "–"
"""What is 0 by definition: a difference of something to itself."""

_MOST = 6
"""Decimals beyond which a number is shown as 0."""

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
    one, ``interval`` its bounds rounded by the same rule or None, ``note`` the full story.
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


def rounded(value: float, decimals: int = 3) -> str:
    """``value`` with that many decimals, or with the fewest that do not make it 0."""
    return fixed(value, _needed(value, decimals))


def _needed(value: float, decimals: int) -> int:
    if round(value, decimals) != 0:  # nearly always, and asked a hundred thousand times
        return decimals
    enough = (more for more in range(decimals + 1, _MOST + 1) if round(value, more) != 0)
    return next(enough, decimals)


def number(score: Score | None, decimals: int = 3) -> Number:
    """A score ready to be shown; the decimals are those of its kind, whatever its interval."""
    if score is None:
        return Number(None, MISSING, None, 0, "not measured")
    if score.value is None:
        return Number(None, MISSING, None, 0, f"not applicable: {_reasons(score)}")
    note = f"{fixed(score.value, 6)}, n = {score.n:,}"
    if score.not_applicable:
        note += f"; left out: {_reasons(score)}"
    interval = None
    if score.ci95 is not None:
        low, high = score.ci95
        interval = f"[{rounded(low, decimals)}, {rounded(high, decimals)}]"
    shown = _needed(score.value, decimals)
    return Number(score.value, fixed(score.value, shown), interval, shown, note)


def plain(value: float | None, decimals: int = 3) -> Number:
    """A bare number without interval."""
    if value is None:
        return Number(None, MISSING, None, 0, "not applicable")
    text = rounded(value, decimals)
    return Number(value, text, None, _needed(value, decimals), fixed(value, 6))


def spread(scores: list[Score], decimals: int = 3) -> str:
    """Lowest to highest value of several scores."""
    values = [score.value for score in scores if score.value is not None]
    if not values:
        return MISSING
    low, high = rounded(min(values), decimals), rounded(max(values), decimals)
    return low if low == high else f"{low}{TO}{high}"


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
