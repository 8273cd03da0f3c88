"""MS: how alike are the images that a latent fires on, §3."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    Codes,
    FloatArray,
    IntArray,
    codes_float32,
    embeddings_checked,
)
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights

_CHUNK_ROWS = 8192
_BLOCK_ELEMENTS = 1 << 22


def monosemanticity(codes: Codes, embeddings: np.ndarray) -> FloatArray:
    """Monosemanticity score of every latent, by the closed form in O(N·d·D), in one pass.

    With ``a`` the latent's codes scaled to [0, 1] by their minimum and maximum over the rows and
    ``p`` the embeddings at unit norm: ``Σ_{i<j} a_i a_j p_i·p_j / Σ_{i<j} a_i a_j``, the mean
    cosine of two images weighted by how strongly both activate the latent.

    Args:
        codes: (N, d), dense or sparse, not negative; sparse codes stay sparse.
        embeddings: float (N, D), finite, no row zero; read in chunks, so a memory map will do.

    Returns:
        float64 (d,) in [−1, 1]; NaN for a latent that is constant, or above its minimum on one
        row only.

    Raises:
        InputError: codes that cannot be read, shapes that disagree, an embedding without direction.

    Source: Pach et al., "Sparse Autoencoders Learn Monosemantic Features in Vision-Language
    Models".

    >>> import numpy as np
    >>> monosemanticity(np.array([[2.0], [1.0], [0.0]]), np.array([[1, 0], [1, 0], [0, 1]]))
    array([1.])
    """
    values = codes_float32(codes)
    vectors = embeddings_checked(embeddings, values.shape[0])
    return _per_latent(values, vectors, _scaling(values))


def ms_score(
    codes: Codes, embeddings: np.ndarray, *, resamples: int = RESAMPLES, seed: int = 0
) -> Score:
    """Mean monosemanticity over the latents that have one, with an interval over images.

    An image drawn more than once into a resample is as many images with the same codes and
    embedding, but makes no pair with itself: a copy says nothing about the latent. Scaling stays
    that of all rows. A latent on which a resample has no pair is left out of that resample.

    Args:
        codes, embeddings: as ``monosemanticity``.
        resamples, seed: bootstrap over rows. A latent above its minimum on n rows costs about
            ``n·min(n, D)·resamples`` operations: little for sparse codes, much for dense ones.

    Returns:
        Score in [−1, 1] over the applicable latents.

    Raises:
        InputError: as ``monosemanticity``.
    """
    values = codes_float32(codes)
    vectors = embeddings_checked(embeddings, values.shape[0])
    scaling = _scaling(values)
    each = _per_latent(values, vectors, scaling)
    keep = np.isfinite(each)
    reasons = {
        "constant over the rows": int((scaling.span == 0).sum()),
        "above its minimum on one row only": int((~keep & (scaling.span > 0)).sum()),
    }
    if not keep.any():
        return make_score(None, 0, None, reasons)
    samples = _resampled(values, vectors, scaling, np.flatnonzero(keep), resamples, seed)
    return make_score(float(each[keep].mean()), int(keep.sum()), samples, reasons)


@dataclass(frozen=True)
class _Scaling:
    low: FloatArray
    span: FloatArray  # 0 for a constant latent
    peak: IntArray  # the first row with the largest code


def _scaling(values: Any) -> _Scaling:
    if not sp.issparse(values):
        low, high = values.min(axis=0), values.max(axis=0)
        peak = values.argmax(axis=0)
    else:
        columns = values.tocsc()
        counts = np.diff(columns.indptr)
        owner = np.repeat(np.arange(len(counts)), counts)
        low, high = np.zeros((2, len(counts)), np.float32)
        np.maximum.at(high, owner, columns.data)
        low[counts == values.shape[0]] = np.inf
        np.minimum.at(low, owner, np.where(low[owner] > 0, columns.data, 0))
        tops = np.flatnonzero(columns.data == high[owner])
        latents, first = np.unique(owner[tops], return_index=True)
        peak = np.zeros(len(counts), np.int64)
        peak[latents] = columns.indices[tops[first]]
    low = low.astype(np.float64)
    return _Scaling(low, high.astype(np.float64) - low, peak.astype(np.int64))


def _per_latent(values: Any, vectors: np.ndarray, scaling: _Scaling) -> FloatArray:
    # The row of the largest code, whose scaled code is 1, stands apart from the sums: it may be so
    # much larger than the others that the squares would cancel.
    n_rows, n_latents = values.shape
    pulled = np.zeros((n_latents, vectors.shape[1]))
    total, squares = np.zeros((2, n_latents))
    for start in range(0, n_rows, _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        scaled = _scaled(values[part], start, scaling)
        pulled += scaled.T @ _unit(vectors[part])
        total += np.asarray(scaled.sum(axis=0)).ravel()
        squares += np.asarray((scaled**2).sum(axis=0)).ravel()
    with_peak = (pulled * _unit(vectors[scaling.peak])).sum(axis=1)
    weight = total + (total**2 - squares) / 2
    alike = with_peak + ((pulled**2).sum(axis=1) - squares) / 2
    there = (scaling.span > 0) & (total > 0)
    ratio = np.divide(alike, weight, out=np.full(n_latents, np.nan), where=there)
    return np.clip(ratio, -1.0, 1.0)


def _scaled(part: Any, start: int, scaling: _Scaling) -> Any:
    """Codes of some rows scaled to [0, 1], float64, 0 on the row of each latent's largest code."""
    span = np.where(scaling.span > 0, scaling.span, np.inf)
    if not sp.issparse(part):
        scaled = (part - scaling.low) / span
        here = (scaling.peak >= start) & (scaling.peak < start + len(scaled))
        scaled[scaling.peak[here] - start, np.flatnonzero(here)] = 0.0
        return scaled
    rows = np.repeat(np.arange(start, start + part.shape[0]), np.diff(part.indptr))
    data = (part.data - scaling.low[part.indices]) / span[part.indices]
    data[scaling.peak[part.indices] == rows] = 0.0
    return sp.csr_array((data, part.indices, part.indptr), shape=part.shape)


def _unit(vectors: np.ndarray) -> FloatArray:
    wide = np.asarray(vectors, np.float64)
    # dividing by the largest entry first keeps the squares from over- or underflowing
    wide = wide / np.abs(wide).max(axis=1, keepdims=True)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def _resampled(
    values: Any,
    vectors: np.ndarray,
    scaling: _Scaling,
    latents: IntArray,
    resamples: int,
    seed: int,
) -> FloatArray:
    n_rows = values.shape[0]
    weights = np.empty((n_rows, len(replicates(resamples))), np.uint16)
    for block, counts in resample_weights(n_rows, resamples, seed):
        weights[:, block] = counts.T
    total, present = np.zeros((2, weights.shape[1]))
    for rows, scaled in _supports(values, scaling, latents):
        unit = _unit(vectors[rows])
        step = max(1, _BLOCK_ELEMENTS // len(rows))
        for start in range(0, weights.shape[1], step):
            part = slice(start, start + step)
            ratio = _weighted(weights[rows, part] * scaled[:, None], unit)
            there = np.isfinite(ratio)
            total[part] += np.where(there, ratio, 0.0)
            present[part] += there
    return np.divide(total, present, out=np.full(len(total), np.nan), where=present > 0)


def _supports(
    values: Any, scaling: _Scaling, latents: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Rows on which each latent is above its minimum, and its scaled codes there."""
    columns = values.tocsc() if sp.issparse(values) else values
    for latent in latents:
        if sp.issparse(columns):
            own = slice(columns.indptr[latent], columns.indptr[latent + 1])
            rows, codes = columns.indices[own], columns.data[own]
        else:
            rows, codes = np.arange(len(columns)), columns[:, latent]
        scaled = (codes - scaling.low[latent]) / scaling.span[latent]
        above = scaled > 0
        yield rows[above], scaled[above]


def _weighted(pull: FloatArray, unit: FloatArray) -> FloatArray:
    """MS of one latent in each resample, float64 (R,), from ``w∘a`` (n, R) and ``p`` (n, D)."""
    n, width = unit.shape
    squares = (pull**2).sum(axis=0)
    if n * (width + pull.shape[1]) < width * pull.shape[1]:
        alike = np.einsum("nr,nr->r", pull, (unit @ unit.T) @ pull) - squares
    else:
        alike = ((unit.T @ pull) ** 2).sum(axis=0) - squares
    total = pull.sum(axis=0) ** 2
    weight = total - squares
    there = weight > 1e-12 * total
    return np.divide(alike, weight, out=np.full(len(weight), np.nan), where=there)
