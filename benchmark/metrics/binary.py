"""Binary codes behind one face, sparse or dense, whichever is cheaper for the data."""

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import Codes, IntArray, active

_DENSE_FROM = 0.10
_ROWS_PER_PRODUCT = 1 << 13


class BinaryCodes(Protocol):
    """Active latents of N rows."""

    shape: tuple[int, int]

    def counts(self) -> IntArray:
        """Number of rows on which each latent is active, int64 (d,)."""

    def overlap(self, rows: sp.csr_array) -> IntArray:
        """For sets of rows, int32 (A, N) of 0/1: rows shared with each latent, int64 (A, d)."""

    def columns(self, latents: IntArray) -> sp.csr_array:
        """The rows of some latents, int32 (len(latents), N) of 0/1."""


class SparseBinary:
    """Rows by latent, as CSR; cost follows the active entries."""

    def __init__(self, codes: sp.csr_array) -> None:
        self.shape: tuple[int, int] = codes.shape
        entries = sp.csr_array(
            (np.ones(codes.nnz, np.int32), codes.indices, codes.indptr), shape=codes.shape
        )
        self._by_row = entries

    def counts(self) -> IntArray:
        return np.bincount(self._by_row.indices, minlength=self.shape[1])

    def overlap(self, rows: sp.csr_array) -> IntArray:
        return (rows @ self._by_row).toarray().astype(np.int64)

    def columns(self, latents: IntArray) -> sp.csr_array:
        return self._by_row[:, latents].T.tocsr()


class DenseBinary:
    """A boolean array; counts through float32 products over blocks small enough to be exact."""

    def __init__(self, codes: np.ndarray) -> None:
        self.shape: tuple[int, int] = (codes.shape[0], codes.shape[1])
        self._codes = codes

    def counts(self) -> IntArray:
        return self._codes.sum(axis=0, dtype=np.int64)

    def overlap(self, rows: sp.csr_array) -> IntArray:
        total = np.zeros((rows.shape[0], self.shape[1]), np.int64)
        by_row = rows.T.tocsr()
        for start in range(0, self.shape[0], _ROWS_PER_PRODUCT):
            part = slice(start, start + _ROWS_PER_PRODUCT)
            sets = by_row[part].toarray().astype(np.float32)
            product = sets.T @ self._codes[part].astype(np.float32)
            total += np.rint(product).astype(np.int64)
        return total

    def columns(self, latents: IntArray) -> sp.csr_array:
        return sp.csr_array(self._codes[:, latents].T.astype(np.int32))


def binary(codes: Codes, name: str = "latents") -> BinaryCodes:
    """Binary codes on the road that suits their density; counts are the same on either."""
    on = active(codes, name)
    cells = on.shape[0] * on.shape[1]
    if sp.issparse(on):
        if on.nnz > _DENSE_FROM * cells:
            return DenseBinary(on.toarray())
        return SparseBinary(on)
    if np.count_nonzero(on) > _DENSE_FROM * cells:
        return DenseBinary(on)
    return SparseBinary(sp.csr_array(on))


def row_sets(concepts: np.ndarray) -> sp.csr_array:
    """Annotations (N, A) as one set of rows a concept: int32 (A, N) of 0/1."""
    present = np.ascontiguousarray(concepts.T)
    n_concepts, n = present.shape
    flat = np.flatnonzero(present)
    indptr = np.searchsorted(flat, np.arange(n_concepts + 1) * n)
    indices = flat - np.repeat(np.arange(n_concepts) * n, np.diff(indptr))
    return sp.csr_array((np.ones(len(flat), np.int32), indices, indptr), shape=present.shape)
