"""Slow, obvious restatements of the metric definitions, written from the specification alone.

Nothing here is shared with the package: plain loops, exact fractions where a tie can decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import nnls

Coalition = tuple[int, ...] | None


def is_active(value: float) -> bool:
    """Active means > 0 after casting to float32."""
    with np.errstate(over="ignore", under="ignore"):
        return bool(np.float32(value) > 0)


def binary(codes: np.ndarray) -> list[list[bool]]:
    """Activity of every entry, as nested lists."""
    return [[is_active(value) for value in row] for row in np.asarray(codes).tolist()]


def column(rows: Sequence[Sequence[bool]], index: int) -> list[bool]:
    return [bool(row[index]) for row in rows]


def f_score(prediction: Sequence[bool], truth: Sequence[bool], beta: float = 1.0) -> Fraction:
    """F_beta as an exact fraction; 0 where nothing is predicted and nothing is true."""
    true_positives = sum(1 for p, t in zip(prediction, truth, strict=True) if p and t)
    if true_positives == 0:
        return Fraction(0)
    b2 = Fraction(beta) ** 2
    return (1 + b2) * true_positives / (b2 * sum(truth) + sum(prediction))


def union(rows: Sequence[Sequence[bool]], coalition: Sequence[int]) -> list[bool]:
    return [any(row[j] for j in coalition) for row in rows]


def first_best(scores: dict[int, Fraction]) -> int:
    """Key of the largest value, ties to the lowest key."""
    return min(scores, key=lambda j: (-scores[j], j))


def fbmp_one(z: list[list[bool]], y: list[bool], beta: float, k: int) -> list[int]:
    """Fully binary matching pursuit for one concept."""
    chosen: list[int] = []
    covered = [False] * len(y)
    residual = list(y)
    best = Fraction(0)
    d = len(z[0])
    while len(chosen) < k and len(chosen) < d:
        scores = {j: f_score(column(z, j), residual, beta) for j in range(d) if j not in chosen}
        j = first_best(scores)
        if scores[j] == 0:
            break
        candidate = [u or v for u, v in zip(covered, column(z, j), strict=True)]
        if f_score(candidate, y) <= best:
            break
        chosen.append(j)
        covered = candidate
        residual = [r and not v for r, v in zip(residual, column(z, j), strict=True)]
        best = f_score(candidate, y)
    return chosen


def top_k_one(z: list[list[bool]], y: list[bool], k: int) -> list[int]:
    """The k best single-latent F_1; a latent that scores 0 is never one of them."""
    scores = {j: f_score(column(z, j), y) for j in range(len(z[0]))}
    chosen: list[int] = []
    while scores and len(chosen) < k:
        j = first_best(scores)
        if scores[j] == 0:
            break
        chosen.append(j)
        del scores[j]
    return chosen


@dataclass
class Fit:
    """One concept's non-negative pursuit. `safe` is False where rounding could decide."""

    coalition: list[int]
    weights: list[float]
    norms: list[float]
    safe: bool

    def values(self, codes: np.ndarray) -> list[float]:
        rows = np.asarray(codes, dtype=np.float32).astype(np.float64)
        return [
            sum(
                float(row[j]) / norm * weight
                for j, norm, weight in zip(self.coalition, self.norms, self.weights, strict=True)
            )
            for row in rows
        ]

    def predict(self, codes: np.ndarray) -> list[bool]:
        return [value > 0.5 for value in self.values(codes)]

    def decided(self, codes: np.ndarray, margin: float = 1e-7) -> bool:
        """No fitted value on these rows is so near 0.5 that rounding could flip it."""
        return self.safe and all(abs(value - 0.5) > margin for value in self.values(codes))


def nn_omp_one(codes: np.ndarray, y: list[bool], k: int) -> Fit:
    """Non-negative orthogonal matching pursuit for one concept."""
    z = np.asarray(codes, dtype=np.float32).astype(np.float64)
    n, d = z.shape
    norms = [math.sqrt(math.fsum(float(v) ** 2 for v in z[:, j])) for j in range(d)]
    unit = np.zeros((n, d))
    for j in range(d):
        if norms[j] > 0:
            unit[:, j] = z[:, j] / norms[j]
    target = np.array(y, dtype=np.float64)
    residual = target.copy()
    chosen: list[int] = []
    weights: list[float] = []
    safe = True
    while len(chosen) < k:
        correlation = [math.fsum((unit[:, j] * residual).tolist()) for j in range(d)]
        best = max(correlation)
        if best <= 1e-9:
            break
        near = [j for j in range(d) if best - correlation[j] <= 1e-9]
        first = near[0]
        if any(not np.array_equal(z[:, j], z[:, first]) for j in near):
            safe = False
        if first in chosen:
            break
        chosen.append(first)
        solution, _ = nnls(unit[:, chosen], target)
        weights = [float(w) for w in solution]
        residual = target - unit[:, chosen] @ solution
    return Fit(chosen, weights, [norms[j] for j in chosen], safe)


@dataclass
class Match:
    coalitions: list[Coalition] = field(default_factory=list)
    f1: list[float | None] = field(default_factory=list)
    fits: list[Fit | None] = field(default_factory=list)


def match(codes: np.ndarray, concepts: np.ndarray, matcher: str, beta: float, k: int) -> Match:
    """Coalitions of every concept; None where the concept has no positives."""
    z = binary(codes)
    result = Match()
    for a in range(concepts.shape[1]):
        y = column(concepts.tolist(), a)
        if not any(y):
            result.coalitions.append(None)
            result.f1.append(None)
            result.fits.append(None)
            continue
        fit = None
        if matcher == "fbmp":
            chosen = fbmp_one(z, y, beta, k)
        elif matcher == "one_to_one":
            chosen = fbmp_one(z, y, 1.0, 1)
        elif matcher == "top_k_f1":
            chosen = top_k_one(z, y, k)
        else:
            fit = nn_omp_one(codes, y, k)
            chosen = fit.coalition
        prediction = union(z, chosen) if fit is None else fit.predict(codes)
        result.coalitions.append(tuple(chosen))
        result.f1.append(float(f_score(prediction, y)))
        result.fits.append(fit)
    return result


def concept_f1(
    codes: np.ndarray, concepts: np.ndarray, coalitions: Sequence[Coalition]
) -> list[float | None]:
    """Joint F_1 of given coalitions on these rows; None where not applicable."""
    z = binary(codes)
    scores: list[float | None] = []
    for a, coalition in enumerate(coalitions):
        y = column(concepts.tolist(), a)
        if coalition is None or not any(y):
            scores.append(None)
        else:
            scores.append(float(f_score(union(z, coalition), y)))
    return scores


def mean(values: Sequence[float | None]) -> float | None:
    """Mean over the applicable entries; None where there are none."""
    kept = [value for value in values if value is not None]
    return math.fsum(kept) / len(kept) if kept else None


def bootstrap_match_score(
    codes: np.ndarray,
    concepts: np.ndarray,
    coalitions: Sequence[Coalition],
    resamples: int,
    seed: int,
) -> list[float]:
    """One MATCHScore per resample of the rows, in a plain loop."""
    rng = np.random.default_rng(seed)
    n = len(concepts)
    means = []
    for _ in range(resamples):
        rows = rng.integers(0, n, n)
        value = mean(concept_f1(codes[rows], concepts[rows], coalitions))
        if value is not None:
            means.append(value)
    return means


@dataclass
class Tapa:
    value: float | None
    delta_add: float | None
    delta_rem: float | None
    delta_stay: float | None
    empty_add: int
    empty_removed: int
    per_concept: list[dict[str, Any]]


def strongest(row: Sequence[float], coalition: Sequence[int]) -> float:
    """Maximum over a coalition; 0 over an empty one."""
    return max([float(row[j]) for j in coalition], default=0.0)


def tapa_from(add: float | None, rem: float | None) -> float | None:
    if add is None:
        return None if rem is None else -rem
    return add if rem is None else add - rem


def tapa(
    before: Sequence[Sequence[float]],
    after: Sequence[Sequence[float]],
    coalitions: Sequence[Coalition],
    added: Sequence[int | None],
    removed: Sequence[int | None],
    present: np.ndarray | None,
) -> Tapa:
    """TAPAScore, its parts and its per-concept rows from latent states (binary or magnitude)."""
    own = [set(coalition or ()) for coalition in coalitions]
    adds: list[tuple[int, float]] = []
    rems: list[tuple[int, float]] = []
    stays: list[float] = []
    empty_add = empty_removed = 0
    for p in range(len(added)):
        a, r = added[p], removed[p]
        i_add = own[a] if a is not None else set()
        i_rem = own[r] if r is not None else set()
        if a is not None and r is not None:
            i_add, i_rem = i_add - i_rem, i_rem - i_add
        if a is not None:
            empty_add += not i_add
            adds.append((a, change(before[p], after[p], i_add)))
        if r is not None:
            empty_removed += not i_rem
            rems.append((r, change(before[p], after[p], i_rem)))
        for c in range(len(own)):
            if present is None or not present[p, c] or c in (a, r) or not own[c]:
                continue
            stays.append(abs(change(before[p], after[p], own[c])))
    delta_add = mean([delta for _, delta in adds])
    delta_rem = mean([delta for _, delta in rems])
    return Tapa(
        tapa_from(delta_add, delta_rem),
        delta_add,
        delta_rem,
        mean(stays),
        empty_add,
        empty_removed,
        [tapa_row(c, adds, rems) for c in range(len(own))],
    )


def change(before: Sequence[float], after: Sequence[float], coalition: set[int]) -> float:
    return strongest(after, sorted(coalition)) - strongest(before, sorted(coalition))


def tapa_row(
    concept: int, adds: list[tuple[int, float]], rems: list[tuple[int, float]]
) -> dict[str, Any]:
    """One concept's means and counts."""
    up = [delta for c, delta in adds if c == concept]
    down = [delta for c, delta in rems if c == concept]
    return {
        "delta_add": mean(up),
        "n_add": len(up),
        "delta_rem": mean(down),
        "n_rem": len(down),
        "tapa": tapa_from(mean(up), mean(down)),
    }


def magnitudes(codes: np.ndarray, match_codes: np.ndarray) -> list[list[float]]:
    """Codes over the 99 % quantile of each latent's positive codes, clipped to [0, 1]."""
    z = np.asarray(codes, dtype=np.float32).astype(np.float64)
    m = np.asarray(match_codes, dtype=np.float32).astype(np.float64)
    states = np.zeros(z.shape)
    for j in range(z.shape[1]):
        positive = [float(v) for v in m[:, j] if v > 0]
        if positive:
            scale = float(np.quantile(positive, 0.99))
            states[:, j] = [min(max(float(v) / scale, 0.0), 1.0) for v in z[:, j]]
    return [[float(v) for v in row] for row in states]
