"""Where encoder and decoder rows point: their angles to the mean activation, §4."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.metrics.arrays import BoolArray, FloatArray, InputError
from benchmark.metrics.score import RESAMPLES, Score, mean_score

_BLOCK = 4096


def angles_to_mean(rows: Any, mean: Any) -> FloatArray:
    """Angle of each row to the mean activation, in degrees.

    Args:
        rows: (d, D), one row a latent, finite.
        mean: (D,), finite, in the space that the rows live in.

    Returns:
        float64 (d,) in [0, 180]; NaN for a zero row, and throughout where the mean is zero.

    Raises:
        InputError: shapes that disagree, a value that is not finite.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    matrix, centre = np.asarray(rows), np.asarray(mean, np.float64)
    if matrix.ndim != 2 or centre.shape != (matrix.shape[1],):
        raise InputError(
            f"rows have shape {matrix.shape} and the mean {centre.shape}; expected (d, D) and (D,)"
        )
    if not np.isfinite(centre).all():
        raise InputError(f"mean: entry {int(np.argmin(np.isfinite(centre)))} is not finite")
    result = np.full(len(matrix), np.nan)
    axis, usable = _unit(centre[None, :])
    if not usable[0]:
        return result
    for start in range(0, len(matrix), _BLOCK):
        part = matrix[start : start + _BLOCK].astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(part).all(axis=1))
        if bad.size:
            raise InputError(f"rows: row {start + bad[0]} holds a value that is not finite")
        unit, there = _unit(part)
        # half the chord, which unlike the cosine keeps its precision near 0° and 180°
        near = np.linalg.norm(unit - axis, axis=1)
        far = np.linalg.norm(unit + axis, axis=1)
        angle = np.degrees(2 * np.arctan2(near, far))
        result[start : start + _BLOCK] = np.where(there, angle, np.nan)
    return result


def _unit(rows: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Rows of norm 1, zero rows as they are, and which are not zero."""
    there = np.asarray(rows.any(axis=1))
    _, exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
    # a power of two rounds nothing and keeps the squares in range
    scaled = np.ldexp(rows, -exponents[:, None])
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, norms, out=np.zeros_like(scaled), where=norms > 0), there


@dataclass(frozen=True)
class Angles:
    """Angles of the alive latents' rows to the mean activation, in degrees.

    Attributes:
        mean: their mean, with its interval over latents; dead latents and zero rows are counted
            as not applicable.
        quartiles: 25th, 50th and 75th percentile; None without any angle.
    """

    mean: Score
    quartiles: tuple[float, float, float] | None


def angle_summary(
    angles: FloatArray, alive: BoolArray, *, resamples: int = RESAMPLES, seed: int = 0
) -> Angles:
    """Mean and quartiles of ``angles_to_mean`` over alive latents.

    Args:
        angles: float (d,), NaN where not applicable.
        alive: bool (d,).
        resamples, seed: bootstrap over latents.
    """
    degrees, living = np.asarray(angles, np.float64), np.asarray(alive, bool)
    if degrees.ndim != 1 or degrees.shape != living.shape:
        raise InputError(
            f"angles have shape {degrees.shape} and alive {living.shape}; expected (d,) for both"
        )
    known = living & np.isfinite(degrees)
    reasons = {
        "dead": int((~living).sum()),
        "row or mean activation is zero": int((living & ~known).sum()),
    }
    reasons = {reason: count for reason, count in reasons.items() if count}
    mean = mean_score(degrees[known], resamples=resamples, seed=seed, not_applicable=reasons)
    if not known.any():
        return Angles(mean, None)
    low, middle, high = np.percentile(degrees[known], [25, 50, 75])
    return Angles(mean, (float(low), float(middle), float(high)))
