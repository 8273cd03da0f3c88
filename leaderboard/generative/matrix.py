"""PaD of every pair of attributes as a matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.svg import coordinate, figure, label, line, short, tag, text_width

MOST = 30
"""Attributes drawn; those with the largest SaD."""

_CELL = 18.0


def pair_matrix(key: str, document: Mapping[str, Any], order: Sequence[str]) -> Markup | None:
    """The matrix in this order of attributes; None where no pair has a value.

    The darker a cell, the larger the PaD (by its square root); a cell inside its null is a small
    hollow square, one without a value a stroke.
    """
    names = list(order)[:MOST]
    place = {row["attribute"]: k for k, row in enumerate(document["attributes"])}
    values, nulls = document["pairs"]["values"], document["pairs"]["null_q95"]
    there = [
        (values[place[a]][place[b]], a, b)
        for i, a in enumerate(names)
        for b in names[:i]
        if values[place[a]][place[b]] is not None
    ]
    if not there:
        return None
    largest, first, second = max(there)
    left = max(text_width(short(name), 11) for name in names) + 8
    top = left * 0.75 + 8
    body = []
    for i, name in enumerate(names):
        middle = left + (i + 0.5) * _CELL
        body.append(label(left - 6, top + (i + 0.7) * _CELL, short(name), "tick", "end"))
        body.append(
            tag(
                "text",
                short(name),
                x=middle + 3,
                y=top - 6,
                cls="tick",
                transform=f"rotate(-55 {coordinate(middle + 3)} {coordinate(top - 6)})",
            )
        )
        for j, other in enumerate(names):
            if i != j:
                value, null = values[place[name]][place[other]], nulls[place[name]][place[other]]
                x, y = left + j * _CELL, top + i * _CELL
                body.append(_cell(x, y, value, null, largest, f"{name} and {other}"))
    across = left + len(names) * _CELL + top * 0.75
    told = (
        f"Matrix of {len(names)} attributes. The largest PaD is {rounded(largest)}, of "
        f"{first} and {second}."
    )
    size = (across, top + len(names) * _CELL + 4)
    return figure(key, size, "PaD of every pair of attributes", told, body)


def _cell(
    x: float, y: float, value: float | None, null: float | None, largest: float, names: str
) -> Markup:
    inner = _CELL - 1.5
    if value is None:
        return line(x + 5, y + inner / 2, x + inner - 5, y + inner / 2, "zero")
    title = tag("title", f"{names}: {rounded(value)}")
    if null is not None and value <= null:
        return tag(
            "rect", title, x=x + 5.5, y=y + 5.5, width=inner - 11, height=inner - 11, cls="hollow"
        )
    share = (value / largest) ** 0.5 if largest > 0 else 0.0
    return tag(
        "rect", title, x=x, y=y, width=inner, height=inner, cls="bar",
        fill_opacity=round(max(0.08, share), 3),
    )  # fmt: skip


def null_glyph(row: Mapping[str, Any], largest: float) -> Markup:
    """SaD as a bar with its interval, over the stretch up to the null's 95 % point."""
    width = 110.0

    def at(value: float) -> float:
        return min(1.0, (max(value, 0.0) / largest) ** 0.5) * (width - 2) + 1 if largest else 1.0

    score, null = row["sad"]["score"], row["sad"]["null_q95"]
    body = []
    if null is not None:
        body.append(tag("rect", x=0, y=0, width=at(null), height=16, cls="bar-ground"))
    if score["value"] is not None:
        body.append(tag("rect", x=0, y=4, width=at(score["value"]), height=8, cls="bar"))
        if score["ci95"] is not None:
            low, high = score["ci95"]
            body.append(line(at(low), 8, at(high), 8, "floor"))
    return tag(
        "svg", *body, viewBox="0 0 110 16", width=110, height=16, aria_hidden="true", cls="spark"
    )
