"""What redundant pairs say of a dictionary, each number with its interval, §4 C1."""

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import FloatArray
from benchmark.metrics.redundancy import Redundancy
from benchmark.metrics.score import (
    RESAMPLES,
    Score,
    make_score,
    mean_score,
    replicates,
    resample_weights,
)

_ROWS = 128


def redundant_fraction_score(
    redundancy: Redundancy, *, resamples: int = RESAMPLES, seed: int = 0
) -> Score:
    """Share of applicable latents in a redundant pair, with its interval over latents."""
    inside = (redundancy.endpoints > 0)[redundancy.applicable]
    reasons = {"decoder row is zero": redundancy.zero_rows}
    if inside.size == 0:
        reasons["dead"] = int((redundancy.quartile == 0).sum())
    return mean_score(
        inside,
        resamples=resamples,
        seed=seed,
        not_applicable={reason: count for reason, count in reasons.items() if count},
    )


def enrichment_q1_score(
    redundancy: Redundancy, *, resamples: int = RESAMPLES, seed: int = 0
) -> Score:
    """Q1 endpoint enrichment, at least 0, with its interval over latents within quartile."""
    keep = redundancy.quartile > 0
    if redundancy.enrichment_q1 is None:
        living = int(keep.sum())
        reasons = {"no redundant pairs": living} if living else {"dead": len(keep)}
        return make_score(None, 0, None, reasons)
    ends, quartile = redundancy.endpoints[keep].astype(np.float64), redundancy.quartile[keep]
    columns = np.stack([ends * (quartile == 1), ends], axis=1)
    share = (quartile == 1).mean()
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(ends), resamples, seed, quartile):
        sums = weights.astype(np.float64) @ columns
        ratio = np.full(len(sums), np.nan)
        np.divide(sums[:, 0], sums[:, 1], out=ratio, where=sums[:, 1] > 0)
        samples[rows] = ratio / share
    return make_score(redundancy.enrichment_q1, int(keep.sum()), samples)


def within_quartile_shares(
    redundancy: Redundancy, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[Score]:
    """Share of the same-quartile pairs that each quartile holds, Q1 to Q4; they sum to 1.

    The interval redraws latents within their quartile; a pair counts as often as both its ends
    were drawn, and copies of one latent are no pair. It needs the list of all pairs, so there is
    none where the list was cut. Not applicable without a pair inside a quartile.
    """
    counts = np.array(redundancy.within_quartile, np.float64)
    total = int(counts.sum())
    if total == 0:
        reasons = {"no redundant pairs inside a quartile": max(redundancy.n_pairs, 1)}
        return [make_score(None, 0, None, reasons) for _ in counts]
    samples = None
    if redundancy.n_pairs == len(redundancy.pairs):
        samples = _resampled_shares(redundancy, resamples, seed)
    return [
        make_score(count / total, total, None if samples is None else samples[:, q])
        for q, count in enumerate(counts)
    ]


def _resampled_shares(redundancy: Redundancy, resamples: int, seed: int) -> FloatArray:
    living = np.flatnonzero(redundancy.quartile)
    quartile = redundancy.quartile[living]
    place = np.zeros(len(redundancy.quartile), np.int64)
    place[living] = np.arange(len(living))
    ends = place[np.array([(i, j) for i, j, _ in redundancy.pairs], np.int64)]
    inside = ends[quartile[ends[:, 0]] == quartile[ends[:, 1]]]
    ones = np.ones(len(inside))
    shape = (len(living), len(living))
    upper = sp.csr_array((ones, (inside[:, 0], inside[:, 1])), shape=shape)
    member = np.stack([quartile == q for q in (1, 2, 3, 4)], axis=1).astype(np.float64)
    samples = np.stack([replicates(resamples)] * 4, axis=1)
    for rows, weights in resample_weights(len(living), resamples, seed, quartile):
        # a block of resamples may hold 2^23 draws; the products need several such arrays
        for start in range(0, len(weights), _ROWS):
            drawn = weights[start : start + _ROWS].astype(np.float64)
            pairs = ((drawn @ upper) * drawn) @ member
            total = pairs.sum(axis=1, keepdims=True)
            share = np.divide(pairs, total, out=np.full_like(pairs, np.nan), where=total > 0)
            at = rows.start + start
            samples[at : at + len(drawn)] = share
    return samples
