"""Concentration of activity with intervals, §4."""

from dataclasses import dataclass

import numpy as np

from benchmark.metrics.arrays import Codes, FloatArray
from benchmark.metrics.dominance import alive, concentration, dominance, frequent_shares
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights

_ROWS = 128


@dataclass(frozen=True)
class ConcentrationScores:
    """How unevenly activity is spread; as ``Concentration``, each number with its interval.

    Attributes:
        top10_share_median, top10_share_p90: interval over rows; which latents fire most often is
            settled on all rows.
        gini: interval over alive latents.
    """

    top10_share_median: Score
    top10_share_p90: Score
    gini: Score


def concentration_scores(
    codes: Codes, *, resamples: int = RESAMPLES, seed: int = 0
) -> ConcentrationScores:
    """Concentration of activity on the ten latents that fire most often, and its Gini.

    Not applicable where no row has activity; rows without activity are counted as left out.
    """
    found = concentration(codes)
    held, busy = frequent_shares(codes)
    rows = len(busy)
    idle = {"row without activity": int((~busy).sum())}
    if found.gini is None:
        none = make_score(None, 0, None, idle)
        return ConcentrationScores(none, none, make_score(None, 0, None, {"no alive latent": 1}))
    values = dominance(codes)[alive(codes)]
    medians, nineties, ginis = (replicates(resamples) for _ in range(3))
    order = np.argsort(np.where(busy, held, np.inf), kind="stable")[: int(busy.sum())]
    for block, weights in resample_weights(rows, resamples, seed):
        drawn = weights[:, order]
        medians[block] = weighted_quantile(held[order], drawn, 0.5)
        nineties[block] = weighted_quantile(held[order], drawn, 0.9)
    for block, weights in resample_weights(len(values), resamples, seed):
        for start in range(0, len(weights), _ROWS):
            part = weights[start : start + _ROWS]
            ginis[block.start + start : block.start + start + len(part)] = _gini(values, part)
    n = int(busy.sum())
    return ConcentrationScores(
        make_score(found.top10_share_median, n, medians, idle),
        make_score(found.top10_share_p90, n, nineties, idle),
        make_score(found.gini, len(values), ginis),
    )


def weighted_quantile(ordered: FloatArray, counts: np.ndarray, q: float) -> FloatArray:
    """Quantile of resamples, interpolated as ``numpy.quantile`` does; NaN for an empty one.

    Args:
        ordered: float (n,), ascending.
        counts: (resamples, n), how often each value was drawn.
        q: in [0, 1].
    """
    upto = np.cumsum(counts.astype(np.float64), axis=1)
    total = upto[:, -1] if len(ordered) else np.zeros(len(counts))
    at = np.maximum(total - 1, 0) * q
    last = max(len(ordered) - 1, 0)
    low, high = (
        ordered[np.minimum((upto <= place[:, None]).sum(axis=1), last)]
        for place in (np.floor(at), np.ceil(at))
    )
    return np.where(total > 0, low + (high - low) * (at - np.floor(at)), np.nan)


def _gini(values: FloatArray, counts: np.ndarray) -> FloatArray:
    order = np.argsort(values, kind="stable")
    ordered, drawn = values[order], counts[:, order].astype(np.float64)
    upto = np.cumsum(drawn, axis=1)
    n = upto[:, -1]
    # a value drawn w times stands at w ranks in a row, whose sum is w times their middle
    ranked = ((2 * upto - drawn - n[:, None]) * drawn) @ ordered
    return np.maximum(ranked / (n * (drawn @ ordered)), 0.0)
