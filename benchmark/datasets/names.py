"""Names of concepts: as files spell them, as people read them, and when two mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.errors import UserError

_SEPARATOR = "::"


def shown_name(raw: str) -> str:
    """``has_bill_shape::curved_(up_or_down)`` as ``has bill shape: curved (up or down)``."""
    group, separator, value = raw.partition(_SEPARATOR)
    words = [" ".join(part.replace("_", " ").split()) for part in (group, value)]
    return ": ".join(words) if separator else words[0]


def group_of(raw: str) -> str:
    """The attribute that a raw name is a value of: what stands before ``::``, or all of it."""
    return shown_name(raw.partition(_SEPARATOR)[0])


def join_key(name: str) -> str:
    """What two spellings of one concept have in common; raw and shown names give the same."""
    return " ".join(shown_name(name).split())


def match_names(wanted: Sequence[str], known: Sequence[str], *, what: str, where: str) -> list[int]:
    """Place in ``known`` of every name in ``wanted``.

    Raises:
        UserError: names that are not known (all are listed), or that fit more than one.
    """
    places: dict[str, int] = {}
    for place, name in enumerate(known):
        if places.setdefault(join_key(name), place) != place:
            raise UserError(f"{where}: two concepts read {join_key(name)!r}; names must differ")
    keys = [join_key(name) for name in wanted]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UserError(f"{what}: two concepts read {twice!r}; names must differ")
    unknown = [name for name, key in zip(wanted, keys, strict=True) if key not in places]
    if unknown:
        raise UserError(
            f"{what}: {len(unknown)} of {len(wanted)} concepts are unknown to {where}: "
            + ", ".join(repr(name) for name in unknown)
        )
    return [places[key] for key in keys]


def read_vocabulary(path: Path) -> tuple[str, ...]:
    """Raw names from a file with lines ``NUMBER NAME``, numbered 1, 2, … in any order.

    Raises:
        UserError: no such file, or a line that is not that; file and line are named.
    """
    found: dict[int, str] = {}
    lines: dict[str, int] = {}
    for line, number, name in numbered_lines(path):
        if number in found:
            raise UserError(f"{path} line {line}: number {number} for the second time")
        key = join_key(name)
        if not key.strip(" :"):
            raise UserError(f"{path} line {line}: {name!r} is no name")
        if lines.setdefault(key, line) != line:
            raise UserError(f"{path} line {line}: name {name!r} is also in line {lines[key]}")
        found[number] = name
    if not found:
        raise UserError(f"{path}: no names; expected lines NUMBER NAME")
    missing = next((n for n in range(1, len(found) + 1) if n not in found), None)
    if missing is not None:
        raise UserError(
            f"{path}: {len(found)} names but none numbered {missing}; expected 1 to {len(found)}"
        )
    return tuple(found[number] for number in range(1, len(found) + 1))


def numbered_lines(path: Path) -> list[tuple[int, int, str]]:
    """Lines ``NUMBER TEXT`` as (line, number, text); blank lines are passed over."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    rows = []
    for line, content in enumerate(text.split("\n"), start=1):
        parts = content.strip().split(None, 1)
        if not parts:
            continue
        if len(parts) != 2 or not parts[0].isascii() or not parts[0].isdigit():
            raise UserError(f"{path} line {line}: {content.strip()[:80]!r}; expected NUMBER TEXT")
        if len(parts[0]) > 9:
            raise UserError(f"{path} line {line}: number {parts[0][:20]} is too large")
        rows.append((line, int(parts[0]), parts[1]))
    return rows
