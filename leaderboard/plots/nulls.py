"""Divergences of several generators, each before the grey band of its permutation null."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from leaderboard.numbers import number, rounded
from leaderboard.plots.svg import Axis, figure, label, line, name_width, nice_ticks, short, tag
from leaderboard.reading.records import Score

_ROW, _TOP, _BOTTOM, _CHARS = 26, 8, 40, 26


@dataclass(frozen=True)
class NullRow:
    """A generator: its name, its divergence, and its null's 95 % point."""

    name: str
    score: Score
    q95: float | None


def null_bars(key: str, title: str, rows: Sequence[NullRow], width: float) -> Markup | None:
    """One line a generator: point and resampling spread, before the band up to its null's 95 %
    point.

    Args:
        key: prefix of the ids in the SVG.
        title: what is drawn.
        rows: top to bottom; None is given back without any.
        width: of the figure, px.
    """
    ends = [0.0]
    for row in rows:
        ends += [v for v in (row.score.value, row.score.high, row.q95) if v is not None]
    if not rows or max(ends) == 0:
        return None
    chars = _CHARS if width > 500 else 14
    left = max(name_width(short(row.name, chars)) for row in rows) + 12
    bottom = _TOP + len(rows) * _ROW
    x = Axis(nice_ticks(0.0, max(ends), 5 if width > 500 else 3), left, width - 22)
    body: list[Markup] = []
    for tick, text in zip(x.ticks, x.texts, strict=True):
        body.append(line(x(tick), _TOP, x(tick), bottom, "zero" if tick == 0 else "grid"))
        body.append(label(x(tick), bottom + 16, text, "tick", "middle"))
    body.append(label((left + width) / 2, bottom + 34, f"{title}, in nats", "axis", "middle"))
    for index, row in enumerate(rows):
        body += _row(row, x, _TOP + index * _ROW + _ROW / 2, left, chars)
    text = "; ".join(_sentence(row) for row in rows)
    size = (width, bottom + _BOTTOM)
    return figure(key, size, f"{title} of every generator beside its null", f"{text}.", body)


def _row(row: NullRow, x: Axis, y: float, left: float, chars: int) -> list[Markup]:
    body = [label(left - 12, y + 4, short(row.name, chars), "name", "end")]
    if row.q95 is not None:
        body.append(
            tag("rect", x=x(0), y=y - 8, width=x(row.q95) - x(0), height=16, cls="null-band")
        )
    if row.score.ci95 is not None:
        low, high = (max(0.0, end) for end in row.score.ci95)
        body.append(line(x(low), y, x(high), y, "spread-bar"))
    at = x(max(0.0, row.score.value or 0.0))
    return [*body, tag("circle", cx=at, cy=y, r=4.5, cls="null-mark")]


def _sentence(row: NullRow) -> str:
    shown = number(row.score)
    spread = "" if shown.interval is None else f", resampling spread {shown.interval}"
    null = "" if row.q95 is None else f", null {rounded(row.q95)}"
    return f"{short(row.name, 40)} {shown.text}{spread}{null}"
