"""Faults of documents in words: where, what stands there, what should."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One fault: where (JSON path), what stands there, what should."""

    path: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected}"


_TIME = "a time such as 2026-12-01T00:00:00Z"
_NAME = "A-Z, a-z, 0-9, dots, dashes and underscores"
_PATTERNS: Mapping[str, str] = {
    r"^https://[!-~]+$": "an https:// address",
    r"^[0-9a-f]{64}$": "a SHA-256, 64 hexadecimal digits in lower case",
    r"^[0-9a-f]{40}$": "a full commit, 40 hexadecimal digits in lower case",
    r"^([0-9a-f]{40}|[0-9a-f]{64})$": "a full commit or SHA-256, 40 or 64 hexadecimal digits",
    r"^[a-z0-9][a-z0-9-]{0,62}$": (
        "lower-case letters, digits and dashes, at most 63, beginning with a letter or digit"
    ),
    r"^[a-z0-9][a-z0-9_-]{0,39}$": (
        "lower-case letters, digits, dashes and underscores, at most 40"
    ),
    r"^[a-z0-9][a-z0-9-]{0,62}(\+[a-z0-9][a-z0-9-]{0,62})?$": (
        "a dataset's name, or two joined by +"
    ),
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "a day as YYYY-MM-DD",
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})$": _TIME,
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)$": _TIME,
    r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$": "an ORCID iD such as 0000-0002-1825-0097",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,95}/[A-Za-z0-9][A-Za-z0-9_.-]{0,95}$": "OWNER/NAME on the Hub",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,95}){0,9}$": (
        f"a folder, at most ten names joined by / of {_NAME}"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,95}$": f"a file's name without folders: {_NAME}, at most 96",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,190}\.parquet$": (
        f"a file's name without folders, ending in .parquet: {_NAME}"
    ),
    r"^[A-Z][A-Za-z0-9]{0,99}Pipeline$": "a class of diffusers, its name ending in Pipeline",
}
"""Pattern → what it takes, for people; any other one is shown as it is."""
_COUNTED = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "entry"),
    "maxProperties": ("at most", "entry"),
}
_PLURAL = {"entry": "entries"}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "uniqueBy": "no {} twice",
}
_SHARES = (1, 2)
"""Largest value of a score that is often written in per cent."""


def worded(error: Any) -> Problem:
    """What the validator found, in words."""
    parts = list(error.absolute_path)
    if error.validator == "required":
        missing = next(
            key for key in error.validator_value if f"{key!r} is a required" in error.message
        )
        return Problem(_path([*parts, missing]), "nothing", "this key")
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(known), key=str)
        path = _path([*parts, unknown[0]] if len(unknown) == 1 else parts)
        keys = ", ".join(_short(key) for key in unknown)
        return Problem(path, f"unknown key {keys}", f"only {', '.join(sorted(known))}")
    if is_of_key(error):
        path = _path([*parts, error.instance])
        return Problem(path, f"key {_short(error.instance)}", _expected(error))
    return Problem(_path(parts), _short(error.instance), _expected(error))


def is_of_key(error: Any) -> bool:
    """Whether an error is about the name of a key, not about a value."""
    return "propertyNames" in error.absolute_schema_path


def _expected(error: Any) -> str:
    kind, wanted = error.validator, error.validator_value
    if kind == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        return " or ".join("finite number" if each == "number" else each for each in types)
    if kind == "const":
        return _short(wanted)
    if kind == "enum":
        return "one of " + ", ".join(_short(choice) for choice in wanted)
    if kind == "ascending":
        return "the lower bound first"
    if kind == "uniqueItems":
        return "no item twice"
    if kind == "pattern":
        return _PATTERNS.get(wanted, f"text matching {wanted}")
    if kind in _COUNTED:
        return _counted(error)
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(wanted) + _per_cent(error)
    return str(error.message)


def _counted(error: Any) -> str:
    bound, unit = _COUNTED[error.validator]
    number = error.validator_value
    text = f"{bound} {number} {unit if number == 1 else _PLURAL.get(unit, f'{unit}s')}"
    path = error.absolute_path
    return f"{text} (the reason)" if path and path[-1] == "not_applicable" else text


def _per_cent(error: Any) -> str:
    """What to add where a share may have been written in per cent."""
    largest = error.schema.get("maximum")
    if error.schema.get("type") == "integer" or largest not in _SHARES:
        return ""
    return ": a fraction, not per cent" if 1 < abs(error.instance) <= 100 * largest else ""


def _path(parts: Iterator[Any] | list[Any]) -> str:
    path = "$"
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.replace("_", "a").isalnum() and part.isascii():
            path += f".{part}"
        else:
            path += f"[{_short(part)}]"
    return path


def _short(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
