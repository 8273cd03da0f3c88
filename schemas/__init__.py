"""JSON Schemas of the files this project exchanges, and checking documents against them."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError

if TYPE_CHECKING:
    from schemas.fast import Check

_SHOWN = 20


@dataclass(frozen=True)
class Problem:
    """One fault: where (JSON path), what stands there, what should."""

    path: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected}"


class SchemaError(UserError):
    """A document breaks its schema; ``problems`` holds every fault, in document order."""

    def __init__(self, name: str, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        shown = "; ".join(str(problem) for problem in problems[:_SHOWN])
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        plural = "problem" if len(problems) == 1 else "problems"
        super().__init__(f"{len(problems)} {plural} against schema {name!r}: {shown}{more}")


def names() -> list[str]:
    """Names of all schemas, sorted."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    return sorted(name.removesuffix(".schema.json") for name in files if name.endswith(".json"))


def load(name: str) -> dict[str, Any]:
    """The schema called ``name`` ("result-sae"); an unknown name is a ``UserError`` listing all."""
    if name not in names():
        raise UserError(f"unknown schema {name!r}; known: {', '.join(names())}")
    text = (resources.files(__name__) / f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def validate(name: str, document: Any) -> None:
    """Check ``document`` against the schema called ``name``.

    Stricter than plain JSON Schema: a number is finite and never a boolean, text can be written
    as UTF-8. Raises ``SchemaError`` with every fault at once.
    """
    surely_valid = _fast(name)
    if surely_valid is not None and surely_valid(document):
        return
    problems = [_problem(error) for error in _validator(name).iter_errors(document)]
    if problems:
        raise SchemaError(name, tuple(sorted(set(problems), key=lambda p: (p.path, p.expected))))


@cache
def _fast(name: str) -> "Check | None":
    from schemas.fast import compiled

    return compiled(load(name))


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_integer, "string": _is_text}
    )
    strict = validators.extend(
        Draft202012Validator,
        validators={"ascending": _ascending, "pattern": _pattern, "uniqueBy": _unique_by},
        type_checker=checker,
    )
    schema = load(name)
    Draft202012Validator.check_schema(schema)
    return strict(schema)


def _is_number(_: Any, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_integer(checker: Any, value: Any) -> bool:
    return isinstance(value, int) and _is_number(checker, value)


def _is_text(_: Any, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pattern(validator: Any, pattern: str, value: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    # Python's "$" also matches before a final line feed; in JSON Schema's dialect it does not.
    strict = re.sub(r"\$$", r"\\Z", pattern)
    if validator.is_type(value, "string") and not re.search(strict, value):
        yield ValidationError("no match")


def _ascending(validator: Any, wanted: bool, value: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not wanted or not isinstance(value, list):
        return
    if not all(validator.is_type(item, "number") for item in value):
        return
    if value != sorted(value):
        yield ValidationError("not ascending")


def _unique_by(_: Any, key: str, value: Any, __: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not isinstance(value, list):
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        name = item.get(key) if isinstance(item, dict) else None
        if isinstance(name, str) and name in seen:
            yield ValidationError("repeated", path=[index, key], instance=name)
        elif isinstance(name, str):
            seen.add(name)


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


_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} entries (the reason)",
    "maxProperties": "at most {} entries",
    "pattern": "text matching {}",
    "uniqueBy": "no {} twice",
}


def _problem(error: Any) -> Problem:
    parts = list(error.absolute_path)
    found, wanted = _short(error.instance), error.validator_value
    if error.validator == "required":
        missing = next(key for key in wanted if f"{key!r} is a required" in error.message)
        return Problem(_path([*parts, missing]), "nothing", "this key")
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(known), key=str)
        path = _path([*parts, unknown[0]] if len(unknown) == 1 else parts)
        keys = ", ".join(_short(key) for key in unknown)
        return Problem(path, f"unknown key {keys}", f"only {', '.join(sorted(known))}")
    if error.validator == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        expected = " or ".join("finite number" if kind == "number" else kind for kind in types)
    elif error.validator == "const":
        expected = _short(wanted)
    elif error.validator == "enum":
        expected = "one of " + ", ".join(_short(choice) for choice in wanted)
    elif error.validator == "ascending":
        expected = "the lower bound first"
    elif error.validator == "uniqueItems":
        expected = "no item twice"
    elif error.validator in _BOUNDS:
        expected = _BOUNDS[error.validator].format(wanted)
    else:
        expected = error.message
    return Problem(_path(parts), found, expected)
