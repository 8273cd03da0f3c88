"""Redundant latents: decoder rows that point the same way, §4 C1."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    IntArray,
    active,
)
from benchmark.metrics.dominance import quartiles

MAX_PAIRS = 1_000_000
"""The strongest pairs that are listed; the count is exact whatever their number."""

SHARDED_ENCODER_BELOW = 0.3
"""Encoder cosine under which a redundant pair reads two directions."""

SHARDED_JACCARD_BELOW = 0.1
"""Overlap of activity under which a redundant pair fires on different rows."""

_BLOCK = 4096
_BORDER = 2e-5  # float32 products of unit vectors are nearer than this; closer calls use float64


@dataclass(frozen=True)
class Sharded:
    """A redundant pair that reads differently: one direction written by two detectors."""

    pair: tuple[int, int]
    decoder_cosine: float
    encoder_cosine: float
    jaccard: float


@dataclass(frozen=True)
class Redundancy:
    """Pairs of alive latents whose decoder rows have a cosine of at least the threshold.

    Attributes:
        n_pairs: exact number of pairs.
        pairs: (i, j, cosine) with i < j, strongest first, at most ``MAX_PAIRS``.
        within_quartile: pairs with both ends in Q1, Q2, Q3, Q4.
        enrichment_q1: (share of pair ends in Q1) / (share of alive latents in Q1); None without
            pairs.
        redundant_fraction: share of applicable latents in at least one pair; None without any.
        sharded: redundant pairs whose encoder rows and activity differ, strongest first; None
            where encoder or codes were not given; a zero encoder row has no cosine and is left out.
        zero_rows: alive latents left out because their decoder row is zero.
        endpoints: pairs that each latent is in, int64 (d,).
        quartile: quartile of each latent, 0 where dead.
        applicable: alive with a decoder row that is not zero, bool (d,).
    """

    n_pairs: int
    pairs: list[tuple[int, int, float]] = field(repr=False)
    within_quartile: tuple[int, int, int, int]
    enrichment_q1: float | None
    redundant_fraction: float | None
    sharded: list[Sharded] | None = field(repr=False)
    zero_rows: int
    endpoints: IntArray = field(repr=False)
    quartile: IntArray = field(repr=False)
    applicable: BoolArray = field(repr=False)


def decoder_redundancy(
    decoder: np.ndarray,
    dominance: FloatArray,
    alive: BoolArray,
    *,
    encoder: np.ndarray | None = None,
    codes: Codes | None = None,
    threshold: float = 0.7,
) -> Redundancy:
    """Find redundant latents; exact, in blocks of half the cosine matrix.

    Args:
        decoder: (d, D), one row a latent.
        dominance: float (d,); decides the quartiles.
        alive: bool (d,); dead latents are left out.
        encoder: (d, D), for sharding.
        codes: (N, d), for sharding.
        threshold: least cosine, in (−1, 1].

    Raises:
        InputError: shapes that disagree, values that are not finite.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    rows = _matrix(decoder, "decoder")
    quartile = quartiles(dominance, alive)
    if len(quartile) != len(rows):
        raise InputError(f"decoder: {len(rows)} rows, but dominance is over {len(quartile)}")
    if not -1 < threshold <= 1:
        raise InputError(f"threshold is {threshold}; expected a cosine above -1 and at most 1")
    zero = ~np.any(rows, axis=1)
    applicable = (quartile > 0) & ~zero
    latents = np.flatnonzero(applicable)
    detectors = _detectors(encoder, codes, len(rows))
    found = _search(rows[latents], quartile[latents], threshold)
    endpoints = np.zeros(len(rows), np.int64)
    endpoints[latents] = found.endpoints
    pairs = [
        (int(latents[i]), int(latents[j]), float(c))
        for i, j, c in zip(found.first, found.second, found.cosine, strict=True)
    ]
    return Redundancy(
        n_pairs=found.n_pairs,
        pairs=pairs,
        within_quartile=found.within_quartile,
        enrichment_q1=_enrichment(endpoints, quartile),
        redundant_fraction=float((found.endpoints > 0).mean()) if latents.size else None,
        sharded=None if detectors is None else _sharded(pairs, *detectors),
        zero_rows=int(((quartile > 0) & zero).sum()),
        endpoints=endpoints,
        quartile=quartile,
        applicable=applicable,
    )


def _matrix(values: np.ndarray, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 2:
        raise InputError(f"{name}: expected shape (latents, features), found {array.shape}")
    array = array.astype(np.float32, copy=False) if array.dtype != np.float64 else array
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise InputError(f"{name}: row {bad[0]} holds a value that is not finite")
    return array


def _enrichment(endpoints: IntArray, quartile: IntArray) -> float | None:
    if endpoints.sum() == 0:
        return None
    share = (quartile[quartile > 0] == 1).mean()
    return float(endpoints[quartile == 1].sum() / endpoints.sum() / share)


@dataclass
class _Found:
    n_pairs: int
    endpoints: IntArray
    within_quartile: tuple[int, int, int, int]
    first: IntArray
    second: IntArray
    cosine: FloatArray


def _search(rows: np.ndarray, quartile: IntArray, threshold: float) -> _Found:
    endpoints = np.zeros(len(rows), np.int64)
    within = np.zeros(5, np.int64)
    n_pairs = 0
    strongest = _Strongest()
    for i, j in _candidates(rows, threshold):
        cosine = exact_cosine(rows, i, j)
        keep = cosine >= threshold
        i, j, cosine = i[keep], j[keep], cosine[keep]
        n_pairs += len(i)
        endpoints += np.bincount(i, minlength=len(rows))
        endpoints += np.bincount(j, minlength=len(rows))
        same = quartile[i] == quartile[j]
        within += np.bincount(quartile[i[same]], minlength=5)
        strongest.add(i, j, cosine)
    first, second, cosine = strongest.sorted()
    counts = (int(within[1]), int(within[2]), int(within[3]), int(within[4]))
    return _Found(n_pairs, endpoints, counts, first, second, cosine)


def _candidates(rows: np.ndarray, threshold: float) -> Iterator[tuple[IntArray, IntArray]]:
    """Index pairs i < j that may reach the threshold, block by block of the upper half."""
    scaled = _near_one(rows)
    unit = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    for top in range(0, len(unit), _BLOCK):
        for left in range(top, len(unit), _BLOCK):
            product = unit[top : top + _BLOCK] @ unit[left : left + _BLOCK].T
            i, j = np.nonzero(product >= threshold - _BORDER)
            i, j = i + top, j + left
            upper = i < j
            yield i[upper], j[upper]


def exact_cosine(rows: np.ndarray, i: IntArray, j: IntArray) -> FloatArray:
    """Cosine of rows i and j in float64; exactly 1 for rows that are equal."""
    result = np.empty(len(i))
    step = max(1, (1 << 24) // max(rows.shape[1], 1))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        a, b = _near_one(rows[i[part]]), _near_one(rows[j[part]])
        dot, aa, bb = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (a, a), (b, b)))
        result[part] = np.clip(dot / np.sqrt(aa * bb), -1.0, 1.0)
    return result


def _near_one(rows: np.ndarray) -> FloatArray:
    """Rows scaled by a power of two, which rounds nothing, so that squares stay in range."""
    if len(rows) == 0:
        return rows.astype(np.float64)
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    return np.ldexp(rows.astype(np.float64), -exponents)


class _Strongest:
    """Keeps the ``MAX_PAIRS`` strongest pairs of a stream."""

    def __init__(self) -> None:
        self._parts: list[tuple[IntArray, IntArray, FloatArray]] = []
        self._held = 0

    def add(self, i: IntArray, j: IntArray, cosine: FloatArray) -> None:
        self._parts.append((i, j, cosine))
        self._held += len(i)
        if self._held > 2 * MAX_PAIRS:
            self._parts = [self.sorted()]
            self._held = len(self._parts[0][0])

    def sorted(self) -> tuple[IntArray, IntArray, FloatArray]:
        if not self._parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        i, j, cosine = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.lexsort((j, i, -cosine))[:MAX_PAIRS]
        return i[order], j[order], cosine[order]


def _detectors(
    encoder: np.ndarray | None, codes: Codes | None, n_latents: int
) -> tuple[np.ndarray, sp.csc_array] | None:
    if encoder is None or codes is None:
        return None
    rows = _matrix(encoder, "encoder")
    on = sp.csc_array(active(codes, "codes"))
    if len(rows) != n_latents or on.shape[1] != n_latents:
        raise InputError(
            f"encoder has {len(rows)} rows and codes {on.shape[1]} columns; expected {n_latents}"
        )
    return rows, on


def _sharded(
    pairs: list[tuple[int, int, float]],
    rows: np.ndarray,
    on: sp.csc_array,
) -> list[Sharded]:
    if not pairs:
        return []
    i, j = (np.array(column) for column in zip(*[(a, b) for a, b, _ in pairs], strict=True))
    usable = np.asarray(rows.any(axis=1))
    applies = usable[i] & usable[j]
    i, j = i[applies], j[applies]
    strength = np.array([c for _, _, c in pairs])[applies]
    cosine = exact_cosine(rows, i, j)
    apart = cosine < SHARDED_ENCODER_BELOW
    i, j, strength, cosine = i[apart], j[apart], strength[apart], cosine[apart]
    overlap = _jaccard(on, i, j)
    return [
        Sharded((int(a), int(b)), float(c), float(e), float(o))
        for a, b, c, e, o in zip(i, j, strength, cosine, overlap, strict=True)
        if o < SHARDED_JACCARD_BELOW
    ]


def _jaccard(on: sp.csc_array, i: IntArray, j: IntArray) -> FloatArray:
    counts = np.diff(on.indptr)
    result = np.empty(len(i))
    by_latent = on.T.tocsr().astype(np.int32)
    step = 10_000
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        both = by_latent[i[part]].multiply(by_latent[j[part]]).sum(axis=1)
        shared = np.asarray(both, np.float64).ravel()
        result[part] = shared / (counts[i[part]] + counts[j[part]] - shared)
    return result
