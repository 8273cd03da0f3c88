"""Slow, obvious restatements of MS, FMS and CKNNA, written from the specification alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np


def monosemanticity(codes: np.ndarray, embeddings: np.ndarray) -> list[float | None]:
    """MS of every latent by a loop over pairs of rows."""
    z = np.asarray(codes, np.float32).astype(np.float64)
    unit = [
        [float(v) / math.sqrt(math.fsum(float(w) ** 2 for w in row)) for v in row]
        for row in np.asarray(embeddings, np.float64)
    ]
    result: list[float | None] = []
    for column in z.T.tolist():
        low, high = min(column), max(column)
        if low == high:
            result.append(None)
            continue
        a = [(v - low) / (high - low) for v in column]
        above, below = [], []
        for i in range(len(a)):
            for j in range(i + 1, len(a)):
                cosine = math.fsum(v * w for v, w in zip(unit[i], unit[j], strict=True))
                above.append(a[i] * a[j] * cosine)
                below.append(a[i] * a[j])
        total = math.fsum(below)
        result.append(math.fsum(above) / total if total > 0 else None)
    return result


@dataclass
class Leaf:
    """A node of a tree: its answer, and where its rows part."""

    answer: bool
    latent: int = -1
    limit: float = 0.0
    below: Leaf | None = None
    above: Leaf | None = None


class Undecided(Exception):
    """Two different splits are equally good, so that an implementation may take either."""


def grow(rows: list[list[float]], has: list[bool], depth: int, banned: int | None = None) -> Leaf:
    """Greedy binary tree by Gini impurity, exact; ``Undecided`` on a tie."""
    share = Fraction(sum(has), len(has))
    leaf = Leaf(answer=share > Fraction(1, 2))
    if depth == 0 or share in (0, 1):
        return leaf
    splits: list[tuple[Fraction, int, float]] = []
    for latent in range(len(rows[0])):
        if latent == banned:
            continue
        levels = sorted({row[latent] for row in rows})
        for low, high in pairwise(levels):
            limit = low / 2 + high / 2
            sides = [
                [y for row, y in zip(rows, has, strict=True) if (row[latent] <= limit) == side]
                for side in (True, False)
            ]
            pure = sum(Fraction(sum(s) ** 2, len(s)) for s in sides)
            splits.append((pure, latent, limit))
    if not splits:
        return leaf
    best = max(splits)
    if sum(pure == best[0] for pure, _, _ in splits) > 1:
        raise Undecided
    leaf.latent, leaf.limit = best[1], best[2]
    parts = [
        [(row, y) for row, y in zip(rows, has, strict=True) if (row[best[1]] <= best[2]) == side]
        for side in (True, False)
    ]
    leaf.below, leaf.above = (
        grow([row for row, _ in part], [y for _, y in part], depth - 1, banned) for part in parts
    )
    return leaf


def accuracy(tree: Leaf, rows: list[list[float]], has: list[bool]) -> Fraction:
    right = 0
    for row, y in zip(rows, has, strict=True):
        node = tree
        while node.below is not None and node.above is not None:
            node = node.below if row[node.latent] <= node.limit else node.above
        right += node.answer == y
    return Fraction(right, len(rows))


def fms(codes: np.ndarray, has: Sequence[bool], fit: Sequence[int], held: Sequence[int]) -> float:
    """FMS of one concept, one tree a depth, each grown anew."""
    z = np.asarray(codes, np.float32).astype(np.float64).tolist()
    rows, target = [z[i] for i in fit], [bool(has[i]) for i in fit]
    others, truth = [z[i] for i in held], [bool(has[i]) for i in held]
    trees = {m: grow(rows, target, m) for m in range(1, 6)}
    acc = {m: accuracy(tree, others, truth) for m, tree in trees.items()}
    root = trees[1].latent
    without = acc[3]
    if root >= 0:
        without = accuracy(grow(rows, target, 3, banned=root), others, truth)
    local = min(max(2 * (acc[3] - without), Fraction(0)), Fraction(1))
    gain = sum((acc[m] - acc[1] for m in range(2, 6)), Fraction(0)) / 4
    total = min(max(1 - gain, Fraction(0)), Fraction(1))
    return float(acc[1] * (local + total) / 2)


def kernel(rows: np.ndarray) -> list[list[float]]:
    wide = np.asarray(rows, np.float64).tolist()
    return [[math.fsum(v * w for v, w in zip(a, b, strict=True)) for b in wide] for a in wide]


def neighbours(values: list[list[float]], k: int) -> list[set[int]]:
    """Rows at least as near as the k-th nearest, the row itself left out."""
    result = []
    for i, row in enumerate(values):
        others = sorted((v for j, v in enumerate(row) if j != i), reverse=True)
        result.append({j for j, v in enumerate(row) if j != i and v >= others[k - 1]})
    return result


def hsic(first: list[list[float]], second: list[list[float]], near: list[set[int]]) -> float:
    """Unbiased HSIC of two kernels of which only the entries in ``near`` are kept."""
    m = len(first)
    k = [[first[i][j] if j in near[i] else 0.0 for j in range(m)] for i in range(m)]
    s = [[second[i][j] if j in near[i] else 0.0 for j in range(m)] for i in range(m)]
    traced = math.fsum(k[i][j] * s[j][i] for i in range(m) for j in range(m))
    whole = math.fsum(map(math.fsum, k)) * math.fsum(map(math.fsum, s))

    def product(a: list[list[float]], b: list[list[float]]) -> float:
        return math.fsum(
            a[i][j] * b[j][n] for i in range(m) for j in range(m) if a[i][j] for n in range(m)
        )

    both = product(k, s) + product(s, k)
    return (traced + whole / ((m - 1) * (m - 2)) - both / (m - 2)) / (m * (m - 3))


def cknna(codes: np.ndarray, embeddings: np.ndarray, k: int) -> float | None:
    """CKNNA; None where a kernel's own HSIC is not positive beyond rounding."""
    if len(codes) < max(k + 1, 4):
        return None
    one = kernel(np.asarray(embeddings, np.float64))
    two = kernel(np.asarray(codes, np.float32).astype(np.float64))
    near = neighbours(one, k), neighbours(two, k)
    selves = hsic(one, one, near[0]), hsic(two, two, near[1])
    sizes = [math.fsum(v * v for row in values for v in row) for values in (one, two)]
    if any(own <= 1e-9 * size for own, size in zip(selves, sizes, strict=True)):
        return None
    both = hsic(one, two, [a & b for a, b in zip(*near, strict=True)])
    return both / math.sqrt(selves[0] * selves[1])
