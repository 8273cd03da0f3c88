"""Structure of codes: sparsity, reconstruction, dead latents, §3."""

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import Codes, InputError, IntArray, active
from benchmark.metrics.dominance import alive
from benchmark.metrics.score import (
    RESAMPLES,
    Score,
    make_score,
    mean_score,
    replicates,
    resample_weights,
)


def row_l0(codes: Codes) -> IntArray:
    """Number of active latents of each row, int64 (N,)."""
    on = active(codes)
    return np.diff(on.indptr).astype(np.int64) if sp.issparse(on) else on.sum(axis=1)


def l0(codes: Codes, *, resamples: int = RESAMPLES, seed: int = 0) -> Score:
    """Mean number of active latents a row, in [0, d], with its interval over rows."""
    return mean_score(row_l0(codes), resamples=resamples, seed=seed)


def l0_median(codes: Codes) -> float:
    """Median number of active latents a row."""
    return float(np.median(row_l0(codes)))


def l0_within(codes: Codes, limit: int, *, resamples: int = RESAMPLES, seed: int = 0) -> Score:
    """Fraction of rows with at most ``limit`` active latents, in [0, 1], interval over rows."""
    return mean_score(row_l0(codes) <= limit, resamples=resamples, seed=seed)


def dead_fraction(codes: Codes, *, resamples: int = RESAMPLES, seed: int = 0) -> Score:
    """Fraction of latents active on no row, in [0, 1].

    The interval resamples latents: redrawing rows could only ever find more of them dead.
    """
    return mean_score(~alive(codes), resamples=resamples, seed=seed)


def explained_variance(
    x: np.ndarray, reconstruction: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 0
) -> Score:
    """``1 − Σ‖x−x̂‖² / Σ‖x−x̄‖²``, x̄ the mean over all rows.

    Args:
        x, reconstruction: (N, D), finite.

    Returns:
        Score of at most 1; 0 for predicting the mean; negative values are shown as they are. Each
        resample has its own mean. Not applicable where all rows are equal.

    Raises:
        InputError: shapes that disagree, no rows, a value that is not finite.
    """
    truth, guess = np.asarray(x, np.float64), np.asarray(reconstruction, np.float64)
    if truth.ndim != 2 or truth.shape != guess.shape:
        raise InputError(
            f"x has shape {truth.shape} and reconstruction {guess.shape}; expected (N, D) for both"
        )
    if len(truth) == 0:
        raise InputError("x: has no rows; an empty split cannot be scored")
    for name, values in (("x", truth), ("reconstruction", guess)):
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if bad.size:
            raise InputError(f"{name}: row {bad[0]} holds a value that is not finite")
    centred = truth - truth.mean(axis=0)
    lost = ((truth - guess) ** 2).sum(axis=1)
    spread = (centred**2).sum(axis=1)
    if (truth == truth[0]).all():
        return make_score(None, len(truth), None, {"all rows are equal": len(truth)})
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(truth), resamples, seed):
        shift = (weights @ centred.astype(np.float32)).astype(np.float64) / len(truth)
        around = weights.astype(np.float64) @ np.stack([lost, spread], axis=1)
        total = around[:, 1] - len(truth) * (shift**2).sum(axis=1)
        ratio = np.divide(around[:, 0], total, out=np.full(len(total), np.nan), where=total > 0)
        samples[rows] = 1 - ratio
    return make_score(float(1 - lost.sum() / spread.sum()), len(truth), samples)
