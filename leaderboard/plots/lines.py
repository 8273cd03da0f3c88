"""Several lines over one axis of doubling sizes, with direct labels and published values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.labels import spread_out
from leaderboard.plots.svg import (
    Axis,
    architecture_index,
    figure,
    label,
    line,
    mark,
    nice_ticks,
    polyline,
    short,
    tag,
    text_width,
)

SIZE = (430, 280)
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 138, 34, 42


@dataclass(frozen=True)
class Point:
    """A value at a size, with its interval where it has one."""

    x: int
    y: float
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class Line:
    """A line with its name; ``shape`` picks mark and colour as an architecture does."""

    name: str
    shape: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Reference:
    """A published value at a size, said in words."""

    x: int
    y: float
    text: str


def lines_panel(
    key: str,
    title: str,
    across: str,
    lines: Sequence[Line],
    references: Sequence[Reference] = (),
) -> Markup | None:
    """The figure; None where no line has two points.

    Args:
        key: prefix of the ids in the SVG.
        title: what is drawn.
        across: name of the horizontal axis, which is logarithmic.
        lines: at most seven are told apart.
        references: published values, drawn as hollow rings.
    """
    shown = [one for one in lines if one.points]
    if not any(len(one.points) > 1 for one in shown):
        return None
    places = sorted({point.x for one in shown for point in one.points} | {r.x for r in references})
    x, y = _axes(places, shown, references)
    body = [label(0, 14, title, "panel-title"), *_grid(x, y, places, across)]
    ends = []
    for one in shown:
        index = architecture_index(one.shape)
        points = [(x(math.log2(point.x)), y(point.y)) for point in one.points]
        for point, (px, _) in zip(one.points, points, strict=True):
            if point.ci95:
                body.append(line(px, y(point.ci95[0]), px, y(point.ci95[1]), "whisker"))
        if len(points) > 1:
            body.append(polyline(points, f"series s{index}"))
        for point, (px, py) in zip(one.points, points, strict=True):
            body.append(mark(one.shape, px, py, 3.8, f"{one.name}, {point.x:,}: {point.y:.3f}"))
        ends.append((points[-1][1], short(one.name), "name"))
    for value in references:
        px, py = x(math.log2(value.x)), y(value.y)
        body.append(tag("circle", tag("title", value.text), cx=px, cy=py, r=7.0, cls="paper"))
        ends.append((py, short(value.text, 22), "note"))
    heights = spread_out([end[0] for end in ends], 15, _TOP + 2, SIZE[1] - _BOTTOM - 2)
    body += [
        label(SIZE[0] - _RIGHT + 8, height + 4, text, cls)
        for height, (_, text, cls) in zip(heights, ends, strict=True)
    ]
    return figure(key, SIZE, title, _describe(title, across, shown, references), body)


def _axes(
    places: Sequence[int], lines: Sequence[Line], references: Sequence[Reference]
) -> tuple[Axis, Axis]:
    values = [0.0, *(one.y for one in references)]
    for one in lines:
        for point in one.points:
            values += [point.y, *(point.ci95 or ())]
    low, high = math.log2(places[0]), math.log2(places[-1])
    if high - low < 1:
        low, high = low - 1, high + 1
    return (
        Axis([low, high], _LEFT + 12, SIZE[0] - _RIGHT - 10),
        Axis(nice_ticks(min(values), max(values), 5), SIZE[1] - _BOTTOM, _TOP),
    )


def _grid(x: Axis, y: Axis, places: Sequence[int], across: str) -> list[Markup]:
    right, bottom = SIZE[0] - _RIGHT, SIZE[1] - _BOTTOM
    body = []
    for tick, text in zip(y.ticks, y.texts, strict=True):
        body.append(line(_LEFT, y(tick), right, y(tick), "zero" if tick == 0 else "grid"))
        body.append(label(_LEFT - 8, y(tick) + 4, text, "tick", "end"))
    free = -math.inf
    for place in places:
        text, at = f"{place:,}", x(math.log2(place))
        if at - text_width(text, 11) / 2 > free:
            body.append(label(at, bottom + 17, text, "tick", "middle"))
            free = at + text_width(text, 11) / 2
    body.append(label((_LEFT + right) / 2, bottom + 36, across, "axis", "middle"))
    return body


def _describe(
    title: str, across: str, lines: Sequence[Line], references: Sequence[Reference]
) -> str:
    parts = [
        f"{one.name}: " + ", ".join(f"{p.x} {rounded(p.y)}" for p in one.points) for one in lines
    ]
    parts += [f"published at {one.x}: {one.text}" for one in references]
    return f"Line plot. {title} by {across}. " + "; ".join(parts) + "."
