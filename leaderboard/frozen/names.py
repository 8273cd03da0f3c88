"""Names of releases."""

import re

from benchmark.errors import UserError

NAME = re.compile(r"([0-9]{4})\.(0|[1-9][0-9]{0,5})")


def order(name: str) -> tuple[int, int]:
    """Year and number, by which releases follow each other; a ``UserError`` for another name."""
    found = NAME.fullmatch(name)
    if found is None:
        raise UserError(f"release {name!r}: expected a year and a number, for instance 2026.1")
    return int(found[1]), int(found[2])
