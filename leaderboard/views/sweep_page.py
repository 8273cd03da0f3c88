"""The page of a sweep: its figures, and its tables with every number's full story."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.numbers import MISSING, Number, number, plain
from leaderboard.plots.svg import short
from leaderboard.reading.records import Score, read
from leaderboard.views.sweep_figures import Place, sweep_places

_SHOWN = ("best", "matchers", "k", "sanity", "results")


@dataclass(frozen=True)
class Cell:
    """One cell: text as it is, or a number; ``link`` is the page it leads to, or nothing."""

    text: str
    number: Number | None
    link: str = ""


@dataclass(frozen=True)
class TableView:
    """One table, ready for the page; ``heads`` pairs each head with whether numbers follow."""

    name: str
    title: str
    note: str
    heads: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class SweepView:
    """A sweep, ready for its page."""

    name: str
    places: tuple[Place, ...]
    tables: tuple[TableView, ...]
    published: bool


def load_sweep(path: Path) -> SweepView:
    """The sweep file; ``UserError`` where it is absent or breaks its schema."""
    document = read(path, "sweep")
    found = {table["name"]: table for table in document["tables"]}
    published = [
        row[column["key"]]
        for table in document["tables"]
        for column in table["columns"]
        if column["kind"] == "published"
        for row in table["rows"]
    ]
    return SweepView(
        name=document["name"],
        places=sweep_places(document),
        tables=tuple(_table(found[name]) for name in _SHOWN if name in found),
        published=any(value is not None for value in published),
    )


def _table(table: Mapping[str, Any]) -> TableView:
    columns = [column for column in table["columns"] if column["key"] != "id"]
    return TableView(
        name=table["name"],
        title=table["title"],
        note=table["note"],
        heads=tuple((column["head"], column["kind"] != "text") for column in columns),
        rows=tuple(
            tuple(
                _linked(table, row) if column["key"] == "architecture" else _cell(column, row)
                for column in columns
            )
            for row in table["rows"]
        ),
    )


def _linked(table: Mapping[str, Any], row: Mapping[str, Any]) -> Cell:
    """The architecture, leading to the SAE's page where it has one: it is on a board."""
    name = str(row["architecture"])
    return Cell(name, None, f"saes/{row['id']}.html" if table["name"] == "results" else "")


def _cell(column: Mapping[str, Any], row: Mapping[str, Any]) -> Cell:
    kind, value = column["kind"], row[column["key"]]
    if kind == "score":
        return Cell("", number(None if value is None else Score.read(value)))
    if kind == "number":
        return Cell("", plain(value, 3))
    if value is None:
        return Cell(MISSING, None)
    if kind == "published":
        return Cell(value["printed"], None)
    return Cell(f"{value:,}" if kind == "int" else short(str(value), 200), None)
