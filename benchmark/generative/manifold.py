"""Precision, recall, density and coverage from nearest neighbours, exactly.

Sources: Kynkäänniemi et al., "Improved Precision and Recall Metric for Assessing Generative
Models" (NeurIPS 2019); Naeem et al., "Reliable Fidelity and Diversity Metrics for Generative
Models" (ICML 2020).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmark.metrics.arrays import FloatArray

NEAREST = 5
"""k: a point's ball reaches to its k-th nearest other point of the same set **[choice]**."""

_BLOCK_ELEMENTS = 1 << 23
_ROUNDING = 1e-11  # of squared distances, as a share of the largest squared norm


@dataclass(frozen=True)
class Manifolds:
    """How the two sets lie in each other.

    Attributes:
        precision: share of generated points in the ball of some real point, in [0, 1].
        recall: share of real points in the ball of some generated point, in [0, 1].
        density: real balls around a generated point, over k, mean; ≥ 0 and possibly above 1.
        coverage: share of real points with a generated point in their ball, in [0, 1].
    """

    precision: float
    recall: float
    density: float
    coverage: float


def manifolds(real: FloatArray, generated: FloatArray, nearest: int = NEAREST) -> Manifolds:
    """All four numbers; a point on the edge of a ball is inside.

    With ``<`` in place of ``≤``, as in the papers' code, sets of equal points score 0. Distances
    are Euclidean; what differs by rounding alone counts as equal.

    Args:
        real, generated: features (N, D) and (M, D), finite, both with more than ``nearest`` rows.
        nearest: k.

    >>> import numpy as np
    >>> points = np.arange(8.0)[:, None]
    >>> manifolds(points, points + 0.25, nearest=1).coverage
    1.0
    """
    first, second, edge = _prepared(real, generated)
    balls, others = (_squared_radii(side, nearest) + edge for side in (first, second))
    recalled = np.zeros(len(first), bool)
    covered = np.zeros(len(first), bool)
    hit = within = 0
    for rows, squared in _squared(second, first):
        inside = squared <= balls
        hit += int(inside.any(axis=1).sum())
        within += int(inside.sum())
        covered |= inside.any(axis=0)
        recalled |= (squared <= others[rows, None]).any(axis=0)
    return Manifolds(
        hit / len(second),
        float(recalled.mean()),
        within / (nearest * len(second)),
        float(covered.mean()),
    )


def without_extent(points: FloatArray, nearest: int = NEAREST) -> bool:
    """Whether every point has at least ``nearest`` copies, so that no ball has an inside."""
    prepared, _, edge = _prepared(points, points)
    return bool((_squared_radii(prepared, nearest) <= edge).all())


def _prepared(real: FloatArray, generated: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Both sets as float64 around the mean of the first, and what counts as rounding."""
    centre = np.asarray(real, np.float64).mean(axis=0)
    sides = [np.asarray(side, np.float64) - centre for side in (real, generated)]
    largest = max(float((side**2).sum(axis=1).max()) for side in sides)
    return sides[0], sides[1], _ROUNDING * largest


def _squared_radii(points: FloatArray, nearest: int) -> FloatArray:
    """Squared distance of every point to its k-th nearest other point, (N,)."""
    radii = np.empty(len(points))
    for rows, squared in _squared(points, points):
        own = np.arange(rows.start, rows.stop)
        squared[own - rows.start, own] = np.inf
        radii[rows] = np.partition(squared, nearest - 1, axis=1)[:, nearest - 1]
    return radii


def _squared(left: FloatArray, right: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Squared distances of blocks of ``left`` to all of ``right``: (rows, (block, N))."""
    norms = (right**2).sum(axis=1)
    block = max(1, _BLOCK_ELEMENTS // len(right))
    for start in range(0, len(left), block):
        part = left[start : start + block]
        squared = (part**2).sum(axis=1)[:, None] + norms - 2 * (part @ right.T)
        yield slice(start, start + len(part)), np.maximum(squared, 0)
