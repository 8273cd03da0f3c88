"""TAPAScore: do a concept's latents follow when the concept is edited in or out, §2."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    annotations,
    codes_float32,
)
from benchmark.metrics.match_score import check_coalitions
from benchmark.metrics.matching import Coalition, Matching
from benchmark.metrics.pair_states import Pairs, PairStates, check_pairs
from benchmark.metrics.score import (
    RESAMPLES,
    Score,
    bootstrap_ratio,
    make_score,
    replicates,
    resample_weights,
)


@dataclass(frozen=True)
class ConceptTapa:
    """One concept's share of TAPAScore; a mean over no pairs is None.

    Attributes:
        delta_add: mean δ_add over the ``n_add`` pairs that add the concept, in [−1, 1].
        delta_rem: mean δ_rem over the ``n_rem`` pairs that remove it, in [−1, 1].
        tapa: ``delta_add − delta_rem``, over the sides there are.
    """

    delta_add: float | None
    n_add: int
    delta_rem: float | None
    n_rem: int
    tapa: float | None


@dataclass(frozen=True)
class TapaScore(Score):
    """TAPAScore and its parts.

    Attributes:
        delta_add, delta_rem: mean δ over pairs that add, over pairs that remove; None without any.
        delta_stay: mean change of concepts that stay, in [0, 1], low is good; None where
            ``present`` was not given or nothing stays.
        stay: ``delta_stay`` as a score; n counts (pair, concept) entries.
        empty_add, empty_removed: pairs whose added, removed concept has no latents of its own.
        per_concept: A entries.
        range: the lowest and highest value these pairs allow.
        pair_add, pair_rem: δ of every pair, float64 (P,), NaN where the pair has no such side.
    """

    delta_add: float | None = None
    delta_rem: float | None = None
    delta_stay: float | None = None
    stay: Score = field(default_factory=lambda: Score(None, None, 0))
    empty_add: int = 0
    empty_removed: int = 0
    per_concept: tuple[ConceptTapa, ...] = ()
    range: tuple[int, int] = (0, 0)
    pair_add: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    pair_rem: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)


def tapa_score(
    base: Codes,
    edited: Codes,
    coalitions: "Matching | Sequence[Coalition]",
    *,
    added: Sequence[int | None],
    removed: Sequence[int | None],
    present: BoolArray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TapaScore:
    """Mean change of the added concept's latents minus that of the removed concept's.

    Args:
        base, edited: codes (P, d) of the two images of each pair.
        coalitions: a ``Matching`` or A coalitions, found on the ``match`` split; () and None earn
            nothing and their pairs stay in the mean.
        added, removed: concept index or None, one a pair. Latents in both coalitions of a pair
            are taken out of both.
        present: presence in the base images (P, A), needed for ``delta_stay``.
        resamples, seed: bootstrap over pairs, separately for each kind of pair.

    Returns:
        Score in [−2, 2] where pairs add and remove, in [−1, 1] where all do only one.

    Raises:
        InputError: shapes that disagree, an index out of range, ``added`` equal to ``removed``.

    Source: "Evaluating the Interpretability of Sparse Autoencoders with Concept Annotations".

    >>> import numpy as np
    >>> score = tapa_score(np.array([[1, 0, 0]]), np.array([[0, 0, 1]]), [(0,), (1, 2)],
    ...                    added=[1], removed=[0])
    >>> score.value
    2.0
    """
    return _score(base, edited, coalitions, added, removed, present, None, resamples, seed)


def magnitude_tapa_score(
    base: Codes,
    edited: Codes,
    coalitions: "Matching | Sequence[Coalition]",
    *,
    added: Sequence[int | None],
    removed: Sequence[int | None],
    scale: FloatArray,
    present: BoolArray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TapaScore:
    """TAPAScore on magnitudes: codes divided by ``scale`` and clipped to [0, 1] (beyond the paper).

    Args:
        scale: float (d,), ``activation_scale`` of the ``match`` split; NaN counts as never active.

    Other arguments, ranges and errors are those of ``tapa_score``.
    """
    return _score(base, edited, coalitions, added, removed, present, scale, resamples, seed)


def activation_scale(codes: Codes, quantile: float = 0.99) -> FloatArray:
    """Quantile of each latent's positive codes, float64 (d,); NaN for a latent never active."""
    values = codes_float32(codes)
    columns = sp.csc_array(values)
    scale = np.full(values.shape[1], np.nan)
    for latent in range(values.shape[1]):
        own = columns.data[columns.indptr[latent] : columns.indptr[latent + 1]]
        own = own[own > 0]
        if own.size:
            scale[latent] = np.quantile(own.astype(np.float64), quantile)
    return scale


def _score(
    base: Codes,
    edited: Codes,
    coalitions: "Matching | Sequence[Coalition]",
    added: Sequence[int | None],
    removed: Sequence[int | None],
    present: BoolArray | None,
    scale: FloatArray | None,
    resamples: int,
    seed: int,
) -> TapaScore:
    before, after = codes_float32(base, "base"), codes_float32(edited, "edited")
    if before.shape != after.shape:
        raise InputError(f"base has shape {before.shape} but edited has {after.shape}")
    given = coalitions.coalitions if isinstance(coalitions, Matching) else coalitions
    members = check_coalitions(given, n_concepts=len(given), n_latents=before.shape[1])
    pairs = check_pairs(added, removed, before.shape[0], len(members))
    states = PairStates(before, after, members, scale)
    delta_add, delta_rem, empty_add, empty_rem = states.deltas(pairs)
    stay = Score(None, None, 0)
    if present is not None:
        there = annotations(present, before.shape[0], "present")
        if there.shape[1] != len(members):
            raise InputError(
                f"present: {there.shape[1]} concepts, but there are {len(members)} coalitions"
            )
        stay = _stay(states, pairs, there, resamples, seed)
    return _assemble(pairs, delta_add, delta_rem, empty_add, empty_rem, stay, len(members),
                     resamples, seed)  # fmt: skip


def _stay(states: PairStates, pairs: Pairs, present: BoolArray, resamples: int, seed: int) -> Score:
    rows = np.arange(len(pairs.added))
    counted = present & (states.sizes > 0)
    for column in (pairs.added, pairs.removed):
        changes = column >= 0
        counted[rows[changes], column[changes]] = False
    total = (np.abs(states.change) * counted).sum(axis=1)
    entries = counted.sum(axis=1)
    n = int(entries.sum())
    if n == 0:
        return Score(None, None, 0, {"no matched concept stays": len(rows)})
    samples = bootstrap_ratio(total, entries, resamples=resamples, seed=seed, strata=pairs.kind)
    return make_score(float(total.sum() / n), n, samples)


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if values.size else None


def _signed(add: float | None, rem: float | None) -> float | None:
    if add is None and rem is None:
        return None
    return (add or 0.0) - (rem or 0.0)


def _assemble(
    pairs: Pairs,
    delta_add: FloatArray,
    delta_rem: FloatArray,
    empty_add: BoolArray,
    empty_rem: BoolArray,
    stay: Score,
    n_concepts: int,
    resamples: int,
    seed: int,
) -> TapaScore:
    adds, removes = pairs.added >= 0, pairs.removed >= 0
    add, rem = _mean(delta_add[adds]), _mean(delta_rem[removes])
    used = int((adds | removes).sum())
    samples = None
    if used:
        sides = np.stack(
            [np.where(adds, delta_add, 0.0), np.where(removes, delta_rem, 0.0)], axis=1
        )
        # kinds keep their sizes in a resample, so both means keep their denominators
        sizes = np.maximum([adds.sum(), removes.sum()], 1)
        samples = replicates(resamples)
        for rows, weights in resample_weights(len(sides), resamples, seed, pairs.kind):
            means = weights.astype(np.float64) @ sides / sizes
            samples[rows] = means[:, 0] - means[:, 1]
    score = make_score(
        _signed(add, rem), used, samples, {"pair changes no concept": len(adds) - used}
    )
    side = int(bool(adds.any())) + int(bool(removes.any()))
    return TapaScore(
        score.value, score.ci95, score.n, score.not_applicable, score.samples,
        delta_add=add, delta_rem=rem, delta_stay=stay.value, stay=stay,
        empty_add=int(empty_add.sum()), empty_removed=int(empty_rem.sum()),
        per_concept=_per_concept(pairs, delta_add, delta_rem, n_concepts),
        range=(-side, side), pair_add=delta_add, pair_rem=delta_rem,
    )  # fmt: skip


def _per_concept(
    pairs: Pairs, delta_add: FloatArray, delta_rem: FloatArray, n_concepts: int
) -> tuple[ConceptTapa, ...]:
    result = []
    for concept in range(n_concepts):
        up, down = delta_add[pairs.added == concept], delta_rem[pairs.removed == concept]
        add, rem = _mean(up), _mean(down)
        result.append(ConceptTapa(add, len(up), rem, len(down), _signed(add, rem)))
    return tuple(result)
