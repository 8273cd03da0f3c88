"""Intervals from half-size subsamples, and an order of rows that does not depend on their order."""

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import Codes, FloatArray, IntArray
from benchmark.metrics.score import Score, make_score, replicates

SUBSAMPLES = 100
"""Half-size subsamples behind an interval, unless the caller asks otherwise."""


def half_samples(n: int, subsamples: int, seed: int) -> Iterator[IntArray]:
    """Seeded subsets of ``n // 2`` of n rows, drawn without replacement, each in rising order."""
    generator = np.random.default_rng([seed, n])
    for _ in range(len(replicates(subsamples))):
        yield np.sort(generator.choice(n, n // 2, replace=False))


def subsampled_score(
    value: float | None,
    samples: FloatArray,
    n: int,
    not_applicable: Mapping[str, int] | None = None,
) -> Score:
    """Score whose interval comes from half-size subsamples.

    A statistic of half the rows, drawn without replacement, varies as much as that of all rows
    does from one set of images to the next; but where it depends on their number it also has
    another mean. So the replicates are moved until their mean is ``value``.
    """
    known = samples[np.isfinite(samples)]
    if value is None or known.size == 0:
        return make_score(value, n, None, not_applicable)
    return make_score(value, n, samples - known.mean() + value, not_applicable)


def code_digests(values: Codes) -> IntArray:
    """A hash of each row's codes, uint64 (N,): the same for sparse and dense codes.

    Args:
        values: codes (N, d) as ``codes_float32`` gives them.
    """
    digests = np.empty(values.shape[0], np.uint64)
    for row in range(len(digests)):
        if sp.issparse(values):
            own = slice(values.indptr[row], values.indptr[row + 1])
            latents, codes = values.indices[own], values.data[own]
        else:
            latents = np.flatnonzero(values[row])
            codes = values[row, latents]
        digests[row] = _digest(latents.astype("<i8").tobytes() + codes.astype("<f4").tobytes())
    return digests


def vector_digests(vectors: np.ndarray) -> IntArray:
    """A hash of each row of a dense array (N, D), uint64 (N,)."""
    # adding 0 makes −0 equal to 0
    rows = (_digest((row.astype("<f8") + 0.0).tobytes()) for row in vectors)
    return np.fromiter(rows, np.uint64, len(vectors))


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
