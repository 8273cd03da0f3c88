"""A score against dictionary size, one panel per architecture, trained and untrained."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.crowd import dots
from leaderboard.plots.labels import spread_out
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

SIZE = (360, 236)
MANY = 40
"""Records of one architecture up to which each is a mark with its interval."""

PANELS = 12
"""Architectures that have a panel: those with the most SAEs."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 42, 104, 34, 40
_SERIES = (
    ("untrained", "untrained twin", "twin-line"),
    ("random_codes", "random codes", "random-line"),
)
Series = Mapping[int, Sequence[float]]


def sweep_panels(key: str, records: Sequence[Record], metric: str, name: str) -> list[Markup]:
    """One panel per architecture with the metric called ``name``, all on the same axes.

    An architecture measured at one dictionary size only has no panel.
    """
    known = [r for r in records if (s := r.score(metric)) is not None and s.value is not None]
    found: dict[str, set[int]] = defaultdict(set)
    for record in known:
        found[record.architecture].add(record.d_sae)
    shown = [record for record in known if len(found[record.architecture]) > 1]
    if not shown:
        return []
    x, y = _axes(shown, metric)
    sizes = sorted({record.d_sae for record in shown})
    counts = Counter(record.architecture for record in shown)
    most = sorted(counts, key=lambda name: (-counts[name], name))[:PANELS]
    architectures = sorted(most)
    return [
        _panel(
            f"{key}-{index}",
            [record for record in shown if record.architecture == architecture],
            (metric, name),
            (x, y),
            sizes,
        )
        for index, architecture in enumerate(architectures)
    ]


def _axes(records: Sequence[Record], metric: str) -> tuple[Axis, Axis]:
    values = [0.0]
    for record in records:
        for score in _all_scores(record, metric):
            if score is not None and score.low is not None and score.high is not None:
                values += [score.low, score.high]
    logs = [math.log2(record.d_sae) for record in records]
    low, high = min(logs), max(logs)
    if high - low < 1:
        low, high = low - 1, high + 1
    return (
        Axis([low, high], _LEFT + 12, SIZE[0] - _RIGHT - 8),
        Axis(nice_ticks(min(values), max(values), 4), SIZE[1] - _BOTTOM, _TOP),
    )


def _all_scores(record: Record, metric: str) -> list[Score | None]:
    return [
        record.score(metric),
        record.baseline("untrained", metric),
        record.baseline("random_codes", metric),
        record.bound("prevalence") if metric == "match_score" else None,
    ]


def _series(records: Sequence[Record], of: Callable[[Record], Score | None]) -> Series:
    found: dict[int, list[float]] = defaultdict(list)
    for record in records:
        score = of(record)
        if score is not None and score.value is not None:
            found[record.d_sae].append(score.value)
    return dict(sorted(found.items()))


def _panel(
    key: str,
    records: Sequence[Record],
    metric: tuple[str, str],
    axes: tuple[Axis, Axis],
    sizes: Sequence[int],
) -> Markup:
    y = axes[1]
    name, architecture = metric[1], records[0].architecture
    trained = _series(records, lambda record: record.score(metric[0]))
    body = [
        *_grid(axes, sizes),
        label(0, 14, short(architecture_label(architecture)), "panel-title"),
    ]
    ends: list[tuple[float, str, str]] = []
    if metric[0] == "match_score":
        flat = _series(records, lambda record: record.bound("prevalence"))
        if levels := [level for values in flat.values() for level in values]:
            level = sum(levels) / len(levels)
            body.append(line(_LEFT, y(level), SIZE[0] - _RIGHT, y(level), "reference"))
            ends.append((y(level), "always yes", "note"))
    for baseline, text, cls in _SERIES:
        series = _series(records, lambda record, b=baseline: record.baseline(b, metric[0]))  # type: ignore[misc]
        if series:
            points = _means(series, axes)
            body.append(polyline(points, cls))
            body += [tag("circle", cx=px, cy=py, r=2.5, cls=f"{cls}-dot") for px, py in points]
            ends.append((points[-1][1], text, "note"))
    points = _means(trained, axes)
    body.append(polyline(points, "trained-line"))
    ends.append((points[-1][1], "trained", "name"))
    body += _marks(records, metric[0], axes)
    body += _end_labels(ends)
    return figure(
        key,
        SIZE,
        f"{name} against dictionary size, {short(architecture_label(architecture))}",
        _describe(name, trained, records, metric[0]),
        body,
    )


def _means(series: Series, axes: tuple[Axis, Axis]) -> list[tuple[float, float]]:
    x, y = axes
    return [(x(math.log2(d)), y(sum(values) / len(values))) for d, values in series.items()]


def _grid(axes: tuple[Axis, Axis], sizes: Sequence[int]) -> list[Markup]:
    x, y = axes
    right, bottom = SIZE[0] - _RIGHT, SIZE[1] - _BOTTOM
    body = []
    for tick, text in zip(y.ticks, y.texts, strict=True):
        cls = "zero" if tick == 0 else "grid"
        body.append(line(_LEFT, y(tick), right, y(tick), cls))
        body.append(label(_LEFT - 8, y(tick) + 4, text, "tick", "end"))
    free = -math.inf
    for d in sizes:
        text, at = f"{d:,}", x(math.log2(d))
        if at - text_width(text, 11) / 2 > free:
            body.append(label(at, bottom + 17, text, "tick", "middle"))
            free = at + text_width(text, 11) / 2
    middle = (_LEFT + right) / 2
    body.append(label(middle, bottom + 35, "dictionary size", "axis", "middle"))
    return body


def _marks(records: Sequence[Record], metric: str, axes: tuple[Axis, Axis]) -> list[Markup]:
    x, y = axes
    if len(records) > MANY:
        known = [(r, s) for r in records if (s := r.score(metric)) and s.value is not None]
        return dots((r.architecture, x(math.log2(r.d_sae)), y(s.value or 0.0)) for r, s in known)
    whiskers, marks = [], []
    for record in records:
        score = record.score(metric)
        if score is None or score.value is None:
            continue
        at = x(math.log2(record.d_sae))
        if score.ci95:
            whiskers.append(line(at, y(score.ci95[0]), at, y(score.ci95[1]), "whisker"))
        title = f"{short(record.name, 60)}: {rounded(score.value)}"
        marks.append(mark(record.architecture, at, y(score.value), 3.8, title))
    return whiskers + marks


def _end_labels(ends: Sequence[tuple[float, str, str]]) -> list[Markup]:
    heights = spread_out([height for height, _, _ in ends], 15, _TOP + 2, SIZE[1] - _BOTTOM - 2)
    return [
        label(SIZE[0] - _RIGHT + 6, height + 4, text, cls)
        for height, (_, text, cls) in zip(heights, ends, strict=True)
    ]


def _describe(name: str, trained: Series, records: Sequence[Record], metric: str) -> str:
    twin = _series(records, lambda record: record.baseline("untrained", metric))
    parts = []
    for d, values in trained.items():
        text = f"{d}: {rounded(sum(values) / len(values))}"
        if d in twin:
            text += f", untrained twin {rounded(sum(twin[d]) / len(twin[d]))}"
        parts.append(text)
    return f"Line plot. {name} by dictionary size, mean over seeds. " + "; ".join(parts) + "."
