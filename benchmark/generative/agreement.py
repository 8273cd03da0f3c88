"""How well a metric agrees with people: correlation over classes, with intervals, §5.3."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.metrics.arrays import FloatArray, InputError
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates

LEAST_CLASSES = 3


@dataclass(frozen=True)
class Agreement:
    """Correlation of one metric with human ratings.

    Attributes:
        pearson: with interval over classes; in [−1, 1], ``n`` is the number of classes.
        spearman: the same of the ranks, ties sharing theirs.
    """

    pearson: Score
    spearman: Score


def agreement(values: Any, ratings: Any, *, resamples: int = RESAMPLES, seed: int = 0) -> Agreement:
    """Correlate a metric with ratings of the same classes.

    Args:
        values: one number a class; NaN where the metric has none, which leaves the class out.
        ratings: one number a class, finite.
        resamples, seed: bootstrap over classes; a resample in which either side is constant has no
            correlation and is left out of the interval.

    Returns:
        Scores without a value for fewer than ``LEAST_CLASSES`` classes or a constant side.

    Raises:
        InputError: not two rows of numbers of one length, a rating that is not finite.

    >>> agreement([1.0, 2.0, 4.0], [10.0, 20.0, 30.0]).spearman.value
    1.0
    """
    metric, people = _row(values, "values"), _row(ratings, "ratings")
    if len(metric) != len(people):
        raise InputError(f"{len(metric)} values but {len(people)} ratings; expected one a class")
    if not np.isfinite(people).all():
        raise InputError(f"ratings: class {np.flatnonzero(~np.isfinite(people))[0]} has no number")
    there = np.isfinite(metric)
    reasons = {"class without a value of the metric": int((~there).sum())}
    pairs = np.stack([_scaled(metric[there]), _scaled(people[there])])
    count = pairs.shape[1]
    replicates(resamples)
    if count < LEAST_CLASSES:
        reasons[f"fewer than {LEAST_CLASSES} classes"] = 1
    elif (pairs.min(axis=1) == pairs.max(axis=1)).any():
        reasons["the same number for every class"] = 1
    else:
        chosen = np.random.default_rng(seed).integers(0, count, size=(resamples, count))
        return Agreement(*(_score(pairs, chosen, ranked, reasons) for ranked in (False, True)))
    empty = make_score(None, count, None, reasons)
    return Agreement(empty, empty)


def _row(numbers: Any, name: str) -> FloatArray:
    array = np.asarray(numbers)
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise InputError(f"{name}: expected a row of numbers, found {array.dtype} {array.shape}")
    return array.astype(np.float64)


def _scaled(numbers: FloatArray) -> FloatArray:
    """Brought to at most 1 by a power of two, which moves no correlation: squares stay in range."""
    largest = np.abs(numbers).max(initial=0)
    return np.asarray(np.ldexp(numbers, -int(np.frexp(largest)[1])))


def _score(pairs: FloatArray, chosen: np.ndarray, ranked: bool, reasons: dict[str, int]) -> Score:
    def sides(x: FloatArray, y: FloatArray) -> FloatArray:
        if ranked:
            from scipy import stats  # takes seconds to import

            x, y = stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1)
        return _correlation(x, y)

    value = sides(pairs[:1], pairs[1:])[0]
    samples = sides(pairs[0][chosen], pairs[1][chosen])
    return make_score(float(value), pairs.shape[1], samples, reasons)


def _correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson's r of rows (R, C) with rows (R, C); NaN where a row is constant."""
    flat = (np.ptp(x, axis=1) == 0) | (np.ptp(y, axis=1) == 0)
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return np.where(flat, np.nan, np.clip(r, -1, 1))
