"""TAPAScore against MATCHScore, with intervals, the Pareto front and the baselines behind."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from leaderboard.numbers import number, rounded
from leaderboard.plots.crowd import dots, legend
from leaderboard.plots.front import pareto_front, stairs
from leaderboard.plots.labels import Box, Placer
from leaderboard.plots.svg import (
    Axis,
    architecture_label,
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
from leaderboard.reading.records import Record, Score

X, Y = "match_score", "tapa_score"
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 30, 46
_TOGETHER = 70

MANY = 60
"""Records up to which every one is drawn in full."""

LABELLED = 24
"""Records of the front that are drawn in full where there are many."""

Point = tuple[float, float]


def scatter(key: str, records: Sequence[Record], size: tuple[int, int]) -> Markup | None:
    """The figure at ``size`` px, or None where no record has both scores.

    Up to ``MANY`` records each have their intervals and a label where there is room; of more, only
    the front has, and the others are dots.
    """
    shown = [record for record in records if _point(record.score(X), record.score(Y))]
    if not shown:
        return None
    x, y = _axes(shown, size)
    many = len(shown) > MANY
    off = _off(shown, x, y, size[0] - _LEFT)
    frame = Box(_LEFT, _TOP, x.end, y.start)
    placer = Placer(frame)
    front = [shown[index] for index in pareto_front([_own(record) for record in shown])]
    full = front[:LABELLED] if many else shown
    ids = {record.id for record in full}
    body = [
        *_grid(x, y, frame),
        *_floor(shown, x, frame, placer),
        *dots((r.architecture, *_at(r, x, y)) for r in shown if r.id not in ids),
        *_front(front, x, y),
        *_baseline(shown, "untrained", x, y, placer, many),
        *_baseline(shown, "random_codes", x, y, placer, many),
        *_entries(full, x, y, placer),
        *_labels(full, x, y, placer, {record.id for record in front}),
    ]
    top = frame.bottom + 58
    for row, text in enumerate(off):
        body.append(label(_LEFT, top + 17 * row, text, "note"))
    lower = 17.0 * len(off)
    if many:
        names = [record.architecture for record in shown]
        meaning, height = legend(names, _LEFT, top + lower, size[0])
        body, lower = [*body, *meaning], lower + height
    title = "TAPAScore against held-out MATCHScore"
    whole = (size[0], size[1] + lower)
    return figure(key, whole, title, _describe(shown, front), body)


def groups(records: Sequence[Record]) -> dict[tuple[str, int], list[Record]]:
    """Records by architecture and dictionary size, so the seeds of one setting together."""
    found: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda r: (r.architecture, r.d_sae, r.id)):
        found[record.architecture, record.d_sae].append(record)
    return dict(found)


def _point(x: Score | None, y: Score | None) -> Point | None:
    if x is None or y is None or x.value is None or y.value is None:
        return None
    return x.value, y.value


def _both(record: Record) -> tuple[Score, Score]:
    x, y = record.score(X), record.score(Y)
    assert x is not None
    assert y is not None
    return x, y


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _own(record: Record) -> Point:
    point = _point(*_both(record))
    assert point is not None
    return point


def _at(record: Record, x: Axis, y: Axis) -> Point:
    px, py = _own(record)
    return x(px), y(py)


def _axes(records: Sequence[Record], size: tuple[int, int]) -> tuple[Axis, Axis]:
    """Axes that hold the SAEs and their twins; what lies far off is named at the edge instead."""
    ends: dict[str, list[float]] = {X: [], Y: []}
    for record in records:
        for key, values in ends.items():
            own, twin = record.score(key), record.baseline("untrained", key)
            own_ends = (own.low, own.high) if own is not None else ()
            twin_ends = (twin.value,) if twin is not None else ()
            values += [end for end in (*own_ends, *twin_ends) if end is not None]
    many = 6 if size[0] > 500 else 4
    return (
        Axis(nice_ticks(min(ends[X]), max(ends[X]), many), _LEFT, size[0] - _RIGHT),
        Axis(nice_ticks(min(ends[Y]), max(ends[Y]), 5), size[1] - _BOTTOM, _TOP),
    )


def _grid(x: Axis, y: Axis, frame: Box) -> list[Markup]:
    body = []
    for tick, text in zip(x.ticks, x.texts, strict=True):
        body.append(line(x(tick), frame.top, x(tick), frame.bottom, "grid"))
        body.append(label(x(tick), frame.bottom + 17, text, "tick", "middle"))
    for tick, text in zip(y.ticks, y.texts, strict=True):
        body.append(line(frame.left, y(tick), frame.right, y(tick), "grid"))
        body.append(label(frame.left - 8, y(tick) + 4, text, "tick", "end"))
    middle = (frame.left + frame.right) / 2
    body.append(label(middle, frame.bottom + 37, "MATCHScore, held-out →", "axis", "middle"))
    body.append(label(frame.left - 40, frame.top - 14, "↑ TAPAScore", "axis"))
    return body


def _floor(records: Sequence[Record], x: Axis, frame: Box, placer: Placer) -> list[Markup]:
    value = _always_yes(records)
    if value is None or not x.holds(value):
        return []
    body = [line(x(value), frame.top, x(value), frame.bottom, "reference")]
    if box := placer.place(x(value), frame.top + 12, text_width("always yes"), 14):
        body.append(label(box.left, box.bottom - 3, "always yes", "note"))
    return body


def _off(records: Sequence[Record], x: Axis, y: Axis, room: float) -> list[str]:
    """Lines that name the baselines outside the axes, none wider than ``room`` px."""
    off = []
    random = _points(records, "random_codes")
    if random and not any(x.holds(px) and y.holds(py) for px, py in random):
        px, py = _mean(random)
        off.append(f"random codes at ({rounded(px)}, {rounded(py)})")
    value = _always_yes(records)
    if value is not None and not x.holds(value):
        off.append(f"always yes at {rounded(value)}")
    if not off:
        return []
    whole = f"off the plot: {', '.join(off)}"
    return [whole] if text_width(whole) < room else [f"off the plot: {text}" for text in off]


def _always_yes(records: Sequence[Record]) -> float | None:
    bounds = [record.bound("prevalence") for record in records]
    values = [b.value for b in bounds if b is not None and b.value is not None]
    return sum(values) / len(values) if values else None


def _points(records: Sequence[Record], name: str) -> list[Point]:
    found = (_point(r.baseline(name, X), r.baseline(name, Y)) for r in records)
    return sorted({point for point in found if point is not None})


def _front(front: Sequence[Record], x: Axis, y: Axis) -> list[Markup]:
    corners = stairs([_own(record) for record in front], (x.ticks[0], y.ticks[0]))
    return [polyline([(x(px), y(py)) for px, py in corners], "front")]


def _baseline(
    records: Sequence[Record], name: str, x: Axis, y: Axis, placer: Placer, many: bool
) -> list[Markup]:
    points = [p for p in _points(records, name) if x.holds(p[0]) and y.holds(p[1])]
    if not points:
        return []
    body = []
    if many:
        points = [_mean(points)]
    for px, py in points:
        at = x(px), y(py)
        placer.block(*at, 4)
        if name == "untrained":
            body.append(tag("circle", cx=at[0], cy=at[1], r=3.5, cls="twin"))
        else:
            body.append(_times(*at))
    text = "untrained twins" if name == "untrained" else "random codes"
    if many:
        text = f"mean of the {text}"
    # At the group's rightmost point: the trained ones lie above and to the right of the twins.
    for px, py in reversed(points):
        if box := placer.place(x(px), y(py), text_width(text), 14):
            return [*body, label(box.left, box.bottom - 3, text, "halo note")]
    return body


def _times(x: float, y: float) -> Markup:
    arm = 3.0
    return tag(
        "g",
        line(x - arm, y - arm, x + arm, y + arm, "random"),
        line(x - arm, y + arm, x + arm, y - arm, "random"),
    )


def _entries(records: Sequence[Record], x: Axis, y: Axis, placer: Placer) -> list[Markup]:
    whiskers, marks = [], []
    for record in records:
        sx, sy = _both(record)
        px, py = _own(record)
        at = x(px), y(py)
        placer.block(*at, 6)
        if sx.ci95:
            placer.avoid(x(sx.ci95[0]), at[1], x(sx.ci95[1]), at[1])
            whiskers.append(line(x(sx.ci95[0]), at[1], x(sx.ci95[1]), at[1], "whisker"))
        if sy.ci95:
            placer.avoid(at[0], y(sy.ci95[1]), at[0], y(sy.ci95[0]))
            whiskers.append(line(at[0], y(sy.ci95[0]), at[0], y(sy.ci95[1]), "whisker"))
        marks.append(mark(record.architecture, *at, title=_sentence(record)))
    return whiskers + marks


def _labels(
    records: Sequence[Record], x: Axis, y: Axis, placer: Placer, front: set[str]
) -> list[Markup]:
    """Labels where there is room for them, those of the front first."""
    found = sorted(_named(records, x, y), key=lambda item: not (item[1] & front))
    body = []
    for text, ids, at in found:
        box = placer.place(*at, text_width(text), 14)
        if box is None:
            continue
        middle = (box.top + box.bottom) / 2
        near = min(max(at[0], box.left), box.right)
        if abs(near - at[0]) + abs(middle - at[1]) > 26:
            body.append(line(*at, near, middle, "leader"))
        cls = "name" if ids & front else "plain"
        body.append(
            label(box.right, box.bottom - 3, text, cls, "end")
            if box.right <= at[0]
            else label(box.left, box.bottom - 3, text, cls)
        )
    return body


def _named(records: Sequence[Record], x: Axis, y: Axis) -> Iterator[tuple[str, set[str], Point]]:
    """Label, records and place in px: names, or one label for close seeds of a setting."""
    for (architecture, d_sae), seeds in groups(records).items():
        places = [_at(record, x, y) for record in seeds]
        middle = _mean(places)
        if len(seeds) > 1 and all(math.dist(place, middle) < _TOGETHER for place in places):
            text = f"{short(architecture_label(architecture))} {d_sae:,}"
            yield text, {record.id for record in seeds}, middle
            continue
        for record, place in zip(seeds, places, strict=True):
            yield short(record.name, 28), {record.id}, place


def _sentence(record: Record) -> str:
    x, y = (number(score) for score in _both(record))
    return (
        f"{short(record.name, 60)}: MATCHScore {x.text} {x.interval or ''}, TAPAScore {y.text} "
        f"{y.interval or ''}".rstrip()
    )


def _describe(records: Sequence[Record], front: Sequence[Record]) -> str:
    parts = []
    for (architecture, d_sae), seeds in list(groups(records).items())[:MANY]:
        px, py = _mean([_own(record) for record in seeds])
        parts.append(
            f"{short(architecture_label(architecture))} {d_sae}: {rounded(px)}, {rounded(py)}"
        )
    best = ", ".join(short(record.name, 40) for record in front[:LABELLED])
    return (
        "Scatter plot, MATCHScore then TAPAScore, means over seeds. " + "; ".join(parts) + ". "
        f"On the Pareto front: {best}. The table holds every value with its interval."
    )
