"""The reference pages: current, and saying what the schemas say."""

import re
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas import reference

DOCS = Path(__file__).parents[2] / "docs" / "schemas"


def test_the_pages_in_the_repository_are_current() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    stale = {name for name, text in reference.pages().items() if written.pop(name, None) != text}
    assert not stale, "run make docs"
    assert not written, "pages of no schema; run make docs"


@pytest.mark.parametrize("name", schemas.names())
def test_every_key_is_described(name: str) -> None:
    assert reference.undescribed(schemas.load(name)) == []


def _keys(node: Any) -> set[str]:
    """Every property name in a schema, conditions left out."""
    if isinstance(node, list):
        return set().union(*map(_keys, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = set(node["properties"]) if "$ref" not in node and "properties" in node else set()
    parts = (value for key, value in node.items() if key not in ("if", "then", "else", "allOf"))
    if "$ref" in node:
        return set()
    if "properties" in node:
        inner = [*node["properties"].values()]
        others = {key: value for key, value in node.items() if key != "properties"}
        return own | _keys(inner) | _keys({k: v for k, v in others.items() if k in _HOLDERS})
    return own | set().union(*map(_keys, parts), set())


_HOLDERS = ("items", "additionalProperties", "oneOf", "anyOf", "$defs")


@pytest.mark.parametrize("name", schemas.names())
def test_every_key_has_a_row(name: str) -> None:
    schema = schemas.load(name)
    rows = re.findall(r"^\| `([^`]+)` \|", reference.page(name, schema), re.MULTILINE)
    # a key may hold a dot itself: CITATION.cff
    assert [
        key
        for key in _keys(schema)
        if not any(re.search(rf"(^|\W){re.escape(key)}$", row) for row in rows)
    ] == []
    assert rows, "a page without a table"


def test_a_page_says_type_range_and_condition() -> None:
    schema = {
        "title": "Thing | made <up>",
        "description": "For this test.",
        "type": "object",
        "additionalProperties": False,
        "required": ["a"],
        "properties": {
            "a": {"type": ["integer", "null"], "minimum": 1, "maximum": 9, "description": "An a."},
            "b": {"enum": ["x|y", None], "description": "A b."},
            "c": {
                "type": "array",
                "minItems": 2,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"d": {"$ref": "#/$defs/name", "description": "A d."}},
                },
                "description": "Some c.",
            },
        },
        "if": {"properties": {"b": {"const": "x|y"}}},
        "then": {"required": ["c"]},
        "$defs": {"name": {"type": "string", "maxLength": 5, "pattern": "^[a|b]$"}},
    }
    assert reference.page("thing", schema).splitlines() == [
        "# Thing \\| made &lt;up>",
        "",
        "For this test.",
        "",
        "Written by `make docs` from `schemas/thing.schema.json`; change it there.",
        "",
        "| Key | Type | Required | Range | Meaning |",
        "|---|---|---|---|---|",
        "| `a` | integer or null | yes | 1 to 9 | An a. |",
        '| `b` | string or null | no | one of `"x\\|y"`, `null` | A b. |',
        "| `c` | list of object | no | at least 2 items | Some c. |",
        "| `c[].d` | [name](#name) | no |  | A d. |",
        "",
        '- Where `b` is `"x\\|y"`: `c` is there.',
        "",
        "## name",
        "",
        "String: at most 5 characters; matches `^[a\\|b]$`.",
    ]


def test_writing_removes_the_page_of_a_schema_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("old")
    (tmp_path / "kept.txt").write_text("not a page")
    written = reference.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*(p.name for p in written), "kept.txt"}
