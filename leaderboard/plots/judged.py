"""What a judge makes of latents, by dominance quartile: mean scores, and how they spread."""

from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import Number, fixed
from leaderboard.plots.svg import figure, label, line, tag
from leaderboard.reading.records import Score

CHANCE = 1 / 6
"""How often a guess orders three examples rightly."""

_WIDTH, _LEFT, _BAR, _ROW, _THICK = 350, 32, 150, 44, 24
_COLUMN, _BAND, _TALL = 28, 62, 34


def quartile_scores(
    key: str, means: Sequence[tuple[Score, Number]], eligible: Sequence[str]
) -> Markup:
    """Mean score of each quartile, Q1 on top, over the text of its eligible share; chance marked.

    Args:
        key: prefix of the ids.
        means: score in [0, 1] and its number of Q1 to Q4.
        eligible: what to say of each quartile's eligible share.
    """
    body, described = [], []
    right = _LEFT + _BAR + 8
    for index, ((score, number), share) in enumerate(zip(means, eligible, strict=True)):
        y = index * _ROW + 4
        text = f"{number.text} {number.interval or ''}".rstrip()
        described.append(f"Q{index + 1} {text}, {share}")
        body += [
            label(0, y + 17, f"Q{index + 1}", "name"),
            tag("rect", x=_LEFT, y=y, width=_BAR, height=_THICK, cls="bar-ground"),
        ]
        if score.value is not None:
            width = _BAR * score.value
            body.append(
                tag("rect", x=_LEFT, y=y, width=width, height=_THICK, cls=f"bar q{index + 1}")
            )
        if score.ci95 is not None:
            ends = (_LEFT + _BAR * end for end in score.ci95)
            body.append(line(next(ends), y + _THICK / 2, next(ends), y + _THICK / 2, "floor"))
        body += [
            label(right, y + 11, text, "value"),
            label(right, y + 25, share, "tick"),
        ]
    at, bottom = _LEFT + _BAR * CHANCE, 4 * _ROW - 8
    body += [
        line(at, 0, at, bottom, "reference"),
        label(at, bottom + 14, "chance", "tick", "middle"),
    ]
    title = "Mean score of the judged latents of each dominance quartile"
    text = f"Bars from 0 to 1: {'; '.join(described)}. Chance is 1/6."
    return figure(key, (_WIDTH, bottom + 20), title, text, body)


def score_spread(key: str, quartiles: Sequence[Sequence[float]], trials: int) -> Markup:
    """How many latents of each quartile got how many of ``trials`` right, Q1 on top.

    Scores are fractions of trials; with another number of trials they go to the nearest count.
    """
    body, described = [], []
    width = _COLUMN * (trials + 1)
    for index, scores in enumerate(quartiles):
        counts = [0] * (trials + 1)
        for score in scores:
            counts[round(score * trials)] += 1
        top, floor = index * _BAND, index * _BAND + _BAND - 10
        listed = ", ".join(f"{count} got {right}" for right, count in enumerate(counts) if count)
        described.append(f"Q{index + 1}: {listed or 'none judged'}")
        body.append(label(0, floor - 2, f"Q{index + 1}", "name"))
        body.append(line(_LEFT, floor, _LEFT + width, floor, "grid"))
        for right, count in enumerate(counts):
            if not count:
                continue
            height = _TALL * count / max(counts)
            x = _LEFT + right * _COLUMN
            body += [
                tag(
                    "rect", x=x + 3, y=floor - height, width=_COLUMN - 6, height=height,
                    cls=f"bar q{index + 1}",
                ),
                label(x + _COLUMN / 2, max(top + 9, floor - height - 4), f"{count}", "tick",
                      "middle"),
            ]  # fmt: skip
    bottom = 4 * _BAND
    at = _LEFT + (CHANCE * trials + 0.5) * _COLUMN
    body.append(line(at, 2, at, bottom - 10, "reference"))
    for right in range(trials + 1):
        body.append(
            label(_LEFT + (right + 0.5) * _COLUMN, bottom + 6, f"{right}", "tick", "middle")
        )
    body.append(label(_LEFT, bottom + 24, f"trials of {trials} ordered rightly", "axis"))
    body.append(
        label(_LEFT + width, bottom + 24, f"dashed: chance, {fixed(CHANCE * trials, 1)}",
              "tick", "end")
    )  # fmt: skip
    title = f"Judged latents by the number of {trials} trials ordered rightly"
    return figure(key, (_LEFT + width + 2, bottom + 30), title, f"{'; '.join(described)}.", body)
