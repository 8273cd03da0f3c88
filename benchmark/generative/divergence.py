"""SaD and PaD with their intervals, floors and permutation nulls, §5.2.

Source: "RA-CLIPScore: Making Generative Model Evaluation More Interpretable"; the closed forms,
the null and the interval are this suite's choices.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.generative.gaussians import (
    SINGULAR,
    Moments,
    both_checked,
    gaussian_floor,
    moments,
    moments_of_sums,
    pair_kl,
    single_kl,
    weighted_moments,
    weighted_sums,
)
from benchmark.metrics.arrays import FloatArray, InputError
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights

PERMUTATIONS = 1000
"""Relabellings behind every null, unless the caller asks otherwise."""

_BLOCK_ELEMENTS = 1 << 23


@dataclass(frozen=True)
class Null:
    """What a value would be if real and generated images came from one distribution.

    Attributes:
        mean: over relabellings.
        q95: 95th percentile over relabellings.
        samples: one value a relabelling, float64; NaN where it has none.
    """

    mean: float
    q95: float
    samples: FloatArray = field(repr=False, compare=False)


@dataclass(frozen=True)
class Divergence:
    """How far apart the two sets are in one attribute (SaD, R-SaD) or pair of attributes (PaD).

    Attributes:
        attributes: one name or two.
        score: the divergence with its bootstrap interval over images; ``n`` is the number of
            images of both sets. Not applicable values name the set and the attribute.
        floor: ``gaussian_floor`` at these sizes; None where no Gaussian is fitted (R-SaD).
        null: permutation null, or None where the value is not applicable.
    """

    attributes: tuple[str, ...]
    score: Score
    floor: float | None
    null: Null | None

    @property
    def inside_null(self) -> bool | None:
        """Whether the value is no larger than the null's 95 % point; None without either."""
        if self.score.value is None or self.null is None:
            return None
        return self.score.value <= self.null.q95


@dataclass(frozen=True)
class AttributeDivergences:
    """Every SaD and PaD of two sets.

    Attributes:
        sad: one entry an attribute, in the order given.
        pad: one entry a pair of attributes (i, j), i < j.
        sad_mean, pad_mean: mean over the applicable entries, with interval.
        n_real, n_generated: images.
    """

    sad: tuple[Divergence, ...]
    pad: tuple[Divergence, ...]
    sad_mean: Score
    pad_mean: Score
    n_real: int
    n_generated: int


def single_attribute_divergence(real: Any, generated: Any) -> FloatArray:
    """SaD: ``KL(generated ‖ real)`` of the Gaussians fitted to each attribute's scores.

    Args:
        real, generated: RA-CLIPScores (N, A) and (M, A), or any other score; finite.

    Returns:
        float64 (A,) ≥ 0, in nats; lower is better. NaN where it is not applicable: an attribute
        without variance in either set, or a set of one image. ``compare_attributes`` says why.

    Raises:
        InputError: shapes that disagree, values that are not finite.

    >>> import numpy as np
    >>> real = np.array([[-1.0], [1.0]])
    >>> float(single_attribute_divergence(real, real + 2**0.5)[0].round(6))
    0.5
    """
    first, second = both_checked(real, generated)
    return single_kl(moments(first), moments(second))


def pair_attribute_divergence(real: Any, generated: Any) -> FloatArray:
    """PaD: ``KL(generated ‖ real)`` of the 2-D Gaussians fitted to each pair of attributes.

    Args:
        real, generated: as ``single_attribute_divergence``.

    Returns:
        float64 (A, A) ≥ 0, in nats, symmetric in place; lower is better. NaN on the diagonal and
        where it is not applicable: a singular covariance (no variance, or 1 − ρ² ≤ ``SINGULAR``)
        in either set, or a set of fewer than three images.

    Raises:
        InputError: shapes that disagree, values that are not finite.
    """
    first, second = both_checked(real, generated)
    return pair_kl(moments(first), moments(second))


def compare_attributes(
    real: Any,
    generated: Any,
    attributes: Sequence[str] | None = None,
    *,
    pairs: bool = True,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> AttributeDivergences:
    """SaD and PaD of two sets with intervals, floors and permutation nulls.

    The interval shows resampling spread; since a divergence estimated on samples is never 0, only
    the null tells whether the two sets differ.

    Args:
        real, generated: scores (N, A) and (M, A).
        attributes: A names; by default ``attribute 0`` and so on.
        pairs: False leaves PaD out.
        resamples: bootstrap resamples, drawn within each set.
        permutations: relabellings of the pooled images into sets of N and M.
        seed: same input and seed give the same intervals and nulls.

    Raises:
        InputError: as ``single_attribute_divergence``; a number of names other than A.
    """
    first, second = both_checked(real, generated)
    names = _names(attributes, first.shape[1])
    sides = moments(first), moments(second)
    enough = min(len(first), len(second)) >= 2
    kinds = [True, False] if pairs else [False]
    spread = _all(_bootstrap(first, second, resamples, seed), kinds) if enough else {}
    shuffled = _all(_relabelled(first, second, permutations, seed), kinds) if enough else {}
    size = len(first) + len(second)

    def entries(pair: bool) -> tuple[tuple[Divergence, ...], Score]:
        chosen = _places(len(names), pair)
        value = _values(sides, pair)
        samples, null = spread.get(pair), shuffled.get(pair)
        floor = gaussian_floor(len(first), len(second), pair=pair)
        made = []
        for k, where in enumerate(zip(*chosen, strict=True)):
            score = make_score(
                value[k],
                size,
                None if samples is None else samples[:, k],
                {} if np.isfinite(value[k]) else {_reason(sides, names, where): 1},
            )
            found = None if null is None or score.value is None else _null(null[:, k])
            made.append(Divergence(tuple(names[i] for i in where), score, floor, found))
        return tuple(made), _mean(made)

    sad, sad_mean = entries(False)
    pad, pad_mean = entries(True) if pairs else ((), make_score(None, 0))
    if not pad:
        reason = "one attribute makes no pair" if pairs else "pairs were not asked for"
        pad_mean = make_score(None, 0, None, {reason: 1})
    return AttributeDivergences(sad, pad, sad_mean, pad_mean, len(first), len(second))


def _names(attributes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if attributes is None:
        return tuple(f"attribute {k}" for k in range(count))
    if len(attributes) != count:
        raise InputError(f"{len(attributes)} attribute names for scores of {count} attributes")
    return tuple(attributes)


def _bootstrap(
    real: FloatArray, generated: FloatArray, resamples: int, seed: int
) -> Iterator[tuple[Moments, Moments]]:
    """Moments of both sets, each redrawn with replacement, in blocks of resamples."""
    replicates(resamples)
    sides = (real, generated)
    centres = [side.mean(axis=0) for side in sides]
    strata = np.repeat([0, 1], [len(real), len(generated)])
    for _, weights in resample_weights(len(strata), resamples, seed, strata):
        drawn = []
        for label, (side, centre) in enumerate(zip(sides, centres, strict=True)):
            found = weighted_moments(weights[:, strata == label], side - centre, len(side))
            drawn.append(Moments(found.n, found.mean + centre, found.covariance))
        yield drawn[0], drawn[1]


def _relabelled(
    real: FloatArray, generated: FloatArray, permutations: int, seed: int
) -> Iterator[tuple[Moments, Moments]]:
    """Moments of both sets after the pooled images were dealt again, in blocks of dealings."""
    replicates(permutations)
    pooled = np.concatenate([real, generated])
    pooled = pooled - pooled.mean(axis=0)
    total = weighted_sums(np.ones((1, len(pooled)), np.int8), pooled)
    sizes = len(real), len(generated)
    small = int(sizes[1] < sizes[0])
    generator = np.random.default_rng([seed, 2])
    block = max(1, _BLOCK_ELEMENTS // len(pooled))
    for start in range(0, permutations, block):
        member = np.zeros((min(block, permutations - start), len(pooled)), np.int8)
        for row in member:
            row[generator.choice(len(pooled), sizes[small], replace=False, shuffle=False)] = 1
        drawn = weighted_sums(member, pooled)
        smaller = moments_of_sums(drawn[0], drawn[1], sizes[small])
        larger = moments_of_sums(total[0] - drawn[0], total[1] - drawn[1], sizes[1 - small])
        yield (larger, smaller) if small else (smaller, larger)


def _places(count: int, pair: bool) -> tuple[np.ndarray, ...]:
    """Where the entries stand: of attributes, or of pairs i < j."""
    return np.triu_indices(count, 1) if pair else (np.arange(count),)


def _values(sides: tuple[Moments, Moments], pair: bool) -> FloatArray:
    """Divergences of all entries, (..., entries)."""
    found = (pair_kl if pair else single_kl)(*sides)
    places: tuple[Any, ...] = (..., *_places(found.shape[-1], pair))
    return np.asarray(found[places])


def _all(drawn: Iterator[tuple[Moments, Moments]], kinds: Sequence[bool]) -> dict[bool, FloatArray]:
    """Divergences of every resample, for pairs (True) and attributes; one block's moments kept."""
    parts: dict[bool, list[FloatArray]] = {pair: [] for pair in kinds}
    for sides in drawn:
        for pair in kinds:
            parts[pair].append(_values(sides, pair))
    return {pair: np.concatenate(found) for pair, found in parts.items()}


def _null(samples: FloatArray) -> Null | None:
    finite = samples[np.isfinite(samples)]
    if not finite.size:
        return None
    return Null(float(finite.mean()), float(np.percentile(finite, 95)), samples)


def _reason(sides: tuple[Moments, Moments], names: tuple[str, ...], where: Any) -> str:
    """Why there is no value for the attribute or pair of attributes at ``where``."""
    pair = len(where) == 2
    for side, label in zip(sides, ("real", "generated"), strict=True):
        if side.n < (3 if pair else 2):
            return f"{label} set has {side.n} images; expected at least {3 if pair else 2}"
        for index in where:
            if side.variance[index] <= 0:
                return f"{names[index]!r} has no variance in the {label} set"
        if pair:
            i, j = where
            rho = side.covariance[i, j] / np.sqrt(side.variance[i] * side.variance[j])
            if 1 - rho * rho <= SINGULAR:
                return (
                    f"{names[i]!r} and {names[j]!r} have a singular covariance in the {label} set"
                )
    return f"{' and '.join(repr(names[k]) for k in where)} differ beyond the range of numbers"


def _mean(entries: Sequence[Divergence]) -> Score:
    """Mean over applicable entries, averaged inside each resample; the rest is counted."""
    missing = Counter[str]()
    for entry in entries:
        missing.update(entry.score.not_applicable)
    good = [entry.score for entry in entries if entry.score.value is not None]
    if not good:
        return make_score(None, 0, None, missing)
    columns = [score.samples for score in good if score.samples is not None]
    samples = _mean_of_finite(np.stack(columns)) if len(columns) == len(good) else None
    value = float(np.mean([score.value for score in good if score.value is not None]))
    return make_score(value, len(good), samples, missing)


def _mean_of_finite(columns: FloatArray) -> FloatArray:
    """Mean of (entries, resamples) over the entries that a resample has; NaN where it has none."""
    finite = np.isfinite(columns)
    count = finite.sum(axis=0)
    total = np.where(finite, columns, 0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
