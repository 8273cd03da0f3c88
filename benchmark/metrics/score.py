"""A number with its interval, and the bootstrap that gives the interval."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmark.metrics.arrays import FloatArray, InputError, IntArray, whole_number

RESAMPLES = 1000
"""Bootstrap resamples behind every interval, unless the caller asks otherwise."""

_BLOCK_ELEMENTS = 1 << 23


@dataclass(frozen=True)
class Score:
    """A score, its uncertainty and what it rests on.

    Attributes:
        value: the score, or None where it cannot be computed.
        ci95: 95 % percentile bootstrap interval, or None.
        n: how many entries (concepts, pairs, rows, latents) the value is over.
        not_applicable: why entries were left out, with their number.
        samples: the bootstrap replicates, float64 (resamples,); NaN where a replicate has no value.
    """

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    samples: FloatArray | None = field(default=None, repr=False, compare=False)


def make_score(
    value: float | None,
    n: int,
    samples: FloatArray | None = None,
    not_applicable: Mapping[str, int] | None = None,
) -> Score:
    """Score with the percentile interval of ``samples``; None where ``value`` is not finite."""
    reasons = {reason: int(count) for reason, count in (not_applicable or {}).items() if count}
    if value is None or not math.isfinite(value):
        return Score(None, None, int(n), reasons)
    return Score(float(value), _interval(samples), int(n), reasons, samples)


def _interval(samples: FloatArray | None) -> tuple[float, float] | None:
    if samples is None:
        return None
    finite = samples[np.isfinite(samples)]
    if finite.size == 0:
        return None
    low, high = np.percentile(finite, [2.5, 97.5])
    return float(low), float(high)


def difference(score: Score, baseline: Score) -> Score:
    """``score − baseline``, paired: replicate by replicate when both have replicates.

    Both must have been resampled with the same seed over the same rows.
    """
    if score.value is None or baseline.value is None:
        reasons = dict(score.not_applicable if score.value is None else baseline.not_applicable)
        return Score(None, None, score.n, reasons)
    samples = None
    if score.samples is not None and baseline.samples is not None:
        _same_length([score, baseline])
        samples = score.samples - baseline.samples
    return make_score(score.value - baseline.value, score.n, samples, score.not_applicable)


def clearly_above(score: Score, baseline: Score) -> bool:
    """Whether a score is above a baseline with intervals apart; False where either has none."""
    if score.ci95 is None or baseline.ci95 is None:
        return False
    return score.ci95[0] > baseline.ci95[1]


def average(scores: Sequence[Score]) -> Score:
    """Mean of scores (training seeds, twins), averaged inside each resample.

    A score without a value makes the mean not applicable: it is never left out silently.
    """
    if not scores:
        raise InputError("average: expected at least one score, found none")
    for score in scores:
        if score.value is None:
            return Score(None, None, score.n, dict(score.not_applicable))
    samples = None
    replicates = [score.samples for score in scores if score.samples is not None]
    if len(replicates) == len(scores):
        _same_length(scores)
        samples = np.mean(np.stack(replicates), axis=0)
    value = float(np.mean([score.value for score in scores]))
    return make_score(value, scores[0].n, samples, scores[0].not_applicable)


def _same_length(scores: Sequence[Score]) -> None:
    lengths = {len(score.samples) for score in scores if score.samples is not None}
    if len(lengths) > 1:
        raise InputError(f"scores have different numbers of resamples: {sorted(lengths)}")


def replicates(resamples: int) -> FloatArray:
    """Room for one value a resample, float64 (resamples,); ``InputError`` below one resample."""
    number = whole_number(resamples)
    if number is None or number < 1:
        raise InputError(f"resamples is {resamples}; expected a whole number of at least 1")
    return np.full(number, np.nan)


def resample_weights(
    n: int, resamples: int, seed: int, strata: IntArray | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """Bootstrap as row counts, in blocks: how often each resample drew each row.

    A weighted count over all resamples is then one matrix product.

    Args:
        n: number of rows.
        resamples: number of resamples in all.
        seed: same ``n``, ``strata`` and seed give the same draws.
        strata: int (n,): rows are redrawn within their stratum, so that every stratum keeps its
            size in each resample; None means one stratum.

    Yields:
        (which resamples, float32 counts (block, n)); counts are exact integers.
    """
    labels = np.zeros(n, np.int64) if strata is None else np.asarray(strata)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    generators = [np.random.default_rng([seed, k]) for k in range(len(groups))]
    block = max(1, min(resamples, _BLOCK_ELEMENTS // max(n, 1)))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        weights = np.zeros((size, n), np.float32)
        for rows, generator in zip(groups, generators, strict=True):
            weights[:, rows] = _draw(len(rows), size, generator)
        yield slice(start, start + size), weights


def _draw(n: int, size: int, generator: np.random.Generator) -> np.ndarray:
    chosen = generator.integers(0, n, size=(size, n))
    chosen += np.arange(size)[:, None] * n
    return np.bincount(chosen.ravel(), minlength=size * n).reshape(size, n)


def bootstrap_ratio(
    numerator: np.ndarray,
    denominator: np.ndarray,
    *,
    resamples: int,
    seed: int,
    strata: IntArray | None = None,
) -> FloatArray:
    """Replicates of ``Σ numerator / Σ denominator`` over rows; NaN where the denominator is 0.

    Args:
        numerator, denominator: float (n,), one entry a row.
        resamples, seed, strata: as ``resample_weights``.

    Returns:
        float64 (resamples,).
    """
    columns = np.stack([numerator, denominator], axis=1).astype(np.float64)
    sums = np.stack([replicates(resamples)] * 2, axis=1)
    for rows, weights in resample_weights(len(columns), resamples, seed, strata):
        sums[rows] = weights.astype(np.float64) @ columns
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[:, 0] / sums[:, 1]


def mean_score(
    values: np.ndarray,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    not_applicable: Mapping[str, int] | None = None,
) -> Score:
    """Mean of one number a row, with its bootstrap interval over the rows."""
    values = np.asarray(values, np.float64)
    if values.size == 0:
        return make_score(None, 0, None, not_applicable)
    samples = bootstrap_ratio(values, np.ones_like(values), resamples=resamples, seed=seed)
    return make_score(float(values.mean()), len(values), samples, not_applicable)
