"""What a constant gets: the lower bound every matching is read against, §1.4."""

import numpy as np

from benchmark.metrics.arrays import BoolArray, annotations
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights


def prevalence_bound(concepts: BoolArray, *, resamples: int = RESAMPLES, seed: int = 0) -> Score:
    """Mean F_1 of predicting every concept on every row, ``2p/(1+p)``.

    Args:
        concepts: presence (N, A) on the scored rows.

    Returns:
        Score in [0, 1] over the concepts that have positives.
    """
    present = annotations(concepts)
    keep = present.any(axis=0)
    missing = {"no positives in the scored split": int((~keep).sum())}
    if not keep.any():
        return make_score(None, 0, None, missing)
    columns = present[:, keep].astype(np.float32)
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(columns), resamples, seed):
        p = (weights @ columns).astype(np.float64) / len(columns)
        there = p > 0
        total = there.sum(axis=1)
        summed = np.where(there, 2 * p / (1 + p), 0.0).sum(axis=1)
        samples[rows] = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
    p = present[:, keep].mean(axis=0)
    return make_score(float((2 * p / (1 + p)).mean()), int(keep.sum()), samples, missing)
