"""Rows of tables as finished markup: thousands of them, so written as text and not by template.

Every foreign string goes through ``esc``; everything else is a number or a word of ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from markupsafe import Markup

from leaderboard.numbers import Number, rounded
from leaderboard.plots.svg import architecture_label
from leaderboard.reading.records import Score
from leaderboard.text import bdi, cut, esc
from leaderboard.views.columns import ColumnView

QUIET = 200
"""Rows from which cells do without their hover text, which script then gives them."""


class Scored(Protocol):
    """The part of a record that a row reads."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    def score(self, key: str) -> Score | None: ...


def cell(number: Number, pad: str = "", cls: str = "", before: str = "", hover: bool = True) -> str:
    """A cell with a number, its interval, and its exact value for scripts."""
    classes = f"num{cls}" if number.value is not None else f"num{cls} missing"
    note = f' title="{esc(number.note, 400)}"' if hover or number.value is None else ""
    exact = "" if number.sort_key is None else f' data-value="{number.sort_key}"'
    text = f'<td class="{classes}"{note}{exact}>{before}<span class="v{pad}">{number.text}</span>'
    if number.interval is not None:
        text += f' <span class="ci">{number.interval}</span>'
    return text + "</td>"


def rank_cell(entry: Any, ends: str = "intervals") -> str:
    """Place by value, and beneath it the places that the ``ends`` of the scores allow."""
    if entry.rank is None:
        return '<td class="rank missing"><span class="v">n/a</span></td>'
    rank = entry.rank
    return (
        f'<td class="rank" data-value="{rank.place}"><span class="v">{rank.place}</span> '
        f'<span class="ci" title="Places that the {ends} allow">{rank.span}</span></td>'
    )


def flags(entry: Any) -> str:
    """Marks beside a name: which score data the training saw."""
    seen = getattr(entry, "exposure", ())
    if not seen:
        return ""
    note = f"Its training saw {' and '.join(seen)} of this board"
    return f' <span class="flag" title="{esc(note, 200)}">exposed</span>'


def _copies(record: Any) -> str:
    """The mark of a generator that hands in images of the real set."""
    if not record.copies:
        return ""
    note = f"Of its {record.n:,} images; such an entry is not ranked"
    what = "image is" if record.shared == 1 else "images are"
    return (
        f' <span class="flag long" title="{note}">{record.shared:,} {what} of the real set</span>'
    )


def sae_row(
    entry: Any,
    columns: Sequence[ColumnView],
    glyphs: Mapping[str, str],
    root: str,
    *,
    hover: bool = True,
    data: bool = True,
) -> str:
    """One SAE of a board; ``data`` adds what filters and comparison read."""
    record = entry.record
    label, size = bdi(architecture_label(record.architecture), 40), f"{record.d_sae:,}"
    parts = [
        f"<tr{_data(entry) if data else ''}>",
        rank_cell(entry),
        f'<th scope="row" class="name"><a href="{root}saes/{esc(record.id)}.html">'
        f"{bdi(record.name)}</a>{flags(entry)}"
        f'<span class="sub">{label} {size}</span></th>'
        f'<td class="wide-cell">{label}</td>'
        f'<td class="num wide-cell" data-value="{record.d_sae}"><span class="v">{size}</span></td>',
        *_cells(entry, columns, glyphs, hover),
        "</tr>\n",
    ]
    return "".join(parts)


def generator_row(
    entry: Any, columns: Sequence[ColumnView], root: str, *, hover: bool = True, data: bool = True
) -> str:
    """One generator of a board, with what relabelled images give beneath its divergences."""
    record = entry.record
    parts = [
        f'<tr data-id="{esc(record.id)}" data-licence="{esc(licence(entry))}">' if data else "<tr>",
        rank_cell(entry, "ranges"),
        f'<th scope="row" class="name"><a href="{root}generators/{esc(record.id)}.html">'
        f"{bdi(record.name)}</a>{flags(entry)}{_copies(record)}</th>"
        f'<td class="num" data-value="{record.n}"><span class="v">{record.n:,}</span></td>',
    ]
    for column in columns:
        number = entry.cells[column.key]
        parts.append(_with_null(cell(number, column.pad(number), hover=hover), record, column))
    return "".join([*parts, "</tr>\n"])


def _with_null(text: str, record: Any, column: ColumnView) -> str:
    null = record.null(column.key)
    if null is None or null[1] is None:
        return text
    inside = record.inside_null(column.key)
    word = "" if inside is None else " inside" if inside else " outside"
    shown = rounded(null[1], column.column.decimals)
    note = f'<span class="null{word}" title="95 % point of its permutation null">'
    return text.removesuffix("</td>") + f"{note}null {shown}{_tick(inside)}</span></td>"


def _tick(inside: bool | None) -> str:
    return "" if inside is None else ", inside" if inside else ", outside"


def licence(entry: Any) -> str:
    """SPDX identifier of a submission; empty for a bare record."""
    submission = getattr(entry, "submission", None)
    return "" if submission is None else cut(submission.licence, 60)


def _data(entry: Any) -> str:
    record = entry.record
    values = {
        "id": record.id,
        "architecture": cut(record.architecture, 60),
        "size": record.d_sae,
        "judges": "|".join(cut(judge, 80) for judge in record.judges),
        "licence": licence(entry),
        "exposure": "exposed" if getattr(entry, "exposure", ()) else "none",
    }
    return "".join(f' data-{key}="{esc(value, 400)}"' for key, value in values.items() if value)


def _cells(
    entry: Any, columns: Sequence[ColumnView], glyphs: Mapping[str, str], hover: bool
) -> Iterable[str]:
    for index, column in enumerate(columns):
        number = entry.cells[column.key]
        glyph = glyphs.get(entry.record.id, "") if index == 0 else ""
        cls = " headline" if index == 0 else ""
        yield cell(number, column.pad(number), cls, glyph, hover)


def joined(rows: Iterable[str]) -> Markup:
    """Rows as one piece of markup."""
    return Markup("".join(rows))
