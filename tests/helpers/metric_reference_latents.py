"""Slow, obvious restatements of the numbers about latents: dominance, redundancy, variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from metric_reference import binary, column


def dominance(codes: np.ndarray) -> list[float]:
    """Mean share of each latent in its row's activity, idle rows counting as 0."""
    z = np.asarray(codes, dtype=np.float32).astype(np.float64).tolist()
    shares = []
    for row in z:
        total = math.fsum(abs(v) for v in row)
        shares.append([abs(v) / total if total > 0 else 0.0 for v in row])
    return [math.fsum(share[j] for share in shares) / len(z) for j in range(len(z[0]))]


def alive(codes: np.ndarray) -> list[bool]:
    z = binary(codes)
    return [any(column(z, j)) for j in range(len(z[0]))]


def quartiles(rho: Sequence[float], living: Sequence[bool]) -> list[int]:
    """0 for the dead; else 1..4, four near-equal groups, larger groups first."""
    order = sorted((j for j in range(len(rho)) if living[j]), key=lambda j: (-rho[j], j))
    sizes = [len(order) // 4 + (1 if g < len(order) % 4 else 0) for g in range(4)]
    labels = [0] * len(rho)
    position = 0
    for g, size in enumerate(sizes):
        for j in order[position : position + size]:
            labels[j] = g + 1
        position += size
    return labels


def cosine(a: Sequence[float], b: Sequence[float]) -> float | None:
    na = math.sqrt(math.fsum(v * v for v in a))
    nb = math.sqrt(math.fsum(v * v for v in b))
    if na == 0 or nb == 0:
        return None
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / (na * nb)


def jaccard(a: Sequence[bool], b: Sequence[bool]) -> float | None:
    both = sum(1 for x, y in zip(a, b, strict=True) if x and y)
    either = sum(1 for x, y in zip(a, b, strict=True) if x or y)
    return both / either if either else None


@dataclass
class Redundant:
    pairs: list[tuple[int, int, float]]
    within_quartile: list[int]
    enrichment_q1: float | None
    redundant_fraction: float | None
    zero_rows: int
    nearest: float  # distance from the threshold of the cosine closest to it


def redundancy(
    decoder: np.ndarray, rho: Sequence[float], living: Sequence[bool], threshold: float
) -> Redundant:
    """Pairs of living latents whose decoder cosine reaches the threshold, strongest first."""
    labels = quartiles(rho, living)
    ids = [j for j in range(len(living)) if living[j]]
    rows = np.asarray(decoder, dtype=np.float64).tolist()
    zero_rows = sum(1 for j in ids if not any(rows[j]))
    pairs: list[tuple[int, int, float]] = []
    nearest = math.inf
    for i in ids:
        for j in ids:
            if i >= j:
                continue
            value = cosine(rows[i], rows[j])
            if value is None:
                continue
            nearest = min(nearest, abs(value - threshold))
            if value >= threshold:
                pairs.append((i, j, value))
    pairs.sort(key=lambda pair: (-pair[2], pair[0], pair[1]))
    within = [
        sum(1 for i, j, _ in pairs if labels[i] == q and labels[j] == q) for q in (1, 2, 3, 4)
    ]
    ends = [i for pair in pairs for i in pair[:2]]
    enrichment = None
    if ends:
        share_ends = sum(1 for i in ends if labels[i] == 1) / len(ends)
        enrichment = share_ends / (sum(1 for i in ids if labels[i] == 1) / len(ids))
    applicable = len(ids) - zero_rows
    fraction = len(set(ends)) / applicable if applicable else None
    return Redundant(pairs, within, enrichment, fraction, zero_rows, nearest)


def explained_variance(x: np.ndarray, reconstruction: np.ndarray) -> float | None:
    rows = np.asarray(x, dtype=np.float64).tolist()
    guess = np.asarray(reconstruction, dtype=np.float64).tolist()
    centre = [math.fsum(row[j] for row in rows) / len(rows) for j in range(len(rows[0]))]
    total = math.fsum((v - c) ** 2 for row in rows for v, c in zip(row, centre, strict=True))
    error = math.fsum(
        (v - w) ** 2
        for row, other in zip(rows, guess, strict=True)
        for v, w in zip(row, other, strict=True)
    )
    return 1 - error / total if total > 0 else None


def frequent(codes: np.ndarray, top: int) -> list[int]:
    """The latents that fire most often, ties to the lower index."""
    z = binary(codes)
    rates = [sum(column(z, j)) for j in range(len(z[0]))]
    return sorted(range(len(rates)), key=lambda j: (-rates[j], j))[:top]


def held_shares(codes: np.ndarray, top: int) -> list[float]:
    """Share of a row's activity in those latents, for every row that has activity."""
    chosen = frequent(codes, top)
    z = np.asarray(codes, dtype=np.float32).astype(np.float64).tolist()
    shares = []
    for row in z:
        total = math.fsum(row)
        if total > 0:
            shares.append(math.fsum(row[j] for j in chosen) / total)
    return shares


def gini(values: Sequence[float]) -> float:
    """Half the relative mean absolute difference."""
    n = len(values)
    spread = math.fsum(abs(a - b) for a in values for b in values)
    return spread / (2 * n * math.fsum(values))
