"""Which images pull the two sets apart in an attribute: SaD without each of them, exactly."""

from typing import Any

import numpy as np

from benchmark.generative.gaussians import both_checked, ordered_sum
from benchmark.metrics.arrays import FloatArray


def pulls(real: Any, generated: Any) -> tuple[FloatArray, FloatArray]:
    """How much each image adds to SaD: the divergence with it minus that without it.

    Args:
        real, generated: scores (N, A) and (M, A), finite.

    Returns:
        float64 (N, A) and (M, A), one entry an image; above 0 where the sets would be more alike
        without the image. NaN where either divergence is not applicable, as with two images a set.

    Raises:
        InputError: as ``single_attribute_divergence``.
    """
    sides = both_checked(real, generated)
    spread = [_moments(side) for side in sides]
    whole = _kl(*spread[0], *spread[1])
    without = [_left_out(side) for side in sides]
    return whole - _kl(*without[0], *spread[1]), whole - _kl(*spread[0], *without[1])


def strongest(values: FloatArray, digests: tuple[bytes, ...], most: int) -> list[int]:
    """Places of the images with the largest pull above 0; of equal bytes the first alone."""
    chosen: list[int] = []
    seen: set[bytes] = set()
    for place in np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist():
        if len(chosen) == most or not values[place] > 0:
            break
        if digests[place] not in seen:
            seen.add(digests[place])
            chosen.append(place)
    return chosen


def _moments(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (ddof 1), each (A,)."""
    if len(scores) < 2:
        return scores[0], np.full(scores.shape[1], np.nan)
    mean = ordered_sum(scores.T) / len(scores)
    variance = ordered_sum(((scores - mean) ** 2).T) / (len(scores) - 1)
    variance[scores.min(axis=0) == scores.max(axis=0)] = 0  # rounding of the mean is no variance
    return mean, variance


def _left_out(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the others, for every image: (N, A) each."""
    n = len(scores)
    if n < 3:
        return scores, np.full(scores.shape, np.nan)
    centre = ordered_sum(scores.T) / n
    apart = scores - centre
    total = ordered_sum((apart**2).T)
    # Σ(x − m')² over the others, m' their mean
    left = total - apart**2 * (n / (n - 1))
    left[left <= 1e-12 * total] = 0  # rounding is no variance
    return centre - apart / (n - 1), left / (n - 2)


def _kl(
    real_mean: FloatArray, real_var: FloatArray, mean: FloatArray, var: FloatArray
) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = var / real_var
        value = 0.5 * (ratio - 1 - np.log(ratio) + (mean - real_mean) ** 2 / real_var)
    good = (real_var > 0) & (var > 0) & np.isfinite(value)
    return np.where(good, value, np.nan)
