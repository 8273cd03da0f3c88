"""Entries by concepts: how well each concept is found, as a map of shades."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.svg import figure, label, name_width, short, tag, text_width

LEVELS = 10
"""Shades; a value v in [0, 1] has shade min(9, ⌊10·v⌋)."""

NAMED = 60
"""Concepts up to which each has its name beneath its column."""

_ROW, _GAP, _TOP, _CHARS = 16, 2, 6, 26
_SCALE = 22


@dataclass(frozen=True)
class HeatRow:
    """One entry: its name and a value in [0, 1] for each concept, None where not applicable."""

    name: str
    values: tuple[float | None, ...]


def heat_map(
    key: str, title: str, rows: Sequence[HeatRow], concepts: Sequence[str]
) -> Markup | None:
    """The map, concepts by falling mean from the left; None without values.

    Args:
        key: prefix of the ids in the SVG.
        title: what is drawn.
        rows: top to bottom; as many values as there are ``concepts``.
    """
    order = _order(rows, len(concepts))
    if not rows or not order:
        return None
    left = max(name_width(short(row.name, _CHARS)) for row in rows) + 10
    width = 26.0 if len(order) <= 30 else 16.0 if len(order) <= NAMED else 4.0
    named = len(order) <= NAMED
    bottom = _TOP + len(rows) * _ROW
    under = 10 + max(text_width(short(concepts[c], _CHARS), 11) for c in order) if named else 22
    body: list[Markup] = []
    for index, row in enumerate(rows):
        y = _TOP + index * _ROW + 12
        body.append(label(left - 10, y, short(row.name, _CHARS), "name", "end"))
    body += _cells(rows, order, left, width)
    body += _columns(concepts, order, left, width, bottom) if named else []
    if not named:
        body.append(label(left, bottom + 16, f"{len(order)} concepts, best found first", "axis"))
    body += _scale(left, bottom + under + 12)
    size = (max(left + width * len(order) + 8, left + 270), bottom + under + 12 + _SCALE + 16)
    return figure(key, size, title, _describe(rows, concepts, order), body)


def _order(rows: Sequence[HeatRow], n: int) -> list[int]:
    means = {}
    for concept in range(n):
        known = [value for row in rows if (value := row.values[concept]) is not None]
        if known:
            means[concept] = sum(known) / len(known)
    return sorted(means, key=lambda concept: (-means[concept], concept))


def level(value: float) -> int:
    """The shade of a value."""
    return min(LEVELS - 1, max(0, int(value * LEVELS)))


def _cells(
    rows: Sequence[HeatRow], order: Sequence[int], left: float, width: float
) -> list[Markup]:
    """One path a shade; neighbours of one shade are one stroke."""
    paths: dict[str, list[str]] = defaultdict(list)
    for index, row in enumerate(rows):
        y = _TOP + index * _ROW + (_ROW - _GAP) / 2
        start, run, shade = 0.0, 0, ""
        for column, concept in enumerate([*order, None]):
            value = None if concept is None else row.values[concept]
            here = "" if concept is None else "na" if value is None else f"h{level(value)}"
            if here != shade:
                if run:
                    paths[shade].append(f"M{left + start:g} {y:g}h{run * width:g}")
                start, run, shade = column * width, 0, here
            run += here != ""
    return [
        tag("path", d="".join(parts), cls=f"heat {shade}") for shade, parts in sorted(paths.items())
    ]


def _columns(
    concepts: Sequence[str], order: Sequence[int], left: float, width: float, bottom: float
) -> list[Markup]:
    names = []
    for column, concept in enumerate(order):
        x, y = left + (column + 0.5) * width + 4, bottom + 8
        text = short(concepts[concept], _CHARS)
        names.append(
            tag("text", text, x=x, y=y, cls="tick", text_anchor="end",
                transform=f"rotate(-90 {x:g} {y:g})")
        )  # fmt: skip
    return names


def _scale(left: float, top: float) -> list[Markup]:
    body = []
    for shade in range(LEVELS):
        body.append(tag("path", d=f"M{left + shade * 20:g} {top:g}h20", cls=f"heat h{shade}"))
    body += [
        label(left, top + 24, "F₁ 0", "tick"),
        label(left + 200, top + 24, "1", "tick", "end"),
        tag("path", d=f"M{left + 216:g} {top:g}h14", cls="heat na"),
        label(left + 236, top + 4, "n/a", "tick"),
    ]
    return body


def _describe(rows: Sequence[HeatRow], concepts: Sequence[str], order: Sequence[int]) -> str:
    parts = []
    for row in rows:
        known = [value for value in row.values if value is not None]
        if not known:
            continue
        best = max(range(len(concepts)), key=lambda c: (row.values[c] or 0.0, -c))
        parts.append(
            f"{short(row.name, 40)}: mean {rounded(sum(known) / len(known))}, "
            f"best {short(concepts[best], 40)} {rounded(row.values[best] or 0.0)}"
        )
    first, last = short(concepts[order[0]], 40), short(concepts[order[-1]], 40)
    return (
        f"Map of {len(rows)} entries by {len(order)} concepts, shaded by held-out F1. On average "
        f"{first} is found best and {last} worst. {'; '.join(parts)}."
    )
