"""Ranks with the best and the worst place that intervals allow."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from leaderboard.ranking.entries import Rank
from leaderboard.reading.records import Score


def rank(scores: Sequence[Score | None], *, higher: bool = True) -> list[Rank | None]:
    """Ranks of scores, whatever their order; exact ties share one.

    Best possible place: 1 + the scores whose whole interval is better than this one's. Worst: the
    scores whose interval is not wholly worse than this one's. A missing score has no rank.

    Args:
        scores: one an entry.
        higher: whether a larger value is better.
    """
    bounds = [None if score is None else _bounds(score, higher) for score in scores]
    known = [each for each in bounds if each is not None]
    lows, values, highs = (sorted(each[part] for each in known) for part in range(3))
    ranks: list[Rank | None] = []
    for each in bounds:
        if each is None:
            ranks.append(None)
            continue
        low, value, high = each
        place = 1 + len(known) - bisect_right(values, value)
        best = 1 + len(known) - bisect_right(lows, high)
        worst = len(known) - bisect_left(highs, low)
        ranks.append(Rank(place, min(best, place), max(worst, place)))
    return ranks


def _bounds(score: Score, higher: bool) -> tuple[float, float, float] | None:
    """Lower end, value and upper end, turned so that more is better; None where missing."""
    low, value, high = score.low, score.value, score.high
    if low is None or value is None or high is None:
        return None
    return (low, value, high) if higher else (-high, -value, -low)
