"""Dominance of latents, its quartiles and its concentration, §4."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    IntArray,
    active,
    codes_float32,
)
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights


def alive(codes: Codes) -> BoolArray:
    """Latents active on at least one row, bool (d,)."""
    return np.asarray(active(codes).sum(axis=0)).ravel() > 0


def shares(codes: Codes) -> sp.csr_array:
    """Each latent's share of its row's activity, ``ρ = f / Σ f``: float64 csr (N, d) in [0, 1]."""
    values = sp.csr_array(codes_float32(codes)).astype(np.float64)
    totals = np.asarray(values.sum(axis=1)).ravel()
    per_entry = np.repeat(totals, np.diff(values.indptr))
    data = np.divide(values.data, per_entry, out=np.zeros(values.nnz), where=per_entry > 0)
    return sp.csr_array((data, values.indices, values.indptr), shape=values.shape)


def dominance(codes: Codes) -> FloatArray:
    """Mean share of a row's activity that each latent holds, ``ρ̄``.

    Each latent's terms are summed in sorted order, so that row order cannot move a quartile.

    Args:
        codes: (N, d), dense or sparse, not negative; a row without activity counts as 0.

    Returns:
        float64 (d,) in [0, 1]; sums to the fraction of rows with activity.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    share = shares(codes)
    columns = share.tocsc()
    owner = np.repeat(np.arange(share.shape[1]), np.diff(columns.indptr))
    order = np.lexsort((columns.data, owner))
    terms = columns.data[order]
    sums = np.zeros(share.shape[1])
    filled = np.flatnonzero(np.diff(columns.indptr))
    if filled.size:
        sums[filled] = np.add.reduceat(terms, columns.indptr[filled])
    return sums / share.shape[0]


def quartiles(dominance: FloatArray, alive: BoolArray) -> IntArray:
    """Quartile of each latent by dominance: 1 (most dominant) to 4, 0 for a dead latent.

    Args:
        dominance: float (d,).
        alive: bool (d,).

    Returns:
        int (d,). Ties go to the lower index; where the alive latents do not divide by four, the
        first quartiles are the larger ones.
    """
    dominance = np.asarray(dominance, np.float64)
    alive = np.asarray(alive, bool)
    if dominance.ndim != 1 or dominance.shape != alive.shape:
        raise InputError(
            f"dominance has shape {dominance.shape} and alive {alive.shape}; expected (d,) for both"
        )
    if not np.isfinite(dominance).all():
        raise InputError(f"dominance: latent {np.argmin(np.isfinite(dominance))} is not finite")
    living = np.flatnonzero(alive)
    order = living[np.argsort(-dominance[living], kind="stable")]
    result = np.zeros(len(dominance), np.int64)
    for number, group in enumerate(np.array_split(order, 4), start=1):
        result[group] = number
    return result


def quartile_mass(
    codes: Codes, quartile: IntArray, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Score]:
    """Share of all activity that each quartile holds, Q1 to Q4, with intervals over rows."""
    share = shares(codes)
    member = np.stack([quartile == q for q in (1, 2, 3, 4)], axis=1).astype(np.float64)
    # shares of a row can sum to more than 1 by rounding
    per_row = np.minimum(share @ member, 1.0)
    samples = np.stack([replicates(resamples)] * 4, axis=1)
    for rows, weights in resample_weights(len(per_row), resamples, seed):
        samples[rows] = weights.astype(np.float64) @ per_row / len(per_row)
    sizes = member.sum(axis=0)
    return [make_score(float(per_row[:, q].mean()), int(sizes[q]), samples[:, q]) for q in range(4)]


@dataclass(frozen=True)
class Concentration:
    """How unevenly activity is spread.

    Attributes:
        top10_share_median, top10_share_p90: over rows with activity, share of activity held by the
            10 latents that fire most often; None where no row has activity.
        gini: Gini coefficient of the dominance of alive latents, in [0, 1]; None without any.
    """

    top10_share_median: float | None
    top10_share_p90: float | None
    gini: float | None


def concentration(codes: Codes, top: int = 10) -> Concentration:
    """Concentration of activity on the latents that fire most often (ties: lower index first)."""
    held, busy = frequent_shares(codes, top)
    if not busy.any():
        return Concentration(None, None, None)
    return Concentration(
        float(np.median(held[busy])),
        float(np.quantile(held[busy], 0.9)),
        _gini(dominance(codes)[alive(codes)]),
    )


def frequent_shares(codes: Codes, top: int = 10) -> tuple[FloatArray, BoolArray]:
    """Share of each row's activity held by the latents that fire most often; rows with activity.

    Returns:
        float64 (N,) in [0, 1], 0 for a row without activity, and bool (N,).
    """
    share = shares(codes)
    rate = np.diff(share.tocsc().indptr) if share.nnz else np.zeros(share.shape[1])
    frequent = np.argsort(-rate, kind="stable")[:top]
    busy = np.asarray(share.sum(axis=1)).ravel() > 0
    held = np.asarray(share[:, frequent].sum(axis=1)).ravel()
    return np.minimum(held, 1.0), busy  # a sum can pass 1 by rounding


def _gini(values: FloatArray) -> float:
    ordered = np.sort(values)
    ranks = np.arange(1, len(ordered) + 1)
    spread = (2 * ranks - len(ordered) - 1) @ ordered / (len(ordered) * ordered.sum())
    return float(max(spread, 0.0))  # equal values can give less than 0 by rounding
