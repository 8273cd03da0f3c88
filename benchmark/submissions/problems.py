"""What a rule finds, worded so that it can be quoted anywhere."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

SHOWN = 60
"""Characters of a foreign value that are quoted."""

_AT_ONCE = 20
_LIMITS = {"file": 300, "path": 200, "found": 200, "expected": 300, "fix": 300}
_HIDDEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_UNSEEN = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))


@dataclass(frozen=True, order=True)
class Problem:
    """One fault of a submission; whatever it is made of, it is short and nothing in it is hidden.

    Attributes:
        file: the file or folder, relative to the root of the submissions where there is one.
        path: JSON path inside it ("$.sae.k"), "" where the fault is the file itself.
        found: what is there; foreign text is cut and made visible.
        expected: what should be there.
        fix: what to do.
    """

    file: str
    path: str
    found: str
    expected: str
    fix: str

    def __post_init__(self) -> None:
        for name, limit in _LIMITS.items():
            object.__setattr__(self, name, visible(getattr(self, name), limit))

    def __str__(self) -> str:
        place = f"{self.file} {self.path}".rstrip()
        return f"{place}: found {self.found}; expected {self.expected}; {self.fix}"

    def as_dict(self) -> dict[str, str]:
        """The fault as JSON."""
        return asdict(self)


def is_unseen(character: str) -> bool:
    """Whether a character shows nothing or turns the text around it: control, bidi, zero width.

    Unicode's noncharacters count too: XML cannot hold all of them.
    """
    if character in _HIDDEN or unicodedata.category(character) in _UNSEEN:
        return True
    code = ord(character)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def visible(value: Any, limit: int = SHOWN) -> str:
    """``value`` as text of at most ``limit`` characters in which nothing is hidden."""
    text = value if isinstance(value, str) else str(value)
    shown = "".join(
        f"\\u{ord(character):04x}" if is_unseen(character) else character
        for character in text[: limit + 1]
    )
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def problem(file: Path | str, path: str, found: Any, expected: str, fix: str) -> Problem:
    """A ``Problem`` that quotes what was found in at most ``SHOWN`` characters."""
    return Problem(str(file), path, visible(found), expected, fix)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise one ``UserError`` that names every problem; nothing if there are none."""
    found: Sequence[Problem] = sorted(set(problems))
    if not found:
        return
    more = f"; and {len(found) - _AT_ONCE} more" if len(found) > _AT_ONCE else ""
    raise UserError(" | ".join(str(each) for each in found[:_AT_ONCE]) + more)
