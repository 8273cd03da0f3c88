"""Small bars: dominance quartiles, intervals, and means beneath each other."""

from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import number
from leaderboard.plots.svg import figure, label, line, tag
from leaderboard.reading.records import Score

_WIDTH, _ROW, _LEFT, _BAR = 350, 32, 32, 170
_THREE = ("bar", "bar twin-bar", "bar random-bar")


def quartile_bars(key: str, mass: Sequence[Score]) -> Markup:
    """Share of the activation held by each dominance quartile, Q1 on top, with intervals."""
    body, described = [], []
    for index, score in enumerate(mass):
        y, shown = index * _ROW + 4, number(score)
        text = f"{shown.text} {shown.interval or ''}".rstrip()
        described.append(f"Q{index + 1} {text}")
        body += [
            label(0, y + 17, f"Q{index + 1}", "name"),
            tag("rect", x=_LEFT, y=y, width=_BAR, height=24, cls="bar-ground"),
            *_bar(score, y, f"bar q{index + 1}"),
            label(_LEFT + _BAR + 8, y + 17, text, "value"),
        ]
    title = "Share of all activation held by each dominance quartile"
    size = (_WIDTH, 4 * _ROW)
    return figure(key, size, title, f"Bars: {', '.join(described)}.", body)


def _bar(score: Score, y: float, cls: str) -> list[Markup]:
    if score.value is None:
        return []
    body = [tag("rect", x=_LEFT, y=y, width=_BAR * min(1.0, score.value), height=24, cls=cls)]
    if score.ci95 is not None:
        left, right = (_LEFT + _BAR * min(1.0, end) for end in score.ci95)
        body.append(line(left, y + 12, right, y + 12, "floor"))
    return body


def interval_glyph(
    value: float, ci95: tuple[float, float] | None, low: float, high: float
) -> Markup:
    """Value and interval on an axis from ``low`` to ``high`` that all rows share, zero marked."""
    width, margin = 96.0, 5.0

    def at(v: float) -> float:
        return margin + (v - low) / (high - low) * (width - 2 * margin)

    body = [line(at(0), 0, at(0), 22, "zero")]
    if ci95 is not None:
        body.append(line(at(ci95[0]), 11, at(ci95[1]), 11, "interval"))
    body.append(tag("circle", cx=at(value), cy=11, r=3.5, cls="dot"))
    return tag(
        "svg", *body, viewBox="0 0 96 22", width=96, height=22, aria_hidden="true", cls="spark"
    )


def three_bars(scores: Sequence[Score]) -> Markup:
    """Trained, untrained and random codes beneath each other, from 0, each with its interval."""
    width, height = 120.0, 9.0
    ends = [0.0]
    for score in scores:
        ends += [end for end in (score.low, score.high, score.value) if end is not None]
    low, high = min(ends), max(ends)

    def at(value: float) -> float:
        return (value - low) / ((high - low) or 1.0) * (width - 2) + 1

    body = []
    for index, (score, cls) in enumerate(zip(scores, _THREE, strict=True)):
        if score.value is None:
            continue
        y, left, right = index * 11.0, at(min(score.value, 0.0)), at(max(score.value, 0.0))
        body.append(tag("rect", x=left, y=y, width=right - left, height=height, cls=cls))
        if score.ci95 is not None:
            middle = y + height / 2
            body.append(line(at(score.ci95[0]), middle, at(score.ci95[1]), middle, "floor"))
    return tag(
        "svg", *body, viewBox="0 0 120 31", width=120, height=31, aria_hidden="true", cls="spark"
    )
