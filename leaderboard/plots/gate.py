"""The gate: trained SAEs against their untrained twins, every training seed a point."""

from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import number
from leaderboard.plots.svg import (
    Axis,
    architecture_label,
    figure,
    label,
    line,
    mark,
    nice_ticks,
    short,
    tag,
    text_width,
)
from leaderboard.reading.records import Gate, GateRow, Score

WIDTH = 360
_LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 8, 14, 42, 30, 100
_NAMES = {"match_score": "MATCHScore, held-out", "tapa_score": "TAPAScore"}


def gate_panels(key: str, gate: Gate) -> list[Markup]:
    """One panel per metric: rows of architectures, trained above untrained."""
    metrics = [m for m in _NAMES if any(row.metric == m for row in gate.rows)]
    return [
        _panel(f"{key}-{metric}", metric, [row for row in gate.rows if row.metric == metric])
        for metric in metrics
    ]


def _panel(key: str, metric: str, rows: Sequence[GateRow]) -> Markup:
    height = _TOP + _ROW * len(rows) + _BOTTOM
    values = [0.0]
    for row in rows:
        values += [*row.trained_seeds, *row.untrained_seeds]
        for score in (row.trained, row.untrained):
            values += [bound for bound in (score.low, score.high) if bound is not None]
    x = Axis(nice_ticks(min(values), max(values), 4), _LEFT, WIDTH - _RIGHT)
    body = [label(0, 14, _NAMES[metric], "panel-title")]
    for tick, text in zip(x.ticks, x.texts, strict=True):
        cls = "zero" if tick == 0 else "grid"
        body.append(line(x(tick), _TOP - 12, x(tick), height - _BOTTOM, cls))
        body.append(label(x(tick), height - _BOTTOM + 17, text, "tick", "middle"))
    for index, row in enumerate(rows):
        body += _row(row, x, _TOP + _ROW * index)
    return figure(
        key, (WIDTH, height), f"{_NAMES[metric]}: trained against untrained twin",
        " ".join(_sentence(row) for row in rows), body,
    )  # fmt: skip


def _row(row: GateRow, x: Axis, top: float) -> list[Markup]:
    text = short(architecture_label(row.architecture))
    verdict = "trained is clearly higher" if row.passed else "trained is not clearly higher"
    heading = tag(
        "text", tag("tspan", text, cls="name"), tag("tspan", verdict, cls="note", dx=6),
        x=_LEFT + 2, y=top + 4,
    )  # fmt: skip
    return [
        heading,
        *_series(row.architecture, row.trained, row.trained_seeds, x, top + 36, True),
        *_series(row.architecture, row.untrained, row.untrained_seeds, x, top + 72, False),
    ]


def _series(
    architecture: str, score: Score, seeds: Sequence[float], x: Axis, y: float, trained: bool
) -> list[Markup]:
    kind = "gate-trained" if trained else "gate-twin"
    body = []
    if score.ci95:
        left, right = x(score.ci95[0]), x(score.ci95[1])
        body.append(line(left, y, right, y, f"{kind} bar"))
        body += [line(end, y - 5, end, y + 5, kind) for end in (left, right)]
    if score.value is None:
        return [label(_LEFT + 2, y + 4, "n/a", "note")]
    at = x(score.value)
    body.append(line(at, y - 8, at, y + 8, f"{kind} mean"))
    for seed in seeds:
        body.append(
            mark(architecture, x(seed), y, 3.6)
            if trained
            else tag("circle", cx=x(seed), cy=y, r=3.4, cls="twin")
        )
    shown = number(score)
    text = f"{'trained' if trained else 'untrained'} {shown.text} {shown.interval or ''}".rstrip()
    start = min([*(x(seed) for seed in seeds), x(score.value if score.low is None else score.low)])
    room = WIDTH - text_width(text)
    body.append(label(max(0.0, min(start, room)), y - 12, text, "halo" if trained else "halo note"))
    return body


def _sentence(row: GateRow) -> str:
    trained, twin = number(row.trained), number(row.untrained)
    return (
        f"{architecture_label(row.architecture)}: trained {trained.text} {trained.interval or ''}, "
        f"untrained {twin.text} {twin.interval or ''}, "
        f"{'passed' if row.passed else 'not passed'}."
    )
