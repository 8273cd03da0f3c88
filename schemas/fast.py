"""A quick answer to "is it valid?", certain only where it is yes.

A compiled validator takes what JSON Schema allows; the project is stricter in a few places. Where
a document might fall into one of these, the answer is "perhaps not", and the plain validator, which
also words the problems, decides.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

_LARGEST = 2**53
_DEEPEST = 60
_SUBSCHEMA = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_SUBSCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMES = ("$schema", "$id", "$defs", "$ref", "title", "description", "properties", "propertyNames")
_VALUES = ("type", "const", "enum", "required", "pattern", "uniqueItems", "ascending", "uniqueBy")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SIZES = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_KNOWN = frozenset((*_NAMES, *_VALUES, *_NUMBERS, *_SIZES, *_SUBSCHEMA, *_SUBSCHEMAS))

Check = Callable[[Any], bool]


def compiled(schema: Mapping[str, Any]) -> Check | None:
    """What tells that a document is surely valid; None for a schema with an unknown keyword."""
    if not set(_keywords(schema)) <= _KNOWN:
        return None
    import jsonschema_rs

    validator = jsonschema_rs.Draft202012Validator(
        _for_rust(schema), keywords={"ascending": _Ascending, "uniqueBy": _UniqueBy}
    )
    counted = _integer_names(schema)

    def surely_valid(document: Any) -> bool:
        plain = _plain([document], counted, None in counted, _DEEPEST)
        return plain and bool(validator.is_valid(document))

    return surely_valid


class _Ascending:
    """Numbers in ascending order."""

    def __init__(self, parent: Any, wanted: bool, path: Any) -> None:
        self._wanted = wanted

    def validate(self, value: Any) -> None:
        if self._wanted and isinstance(value, list):
            numbers = all(isinstance(item, int | float) for item in value)
            if not numbers or value != sorted(value):
                raise ValueError("not ascending")


class _UniqueBy:
    """Objects that differ in one text."""

    def __init__(self, parent: Any, key: str, path: Any) -> None:
        self._key = key

    def validate(self, value: Any) -> None:
        if isinstance(value, list):
            names = [item.get(self._key) for item in value if isinstance(item, dict)]
            texts = [name for name in names if isinstance(name, str)]
            if len(set(texts)) < len(texts):
                raise ValueError("repeated")


def _plain(values: Sequence[Any], counted: frozenset[str | None], integer: bool, left: int) -> bool:
    """Whether values at one place of a document hold nothing that both validators see differently.

    Numbers are finite and exact in both, none is a float where an integer may be wanted
    (``integer``), text is printable, there are no other types than JSON's own, and nothing is
    nested deeper than ``left`` levels. Values at one place are looked at together, which is much
    quicker than one by one.
    """
    if left == 0:
        return False
    kinds = set(map(type, values))
    for kind in kinds:
        same: Any = (
            values if len(kinds) == 1 else [value for value in values if type(value) is kind]
        )
        if kind is float:
            if not all(map(isfinite, same)) or (integer and any(map(float.is_integer, same))):
                return False
        elif kind is int:
            if min(same) < -_LARGEST or max(same) > _LARGEST:
                return False
        elif kind is str:
            if not all(map(str.isprintable, same)):
                return False
        elif kind is list:
            if not _plain(list(chain.from_iterable(same)), counted, integer, left - 1):
                return False
        elif kind is dict:
            if not _plain_objects(same, counted, integer, left - 1):
                return False
        elif kind is not bool and kind is not type(None):
            return False
    return True


def _plain_objects(
    objects: Sequence[dict[Any, Any]], counted: frozenset[str | None], integer: bool, left: int
) -> bool:
    places: dict[Any, list[Any]] = {}
    for each in objects:
        for name, value in each.items():
            places.setdefault(name, []).append(value)
    return all(
        type(name) is str
        and name.isprintable()
        and _plain(values, counted, integer or name in counted, left)
        for name, values in places.items()
    )


def _for_rust(schema: Any) -> Any:
    """The schema with patterns in which ``\\d`` means what it means to Python."""
    if isinstance(schema, dict):
        return {
            key: re.sub(r"\\d", r"\\p{Nd}", value)
            if key == "pattern" and isinstance(value, str)
            else _for_rust(value)
            for key, value in schema.items()
        }
    return [_for_rust(item) for item in schema] if isinstance(schema, list) else schema


def _keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
        for part in _parts(schema):
            yield from _keywords(part)
        for part in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()):
            yield from _keywords(part)
        if "propertyNames" in schema:
            yield from _keywords(schema["propertyNames"])


def _parts(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Subschemas of the value itself or of its parts that have no name of their own."""
    yield from (schema[key] for key in _SUBSCHEMA if key in schema)
    for key in _SUBSCHEMAS:
        yield from schema.get(key, ())


def _integer_names(schema: Mapping[str, Any]) -> frozenset[str | None]:
    """Names of properties whose value, or a nameless part of it, may have to be an integer.

    None stands among them where the document itself may.
    """
    found: set[str | None] = {None} if _wants_integer(schema, schema, set()) else set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            for name, part in node.get("properties", {}).items():
                if _wants_integer(part, schema, set()):
                    found.add(name)
                visit(part)
            for part in (*_parts(node), *node.get("$defs", {}).values()):
                visit(part)

    visit(schema)
    return frozenset(found)


def _wants_integer(node: Any, root: Mapping[str, Any], seen: set[str]) -> bool:
    if not isinstance(node, dict):
        return False
    types = node.get("type", ())
    if "integer" in ([types] if isinstance(types, str) else types):
        return True
    reference = node.get("$ref")
    if reference is not None and reference not in seen:
        seen.add(reference)
        target: Any = root
        for part in reference.removeprefix("#").split("/")[1:]:
            target = target[part]
        if _wants_integer(target, root, seen):
            return True
    return any(_wants_integer(part, root, seen) for part in _parts(node))
