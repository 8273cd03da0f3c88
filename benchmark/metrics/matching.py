"""Which latents stand for a concept: the matchers of the concept-annotation paper, §1."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    annotations,
    codes_float32,
    whole_number,
)
from benchmark.metrics.binary import BinaryCodes, binary, row_sets
from benchmark.metrics.nn_omp import NnOmpFit, fit_nn_omp

Coalition: TypeAlias = tuple[int, ...] | None
"""Latents in order of choice; () where nothing fits, None where the concept is not applicable."""


@dataclass(frozen=True)
class Matching:
    """A coalition of latents for every concept.

    Attributes:
        coalitions: A tuples of latent indices in order of choice; () where no latent overlaps the
            concept, None where the concept has no positives on the matching rows.
        f1: joint F_1 on the matching rows, float64 (A,), in [0, 1]; NaN where not applicable.
        matcher, beta, max_latents: how they were found.
        n_latents: d, checked when the matching meets other codes.
    """

    coalitions: tuple[Coalition, ...]
    f1: FloatArray
    matcher: str
    beta: float
    max_latents: int
    n_latents: int
    fits: tuple[NnOmpFit | None, ...] = field(default=(), repr=False)

    def predict(self, latents: Codes) -> BoolArray:
        """Predicted presence, bool (N, A): the union of each coalition.

        For ``nn_omp`` it is the fit above ½, with the weights and norms of the matching rows.

        Raises:
            InputError: codes that cannot be read, or not ``n_latents`` wide.
        """
        values = codes_float32(latents)
        if values.shape[1] != self.n_latents:
            raise InputError(
                f"latents: {values.shape[1]} columns, but the matching is over {self.n_latents}"
            )
        if self.matcher != "nn_omp":
            return union_activity(values, self.coalitions)
        predicted = np.zeros((values.shape[0], len(self.coalitions)), bool)
        for concept, fit in enumerate(self.fits):
            if fit is not None:
                predicted[:, concept] = fit.predict(values)
        return predicted


def match_concepts(
    latents: Codes,
    concepts: BoolArray,
    *,
    matcher: str = "fbmp",
    beta: float = 0.5,
    max_latents: int = 3,
) -> Matching:
    """Find a coalition of latents for every concept.

    Args:
        latents: codes (N, d), dense or sparse, finite and not negative; active = ``> 0``.
        concepts: presence (N, A), booleans or 0/1.
        matcher: ``fbmp`` (fully binary matching pursuit, the default), ``one_to_one`` (the single
            latent of best F_1), ``top_k_f1`` (the k latents of best single F_1) or ``nn_omp``
            (non-negative orthogonal matching pursuit on magnitudes).
        beta: weight of recall in the F_beta that ``fbmp`` selects by; > 0.
        max_latents: largest coalition, at least 1.

    Returns:
        The matching; ties go to the lowest latent index.

    Raises:
        InputError: shapes that disagree, values outside their range, an unknown matcher.

    Source: "Evaluating the Interpretability of Sparse Autoencoders with Concept Annotations".

    >>> import numpy as np
    >>> concept = np.array([[1], [1], [1], [1], [0], [0]])
    >>> codes = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> match_concepts(codes, concept).coalitions
    ((0, 1),)
    """
    if matcher not in _MATCHERS:
        raise InputError(f"unknown matcher {matcher!r}; known: {', '.join(sorted(_MATCHERS))}")
    if not (isinstance(beta, int | float | np.number) and np.isfinite(beta) and beta > 0):
        raise InputError(f"beta is {beta!r}; expected a number above 0")
    size = whole_number(max_latents)
    if size is None or size < 1:
        raise InputError(f"max_latents is {max_latents}; expected a whole number of at least 1")
    values = codes_float32(latents)
    present = annotations(concepts, values.shape[0])
    applicable = np.flatnonzero(present.any(axis=0))
    found = _MATCHERS[matcher](values, present[:, applicable], float(beta), size)
    return _spread(found, applicable, present.shape[1], values.shape[1], matcher, beta, size)


@dataclass
class _Found:
    coalitions: list[tuple[int, ...]]
    f1: FloatArray
    fits: list[NnOmpFit] = field(default_factory=list)


def _spread(
    found: _Found,
    applicable: np.ndarray,
    n_concepts: int,
    n_latents: int,
    matcher: str,
    beta: float,
    max_latents: int,
) -> Matching:
    coalitions: list[Coalition] = [None] * n_concepts
    fits: list[NnOmpFit | None] = [None] * n_concepts
    f1 = np.full(n_concepts, np.nan)
    f1[applicable] = found.f1
    for position, concept in enumerate(applicable):
        coalitions[concept] = found.coalitions[position]
        if found.fits:
            fits[concept] = found.fits[position]
    return Matching(
        tuple(coalitions),
        f1,
        matcher,
        float(beta),
        int(max_latents),
        int(n_latents),
        tuple(fits) if found.fits else (),
    )


def _f_beta(shared: np.ndarray, rows: np.ndarray, latents: np.ndarray, beta: float) -> FloatArray:
    """F_beta of every (row set, latent): shared (A, d), sizes rows (A,) and latents (d,)."""
    squared = beta * beta
    # a latent that is never active shares no row: any size but 0 gives it the 0 it must have
    sizes = np.maximum(latents, 1).astype(np.float64)
    fit = (1 + squared) * shared
    fit /= (squared * rows.astype(np.float64))[:, None] + sizes[None, :]
    return fit


def _fbmp(values: Codes, present: BoolArray, beta: float, max_latents: int) -> _Found:
    codes = binary(values)
    sizes = codes.counts()
    alive = np.flatnonzero(sizes)
    if 0 < 2 * alive.size < sizes.size:  # the cost then follows active entries, not latents
        found = _fbmp(values[:, alive], present, beta, max_latents)
        named = [tuple(int(alive[j]) for j in coalition) for coalition in found.coalitions]
        return _Found(named, found.f1)
    positives = present.sum(axis=0, dtype=np.int64)
    n_concepts = len(positives)
    coalitions: list[list[int]] = [[] for _ in range(n_concepts)]
    best = np.zeros(n_concepts)
    hits = np.zeros(n_concepts, np.int64)
    covered = np.zeros(n_concepts, np.int64)
    open_ = np.arange(n_concepts)
    residual = row_sets(present)
    union = sp.csr_array(residual.shape, dtype=np.int32)
    shared = codes.overlap(residual)
    for left in reversed(range(min(max_latents, codes.shape[1]))):
        if open_.size == 0:
            break
        # a latent chosen before shares no row with what is left, and so cannot win again
        fit = _f_beta(shared, positives[open_] - hits[open_], sizes, beta)
        choice = fit.argmax(axis=1)
        every = np.arange(open_.size)
        chosen = codes.columns(choice)
        new_hits = hits[open_] + shared[every, choice]
        both = _row_counts(union.multiply(chosen))
        new_covered = covered[open_] + sizes[choice] - both
        f1 = 2.0 * new_hits / (new_covered + positives[open_])
        better = (fit[every, choice] > 0) & (f1 > best[open_])
        for kept in np.flatnonzero(better):
            coalitions[open_[kept]].append(int(choice[kept]))
        if left == 0:
            best[open_[better]] = f1[better]
            break
        open_, chosen = open_[better], chosen[better]
        best[open_], hits[open_], covered[open_] = f1[better], new_hits[better], new_covered[better]
        union, residual = union[better], residual[better]
        union = (union + chosen - union.multiply(chosen)).tocsr()
        found = residual.multiply(chosen).tocsr()
        residual = (residual - found).tocsr()
        residual.eliminate_zeros()
        # count anew whichever rows are fewer: those just found, or those still to find
        if found.nnz < residual.nnz:
            shared = shared[better] - codes.overlap(found)
        else:
            shared = codes.overlap(residual)
    return _Found([tuple(coalition) for coalition in coalitions], best)


def _row_counts(sets: sp.csr_array) -> np.ndarray:
    return np.asarray(sets.sum(axis=1), np.int64).ravel()


def _one_to_one(values: Codes, present: BoolArray, beta: float, max_latents: int) -> _Found:
    return _fbmp(values, present, 1.0, 1)


def _top_k_f1(values: Codes, present: BoolArray, beta: float, max_latents: int) -> _Found:
    codes: BinaryCodes = binary(values)
    positives = present.sum(axis=0, dtype=np.int64)
    fit = _f_beta(codes.overlap(row_sets(present)), positives, codes.counts(), 1.0)
    order = np.argsort(-fit, axis=1, kind="stable")[:, :max_latents]
    coalitions = [
        tuple(int(j) for j in latents if fit[concept, j] > 0)
        for concept, latents in enumerate(order)
    ]
    predicted = union_activity(values, coalitions)
    return _Found(coalitions, joint_f1(predicted, present))


def _nn_omp(values: Codes, present: BoolArray, beta: float, max_latents: int) -> _Found:
    fits = fit_nn_omp(values, present, max_latents)
    predicted = np.zeros(present.shape, bool)
    for concept, fit in enumerate(fits):
        predicted[:, concept] = fit.predict(values)
    return _Found([fit.latents for fit in fits], joint_f1(predicted, present), fits)


_MATCHERS: dict[str, Callable[[Codes, BoolArray, float, int], _Found]] = {
    "fbmp": _fbmp,
    "one_to_one": _one_to_one,
    "top_k_f1": _top_k_f1,
    "nn_omp": _nn_omp,
}


def union_activity(values: Codes, coalitions: "tuple[Coalition, ...] | list") -> BoolArray:
    """Whether any latent of each coalition is active, bool (N, A); False for () and None.

    Args:
        values: codes (N, d) as float32 (``codes_float32``).
        coalitions: A coalitions over the d latents.
    """
    lengths = [len(coalition or ()) for coalition in coalitions]
    latents = np.array([j for coalition in coalitions for j in coalition or ()], np.int64)
    owners = np.repeat(np.arange(len(coalitions)), lengths)
    member = sp.csr_array(
        (np.ones(len(latents), np.float32), (latents, owners)),
        shape=(values.shape[1], len(coalitions)),
    )
    if not sp.issparse(values):
        used = np.unique(latents)
        values = sp.csr_array((values[:, used] > 0).astype(np.float32))
        member = member[used]
    return (values @ member).toarray() > 0


def joint_f1(predicted: BoolArray, present: BoolArray) -> FloatArray:
    """F_1 of predictions (N, A) against presence (N, A): float64 (A,), 0 where both are empty."""
    hits = (predicted & present).sum(axis=0, dtype=np.int64)
    size = predicted.sum(axis=0, dtype=np.int64) + present.sum(axis=0, dtype=np.int64)
    return np.divide(2.0 * hits, size, out=np.zeros(len(hits)), where=size > 0)
