"""Plain values of a configuration file turned into typed ones, every fault noted with its key."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from benchmark.names import ID

T = TypeVar("T")
Check = Callable[["Reader", Any, str], Any]


class Reader:
    """Turns plain values into typed ones and gathers every fault on the way."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, key: str, value: Any, expected: str) -> None:
        self.faults.append(f"{key}: found {_shown(value)}, expected {expected}")

    def table(self, made: type[T], value: Any, where: str, checks: Mapping[str, Check]) -> T | None:
        """An object of ``made`` from a table; None where something in it is wrong."""
        if not isinstance(value, dict):
            self.fault(where.removesuffix("."), value, "a table")
            return None
        before = len(self.faults)
        for key in value.keys() - checks.keys():
            close = get_close_matches(key, checks, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            self.faults.append(f"{where}{key}: unknown key; {hint}known: {', '.join(checks)}")
        required = [
            one.name
            for one in fields(made)  # type: ignore[arg-type]
            if one.default is MISSING and one.default_factory is MISSING
        ]
        for key in required:
            if key not in value:
                self.faults.append(f"{where}{key}: missing; it has no default")
        read = {
            key: checks[key](self, value[key], f"{where}{key}") for key in checks if key in value
        }
        return made(**read) if len(self.faults) == before else None


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def text(reader: Reader, value: Any, key: str) -> Any:
    if not isinstance(value, str) or not value.strip():
        reader.fault(key, value, "a text that is not empty")
    return value


def name(reader: Reader, value: Any, key: str) -> Any:
    if not isinstance(value, str) or not ID.fullmatch(value):
        reader.fault(key, value, "lower-case letters, digits and dashes, at most 63")
    return value


def path_of(reader: Reader, value: Any, key: str) -> Any:
    return Path(text(reader, value, key)) if isinstance(value, str) else text(reader, value, key)


def whole(least: int, most: int = 2**53 - 1) -> Check:
    def check(reader: Reader, value: Any, key: str) -> Any:
        if type(value) is not int or not least <= value <= most:
            reader.fault(key, value, f"a whole number from {least:,} to {most:,}")
        return value

    return check


def positive(reader: Reader, value: Any, key: str) -> Any:
    number = type(value) in (int, float) and math.isfinite(value)
    if not number or not 0 < value <= 1000:
        reader.fault(key, value, "a number above 0, at most 1,000")
        return value
    return float(value)


def flag(reader: Reader, value: Any, key: str) -> Any:
    if type(value) is not bool:
        reader.fault(key, value, "true or false")
    return value


def one_of(names: Sequence[str]) -> Check:
    def check(reader: Reader, value: Any, key: str) -> Any:
        if value not in names:
            reader.fault(key, value, f"one of {', '.join(names)}")
        return value

    return check


def many(check: Check) -> Check:
    def read(reader: Reader, value: Any, key: str) -> Any:
        if not isinstance(value, list) or not value:
            reader.fault(key, value, "a list with at least one entry")
            return ()
        found = [check(reader, one, f"{key}[{index}]") for index, one in enumerate(value)]
        for index, one in enumerate(found):
            if one is not None and one in found[:index]:
                reader.fault(f"{key}[{index}]", value[index], "an entry that is not there twice")
        return tuple(found)

    return read


def table(made: type[Any], checks: Mapping[str, Check]) -> Check:
    return lambda reader, value, key: reader.table(made, value, f"{key}.", checks)
