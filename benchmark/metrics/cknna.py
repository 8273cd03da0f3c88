"""CKNNA: do codes and embeddings agree on which images are near each other, §3."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    IntArray,
    codes_float32,
    embeddings_checked,
    whole_number,
)
from benchmark.metrics.score import Score, make_score, replicates
from benchmark.metrics.subsamples import (
    SUBSAMPLES,
    code_digests,
    half_samples,
    subsampled_score,
    vector_digests,
)

MAX_ROWS = 5000
_ROUNDING = 1e-12


def cknna(
    codes: Codes,
    embeddings: np.ndarray,
    *,
    neighbours: int = 10,
    max_rows: int = MAX_ROWS,
    subsamples: int = SUBSAMPLES,
    seed: int = 0,
) -> Score:
    """Centred kernel nearest-neighbour alignment of codes and embeddings.

    ``K`` and ``L`` are the inner products of embeddings and of codes, with the diagonal left out.
    ``j`` is a neighbour of ``i`` in a kernel if its value in row ``i`` is at least the k-th
    largest there (values equal to the k-th are all in, whatever the order of rows). A kernel pair
    keeps the entries ``(i, j)`` at which ``j`` is a neighbour of ``i`` in both; others are 0. With
    the unbiased estimator over m rows,

        HSIC(K, L) = [tr(KL) + ΣK·ΣL / ((m−1)(m−2)) − (1ᵀKL1 + 1ᵀLK1) / (m−2)] / (m(m−3)),

    CKNNA is ``HSIC(K, L) / √(HSIC(K, K)·HSIC(L, L))``. Masked kernels are not symmetric, so the
    last term takes the mean of both orders: CKNNA(K, L) = CKNNA(L, K).

    Args:
        codes: (N, d), dense or sparse, not negative.
        embeddings: float (N, D), finite.
        neighbours: k.
        max_rows: rows looked at; of more, a seeded choice that does not depend on their order.
        subsamples, seed: half-size subsamples of the interval; a bootstrap would draw rows twice,
            and copies would be each other's neighbours.

    Returns:
        Score over rows, 1 for equal neighbourhoods, near 0 for unrelated ones; not bounded by the
        estimator. Not applicable with fewer than ``k + 1`` rows or 4, or where either side varies
        too little for its own HSIC to be positive.

    Raises:
        InputError: codes or embeddings that cannot be read, shapes that disagree.

    Source: Huh et al., "The Platonic Representation Hypothesis", ICML 2024.
    """
    values = codes_float32(codes)
    vectors = embeddings_checked(embeddings, values.shape[0], directed=False)
    for name, number, least in (("neighbours", neighbours, 1), ("max_rows", max_rows, 4)):
        if (whole_number(number) or 0) < least:
            raise InputError(f"{name} is {number}; expected a whole number of at least {least}")
    rows = _chosen(values, vectors, max_rows, seed)
    if len(rows) < max(neighbours + 1, 4):
        return make_score(None, len(rows), None, {"fewer rows than neighbours need": len(rows)})
    kernels = _kernel(vectors[rows]), _kernel(values[rows])
    value = _alignment(kernels[0], kernels[1], neighbours)
    samples = replicates(subsamples)
    if np.isnan(value):
        return make_score(None, len(rows), None, {"a kernel that does not vary": len(rows)})
    if len(rows) // 2 >= max(neighbours + 1, 4):
        for index, half in enumerate(half_samples(len(rows), subsamples, seed)):
            first, second = (kernel[np.ix_(half, half)] for kernel in kernels)
            samples[index] = _alignment(first, second, neighbours)
    return subsampled_score(value, samples, len(rows))


def _chosen(values: Any, vectors: np.ndarray, max_rows: int, seed: int) -> IntArray:
    # Embeddings first: SAEs of the same images then share rows and subsamples.
    order = np.lexsort((code_digests(values), vector_digests(vectors)))
    if len(order) <= max_rows:
        return order
    generator = np.random.default_rng(seed)
    return order[np.sort(generator.choice(len(order), max_rows, replace=False))]


def _kernel(rows: Any) -> FloatArray:
    wide = rows.astype(np.float64)
    product = wide @ wide.T
    dense = np.asarray(product.toarray() if sp.issparse(product) else product)
    np.fill_diagonal(dense, 0.0)
    return dense


def _neighbours(kernel: FloatArray, k: int) -> BoolArray:
    others = kernel.copy()
    np.fill_diagonal(others, -np.inf)
    place = len(kernel) - k
    least = np.partition(others, place, axis=1)[:, place]
    near: BoolArray = others >= (least - _ROUNDING * np.abs(kernel).max())[:, None]
    return near


def _alignment(first: FloatArray, second: FloatArray, k: int) -> float:
    near = _neighbours(first, k), _neighbours(second, k)
    own = [_hsic(*_masked(one, one, mask)) for one, mask in zip((first, second), near, strict=True)]
    if any(value <= _ROUNDING * scale for value, scale in own):
        return float("nan")
    both, _ = _hsic(*_masked(first, second, near[0] & near[1]))
    return float(both / np.sqrt(own[0][0]) / np.sqrt(own[1][0]))


def _masked(
    first: FloatArray, second: FloatArray, mask: BoolArray
) -> tuple[sp.csr_array, sp.csr_array]:
    np.fill_diagonal(mask, False)
    places = np.nonzero(mask)
    return (
        sp.csr_array((first[places], places), shape=mask.shape),
        sp.csr_array((second[places], places), shape=mask.shape),
    )


def _hsic(first: sp.csr_array, second: sp.csr_array) -> tuple[float, float]:
    """Unbiased HSIC times m(m−3), and the size of its terms, to tell 0 from rounding."""
    m = first.shape[0]
    traced = float(first.multiply(second.T).sum())
    down = [np.asarray(kernel.sum(axis=0)).ravel() for kernel in (first, second)]
    across = [np.asarray(kernel.sum(axis=1)).ravel() for kernel in (first, second)]
    product = float(down[0] @ across[1] + down[1] @ across[0])
    whole = float(down[0].sum() * down[1].sum())
    value = traced + whole / ((m - 1) * (m - 2)) - product / (m - 2)
    return value, abs(traced) + abs(whole) / ((m - 1) * (m - 2)) + abs(product) / (m - 2)
