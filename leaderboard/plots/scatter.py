"""TAPAScore against MATCHScore, with intervals and the baselines behind them."""

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import fixed, number
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
from leaderboard.records import Record, Score

X, Y = "match_score", "tapa_score"
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 30, 46
Point = tuple[float, float]


def scatter(key: str, records: Sequence[Record], size: tuple[int, int]) -> Markup | None:
    """The figure at ``size`` px, or None where no record has both scores."""
    shown = [record for record in records if _point(record.score(X), record.score(Y))]
    if not shown:
        return None
    x, y = _axes(shown, size)
    off = _off(shown, x, y, size[0] - _LEFT)
    frame = Box(_LEFT, _TOP, x.end, y.start)
    placer = Placer(frame)
    body = [
        *_grid(x, y, frame),
        *_floor(shown, x, frame, placer),
        *_trails(shown, x, y),
        *_baseline(shown, "untrained", x, y, placer),
        *_baseline(shown, "random_codes", x, y, placer),
        *_entries(shown, x, y, placer),
        *_labels(shown, x, y, placer),
    ]
    for row, text in enumerate(off):
        body.append(label(_LEFT, frame.bottom + 58 + 17 * row, text, "note"))
    title = "TAPAScore against held-out MATCHScore"
    full = (size[0], size[1] + 17 * len(off))
    return figure(key, full, title, _describe(shown), body)


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
        off.append(f"random codes at ({fixed(px, 2)}, {fixed(py, 2)})")
    value = _always_yes(records)
    if value is not None and not x.holds(value):
        off.append(f"always yes at {fixed(value, 2)}")
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


def _trails(records: Sequence[Record], x: Axis, y: Axis) -> list[Markup]:
    paths: dict[str, list[Point]] = defaultdict(list)
    for (architecture, _), seeds in groups(records).items():
        at = _mean([_own(record) for record in seeds])
        paths[architecture].append((x(at[0]), y(at[1])))
    return [polyline(path, "trail") for path in paths.values() if len(path) > 1]


def _baseline(
    records: Sequence[Record], name: str, x: Axis, y: Axis, placer: Placer
) -> list[Markup]:
    points = [p for p in _points(records, name) if x.holds(p[0]) and y.holds(p[1])]
    if not points:
        return []
    body = []
    for px, py in points:
        at = x(px), y(py)
        placer.block(*at, 4)
        if name == "untrained":
            body.append(tag("circle", cx=at[0], cy=at[1], r=3.5, cls="twin"))
        else:
            body.append(_times(*at))
    text = "untrained twins" if name == "untrained" else "random codes"
    # At the group's rightmost point: the trained ones lie above and to the right of the twins.
    for px, py in reversed(points):
        if box := placer.place(x(px), y(py), text_width(text), 14):
            return [*body, label(box.left, box.bottom - 3, text, "note")]
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
            whiskers.append(line(x(sx.ci95[0]), at[1], x(sx.ci95[1]), at[1], "whisker"))
        if sy.ci95:
            whiskers.append(line(at[0], y(sy.ci95[0]), at[0], y(sy.ci95[1]), "whisker"))
        marks.append(mark(record.architecture, *at, title=_sentence(record)))
    return whiskers + marks


def _labels(records: Sequence[Record], x: Axis, y: Axis, placer: Placer) -> list[Markup]:
    body = []
    for (architecture, d_sae), seeds in groups(records).items():
        at = _mean([_own(record) for record in seeds])
        text = f"{short(architecture_label(architecture))} {d_sae:,}"
        box = placer.place(x(at[0]), y(at[1]), text_width(text), 14)
        if box is None:
            continue
        middle = (box.top + box.bottom) / 2
        near = min(max(x(at[0]), box.left), box.right)
        if abs(near - x(at[0])) + abs(middle - y(at[1])) > 26:
            body.append(line(x(at[0]), y(at[1]), near, middle, "leader"))
        left_side = box.right <= x(at[0])
        body.append(
            label(box.right, box.bottom - 3, text, "name", "end")
            if left_side
            else label(box.left, box.bottom - 3, text, "name")
        )
    return body


def _sentence(record: Record) -> str:
    x, y = (number(score) for score in _both(record))
    return (
        f"{record.name}: MATCHScore {x.text} {x.interval or ''}, TAPAScore {y.text} "
        f"{y.interval or ''}".rstrip()
    )


def _describe(records: Sequence[Record]) -> str:
    parts = []
    for (architecture, d_sae), seeds in groups(records).items():
        px, py = _mean([_own(record) for record in seeds])
        parts.append(f"{short(architecture_label(architecture))} {d_sae}: {px:.2f}, {py:.2f}")
    return (
        "Scatter plot, MATCHScore then TAPAScore, means over seeds. " + "; ".join(parts) + ". "
        "The table holds every value with its interval."
    )
