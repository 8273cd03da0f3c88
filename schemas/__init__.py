"""JSON Schemas of the files this project exchanges, and checking documents against them."""

import copy
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from schemas.wording import Problem, is_of_key, worded

if TYPE_CHECKING:
    from schemas.fast import Check

__all__ = ["Problem", "SchemaError", "load", "names", "sound", "validate"]

_SHOWN = 20
_OF_THE_WHOLE = frozenset(
    ("required", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems")
)
"""Faults of an object or list whose parts may all be sound."""


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
    problems = [worded(error) for error in _validator(name).iter_errors(document)]
    if problems:
        raise SchemaError(name, tuple(sorted(set(problems), key=lambda p: (p.path, p.expected))))


def sound(name: str, document: Any) -> Any:
    """A copy of ``document`` for rules that come after the schema called ``name``.

    Unknown keys are gone, and None stands where a value is at fault; keys may be missing.
    """
    kept = copy.deepcopy(document)
    for error in _validator(name).iter_errors(document):
        path = list(error.absolute_path)
        if error.validator == "additionalProperties":
            for key in set(error.instance) - set(error.schema.get("properties", {})):
                _take_out(kept, [*path, key], whole=True)
        elif is_of_key(error):
            _take_out(kept, [*path, error.instance], whole=True)
        elif error.validator not in _OF_THE_WHOLE:
            _take_out(kept, path, whole=False)
    return kept


def _take_out(kept: Any, path: Sequence[Any], *, whole: bool) -> None:
    """Put None at ``path``, or take its key away; what is gone already stays so."""
    if not path:
        return
    for part in path[:-1]:
        if kept is None or (isinstance(kept, dict) and part not in kept):
            return
        kept = kept[part]
    last = path[-1]
    if whole and kept is not None:
        kept.pop(last, None)
    elif isinstance(kept, list) or (kept is not None and last in kept):
        kept[last] = None


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
