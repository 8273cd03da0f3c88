"""Reference pages of the schemas as Markdown: ``python -m schemas.reference DIR``.

A page has a table for the document and one for each definition that it refers to; a row is a key
with its type, whether it must be there, what range it has, and what it means.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import schemas
from benchmark import files
from benchmark.errors import UserError

Node = Mapping[str, Any]

INDEX = "README.md"
_DONE_BY = "Written by `make docs` from `schemas/{name}.schema.json`; change it there."
_LARGEST = 2**53 - 1
_COUNTED = (("Length", "character"), ("Items", "item"), ("Properties", "entry"))
_PLURAL = {"entry": "entries"}


@dataclass(frozen=True)
class Row:
    """One key of a document; the texts are Markdown."""

    key: str
    type: str
    required: bool
    range: str
    meaning: str


def pages() -> dict[str, str]:
    """File name → text of every page; ``INDEX`` lists the others."""
    found = {f"{name}.md": page(name, schemas.load(name)) for name in schemas.names()}
    lines = ["# Schemas", "", "Every file that is exchanged, and what may stand in it.", ""]
    for name in schemas.names():
        lines.append(f"- [`{name}`]({name}.md): {_text(schemas.load(name)['title'])}")
    return {INDEX: "\n".join(lines) + "\n", **found}


def write(folder: Path) -> list[Path]:
    """Write every page to ``folder``; a page of a schema that is gone is removed."""
    written = pages()
    for name, text in written.items():
        files.write_bytes(folder / name, text.encode())
    for other in folder.glob("*.md"):
        if other.name not in written:
            other.unlink()
    return [folder / name for name in written]


def page(name: str, schema: Node) -> str:
    """The page of one schema."""
    lines = [f"# {_text(schema['title'])}", "", _text(schema.get("description", "")), ""]
    lines += [_DONE_BY.format(name=name), "", *_table(schema)]
    for key, node in schema.get("$defs", {}).items():
        described = _text(node.get("description", ""))
        lines += ["", f"## {key}", "", *([described, ""] if described else []), *_table(node)]
    return "\n".join(lines) + "\n"


def undescribed(schema: Node) -> list[str]:
    """Keys of a schema without a description, as its page names them."""
    parts = {"": schema, **{f"{key}: ": node for key, node in schema.get("$defs", {}).items()}}
    return [
        f"{part}{row.key}"
        for part, node in parts.items()
        for row in _inside(node, "")
        if not row.meaning and not row.key.endswith((".*", "[]"))
    ]


def _table(node: Node) -> list[str]:
    rows = list(_inside(node, ""))
    if not rows:
        return [f"{_type(node).capitalize()}: {_range(node)}."]
    lines = ["| Key | Type | Required | Range | Meaning |", "|---|---|---|---|---|"]
    for row in rows:
        needed = "yes" if row.required else "no"
        cells = (f"`{row.key}`", row.type, needed, row.range, row.meaning)
        lines.append("| " + " | ".join(cells) + " |")
    conditions = list(_conditions(node))
    return [*lines, "", *conditions] if conditions else lines


def _inside(node: Node, path: str) -> Iterator[Row]:
    """Rows of what lies in an object, a list or a map."""
    for choice in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield from _inside(choice, path)
    if "$ref" in node:
        return
    for key, inner in node.get("properties", {}).items():
        yield from _of(inner, f"{path}.{key}" if path else key, key in node.get("required", ()))
    others = node.get("additionalProperties")
    if isinstance(others, Mapping) and ("properties" in others or "$ref" in others):
        place = f"{path}.*" if path else "*"
        told = others.get("description") or "$ref" in others
        yield from _of(others, place, False) if told else _inside(others, place)
    items = node.get("items")
    if isinstance(items, Mapping):
        yield from _inside(items, f"{path}[]")


def _of(node: Node, path: str, required: bool) -> Iterator[Row]:
    meaning = node.get("description") or _meaning_of_items(node)
    yield Row(path, _type(node), required, _range(node), _text(meaning))
    yield from _inside(node, path)


def _meaning_of_items(node: Node) -> str:
    items = node.get("items")
    return str(items.get("description", "")) if isinstance(items, Mapping) else ""


def _type(node: Node) -> str:
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    choices = _choices(node)
    if choices:
        return " or ".join(dict.fromkeys(_type(choice) for choice in choices))
    named = node.get("type")
    if named is None:
        values = node.get("enum", (node["const"],) if "const" in node else ())
        named = [_kind(value) for value in values]
    kinds = list(dict.fromkeys([named] if isinstance(named, str) else named))
    return " or ".join(_collection(node, kind) for kind in kinds) or "any"


def _choices(node: Node) -> tuple[Node, ...]:
    """What a value may be one of; a condition counts where all it says is a definition."""
    branches = [node[key] for key in ("then", "else") if "$ref" in node.get(key, {})]
    return (*node.get("oneOf", ()), *node.get("anyOf", ()), *branches)


def _collection(node: Node, kind: str) -> str:
    items, others = node.get("items"), node.get("additionalProperties")
    if kind == "array" and isinstance(items, Mapping):
        return f"list of {_type(items)}"
    if kind == "object" and isinstance(others, Mapping) and "properties" not in node:
        return f"map to {_type(others)}"
    return kind


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    kinds = {str: "string", int: "integer", float: "number"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "any")


def _range(node: Node) -> str:
    """What a value must satisfy beyond its type; "" where that is nothing."""
    parts = [*_values(node), *_bounds(node)]
    parts += [_count(node, suffix, unit) for suffix, unit in _COUNTED]
    if "pattern" in node:
        parts.append(f"matches {_code(node['pattern'])}")
    if "uniqueBy" in node:
        parts.append(f"no {_code(node['uniqueBy'])} twice")
    if node.get("uniqueItems"):
        parts.append("no item twice")
    if node.get("ascending"):
        parts.append("ascending")
    keys = _range(node["propertyNames"]) if "propertyNames" in node else ""
    parts.append(f"keys: {keys}" if keys else "")
    parts += _inner_ranges(node)
    return "; ".join(part for part in parts if part)


def _inner_ranges(node: Node) -> Iterator[str]:
    """Ranges of what has no row of its own: simple items, and what narrows a definition."""
    for key in ("items",) if "properties" in node else ("items", "additionalProperties"):
        inner = node.get(key)
        if isinstance(inner, Mapping) and not {"properties", "$ref"} & set(inner):
            inner_range = _range(inner)
            yield f"each {inner_range}" if inner_range else ""
    for choice in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        yield _range(choice)
    if "$ref" in node:
        for key, inner in node.get("properties", {}).items():
            inner_range = _range(inner)
            yield f"{key} {inner_range}" if inner_range else ""


def _values(node: Node) -> Iterator[str]:
    if "const" in node:
        yield _code(_json(node["const"]))
    if "enum" in node:
        yield "one of " + ", ".join(_code(_json(value)) for value in node["enum"])


def _bounds(node: Node) -> Iterator[str]:
    low, high = node.get("minimum"), node.get("maximum")
    high = None if high is not None and high >= _LARGEST else high
    if low is not None and high is not None:
        yield f"{low} to {high}"
    elif low is not None or high is not None:
        yield f"at least {low}" if high is None else f"at most {high}"
    if "exclusiveMinimum" in node:
        yield f"more than {node['exclusiveMinimum']}"
    if "exclusiveMaximum" in node:
        yield f"less than {node['exclusiveMaximum']}"


def _count(node: Node, suffix: str, unit: str) -> str:
    low, high = node.get(f"min{suffix}"), node.get(f"max{suffix}")
    many = _PLURAL.get(unit, f"{unit}s")
    if low is not None and high is not None:
        return f"{low} {unit if low == 1 else many}" if low == high else f"{low} to {high} {many}"
    if low is not None:
        return f"at least {low} {unit if low == 1 else many}"
    return f"at most {high} {unit if high == 1 else many}" if high is not None else ""


def _conditions(node: Node) -> Iterator[str]:
    """Sentences for every if and then of an object."""
    for part in (node, *node.get("allOf", ())):
        if "if" in part:
            when = " and ".join(_facts(part["if"]))
            yield f"- Where {when}: {', '.join(_facts(part.get('then', {})))}."
            if "else" in part:
                yield f"- Otherwise: {', '.join(_facts(part['else']))}."


def _facts(node: Node) -> Iterator[str]:
    for key, inner in node.get("properties", {}).items():
        told = _range(inner) or (_type(inner) if inner else "")
        if told:
            yield f"`{key}` is {told}" if told[0] in "`n[" else f"`{key}` has {told}"
    for key in node.get("required", ()):
        if "properties" not in node or not node["properties"].get(key):
            yield f"`{key}` is there"
    if "not" in node:
        yield from (f"not: {fact}" for fact in _facts(node["not"]))


def _json(value: Any) -> str:
    return files.json_text(value)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def main(arguments: list[str]) -> None:
    """Write the pages to the folder that is named."""
    if len(arguments) != 1:
        raise UserError("expected one folder: python -m schemas.reference docs/schemas")
    print(f"{len(write(Path(arguments[0])))} pages in {arguments[0]}")


if __name__ == "__main__":
    main(sys.argv[1:])
