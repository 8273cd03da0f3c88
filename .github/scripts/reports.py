"""Reading the report of a check as the untrusted data that it is, and wording it as plain text."""

import json
import os
import stat
import unicodedata
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from schemas import SchemaError, validate

MAX_BYTES = 4 * 2**20
SCHEMA = "validation-report"


def read_report(path: Path) -> dict[str, Any]:
    """The report in an ordinary file of at most 4 MiB, checked against its schema.

    Raises:
        UserError: no such report, and why; nothing of its content is quoted.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        raise UserError("there is no report") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UserError("the report is no ordinary file")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UserError(f"the report is larger than {MAX_BYTES:,} bytes")
    try:
        document = json.loads(data.decode())
        validate(SCHEMA, document)
    except (SchemaError, RecursionError, ValueError):
        raise UserError("the report is not what the check writes") from None
    return dict(document)


def plain(text: str, limit: int = 300) -> str:
    """``text`` on one line of at most ``limit`` characters, with nothing hidden in it."""
    shown = "".join(
        character if character == " " or _is_shown(character) else f"\\u{ord(character):04x}"
        for character in text[:limit]
    )
    return shown if len(text) <= limit else f"{shown}…"


def lines(rows: list[dict[str, str]]) -> list[str]:
    """Three lines of plain text for every fault."""
    found = []
    for row in rows:
        found.append(f"{plain(row['file'])} {plain(row['path'])}".rstrip())
        found.append(f"  found {plain(row['found'])}; expected {plain(row['expected'])}")
        found.append(f"  {plain(row['fix'])}")
    return found


def _is_shown(character: str) -> bool:
    return character.isprintable() and unicodedata.category(character) not in ("Mn", "Me")
