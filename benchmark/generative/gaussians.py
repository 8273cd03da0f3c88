"""Gaussians fitted to scores and the divergences between them in closed form, §5.2."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.metrics.arrays import FloatArray, InputError

SINGULAR = 1e-10
"""A pair of attributes with 1 − ρ² at or below this has a singular covariance. Scores computed in
float32 that are multiples of each other reach about 1e-14; two real attributes stay far above."""

_ROUNDING = 1e-12
_BLOCK_IMAGES = 1 << 12  # products of one block stay in the processor's cache


@dataclass(frozen=True)
class Moments:
    """Mean and covariance (ddof 1) of the scores of ``n`` images, possibly of many resamples.

    Attributes:
        n: number of images.
        mean: float64 (..., A).
        covariance: float64 (..., A, A); the diagonal is exactly 0 for a constant attribute.
    """

    n: int
    mean: FloatArray
    covariance: FloatArray

    @property
    def variance(self) -> FloatArray:
        """float64 (..., A)."""
        return np.diagonal(self.covariance, axis1=-2, axis2=-1)


def scores_checked(scores: Any, name: str) -> FloatArray:
    """Scores of images as float64 (N, A).

    Raises:
        InputError: not two-dimensional, no image, no attribute, not numbers, not finite.
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found dtype {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name}: expected shape (images, attributes), found {array.shape}")
    array = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        row, column = bad[0]
        raise InputError(f"{name}: image {row}, attribute {column} is {array[row, column]}")
    return array


def both_checked(real: Any, generated: Any) -> tuple[FloatArray, FloatArray]:
    """The scores of both sets as float64; ``InputError`` where their attributes disagree."""
    sides = scores_checked(real, "real"), scores_checked(generated, "generated")
    if sides[0].shape[1] != sides[1].shape[1]:
        raise InputError(
            f"real has {sides[0].shape[1]} attributes but generated has {sides[1].shape[1]}"
        )
    return sides


def moments(scores: FloatArray) -> Moments:
    """Moments of scores (N, A), the same to the last bit for any order of the images.

    With one image the covariance is 0 throughout.
    """
    columns = np.ascontiguousarray(scores.T)
    n, count = columns.shape[1], len(columns)
    mean = ordered_sum(columns) / n
    centred = columns - mean[:, None]
    centred[columns.min(axis=1) == columns.max(axis=1)] = 0  # rounding of the mean is no variance
    covariance = np.zeros((count, count))
    for p in range(count):
        covariance[p, p:] = ordered_sum(centred[p] * centred[p:]) / max(n - 1, 1)
        covariance[p:, p] = covariance[p, p:]
    return Moments(n, mean, covariance)


def ordered_sum(rows: FloatArray) -> FloatArray:
    """Sum of each row, its terms in sorted order: independent of their order, and pairwise."""
    return np.asarray(np.sort(rows, axis=-1).sum(axis=-1))


def weighted_moments(weights: np.ndarray, scores: FloatArray, n: int) -> Moments:
    """Moments of resamples: images weighted by how often each was drawn.

    Args:
        weights: (R, N) counts; every row sums to ``n``.
        scores: float64 (N, A), best centred near 0 for precision.
        n: size of each resample, at least 2.

    Returns:
        Moments with mean (R, A) and covariance (R, A, A).
    """
    first, second = weighted_sums(weights, scores)
    return moments_of_sums(first, second, n)


def weighted_sums(weights: np.ndarray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``Σ w x`` (R, A) and ``Σ w x xᵀ`` (R, A, A), in blocks of images."""
    columns = np.ascontiguousarray(scores.T)
    count, n = columns.shape
    upper = np.triu_indices(count)
    starts = np.concatenate([[0], np.cumsum(np.arange(count, 0, -1))])
    first = np.zeros((len(weights), count))
    packed = np.zeros((len(weights), len(upper[0])))
    products = np.empty((len(upper[0]), min(_BLOCK_IMAGES, n)))
    for start in range(0, n, _BLOCK_IMAGES):
        part = columns[:, start : start + _BLOCK_IMAGES]
        block = products[:, : part.shape[1]]
        for p in range(count):
            np.multiply(part[p], part[p:], out=block[starts[p] : starts[p + 1]])
        drawn = weights[:, start : start + _BLOCK_IMAGES].astype(np.float64)
        first += drawn @ part.T
        packed += drawn @ block.T
    second = np.empty((len(weights), count, count))
    second[:, upper[0], upper[1]] = packed
    second[:, upper[1], upper[0]] = packed
    return first, second


def moments_of_sums(first: FloatArray, second: FloatArray, n: int) -> Moments:
    """Moments from sums (R, A) and sums of products (R, A, A) over ``n`` ≥ 2 images."""
    covariance = (second - first[:, :, None] * first[:, None, :] / n) / (n - 1)
    size = np.diagonal(second, axis1=-2, axis2=-1) / (n - 1)
    diagonal = np.einsum("raa->ra", covariance)
    # what the subtraction leaves of a resample that drew one value only is rounding
    diagonal[diagonal <= _ROUNDING * size] = 0
    return Moments(n, first / n, covariance)


def single_kl(real: Moments, generated: Moments) -> FloatArray:
    """``KL(generated ‖ real)`` of 1-D Gaussians, float64 (..., A) ≥ 0; NaN without variance."""
    base, other = real.variance, generated.variance
    if min(real.n, generated.n) < 2:
        return np.full(np.broadcast_shapes(base.shape, other.shape), np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = other / base
        shift = (generated.mean - real.mean) ** 2 / base
        value = 0.5 * (ratio - 1 - np.log(ratio) + shift)
        value = np.maximum(value, 0)  # rounding only; NaN stays
    return np.where((base > 0) & (other > 0) & np.isfinite(value), value, np.nan)


def pair_kl(real: Moments, generated: Moments) -> FloatArray:
    """``KL(generated ‖ real)`` of 2-D Gaussians for every pair, float64 (..., A, A) ≥ 0.

    Symmetric in place; NaN on the diagonal and where a covariance is singular.
    """
    base, other = real.variance, generated.variance
    shape = np.broadcast_shapes(real.covariance.shape, generated.covariance.shape)
    if min(real.n, generated.n) < 3:
        return np.full(shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        deviation = np.sqrt(base)
        scale = deviation[..., :, None] * deviation[..., None, :]
        rho = real.covariance / scale
        shared = generated.covariance / scale
        spread = other / base
        shift = (generated.mean - real.mean) / deviation
        left = 1 - rho * rho
        product = spread[..., :, None] * spread[..., None, :]
        right = product - shared * shared
        trace = spread[..., :, None] + spread[..., None, :] - 2 * rho * shared
        cross = shift[..., :, None] * shift[..., None, :]
        square = shift**2
        distance = square[..., :, None] + square[..., None, :] - 2 * rho * cross
        value = 0.5 * ((trace + distance) / left - 2 - np.log(right / left))
        value = np.maximum(value, 0)
        good = (left > SINGULAR) & (right > SINGULAR * product) & np.isfinite(value)
    value = np.where(good & (scale > 0), value, np.nan)
    count = shape[-1]
    value[..., np.arange(count), np.arange(count)] = np.nan
    return np.asarray(value)


def gaussian_floor(n: int, m: int, *, pair: bool = False) -> float:
    """About what the divergence of two samples of one Gaussian is: ``½·p·(1/n + 1/m)``.

    p is the number of fitted parameters, 2 for one attribute and 5 for a pair. A reference, not a
    test: scores that saturate are not Gaussian and can exceed it many times.
    """
    if n < 1 or m < 1:
        raise InputError(f"gaussian_floor: sets of {n} and {m} images; expected at least one each")
    return 0.5 * (5 if pair else 2) * (1 / n + 1 / m)
