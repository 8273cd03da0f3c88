"""MATCHScore: how well coalitions of latents predict the concepts, §1.2."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    annotations,
    codes_float32,
    whole_number,
)
from benchmark.metrics.matching import Coalition, Matching, joint_f1, union_activity
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights

NO_CONCEPTS = "no concepts are annotated"
"""Why a dataset of activations alone has no MATCHScore."""


@dataclass(frozen=True)
class MatchScore(Score):
    """MATCHScore with the F_1 of every concept, float64 (A,), NaN where not applicable."""

    f1: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)


def match_score(
    latents: Codes,
    concepts: BoolArray,
    coalitions: "Matching | Sequence[Coalition]",
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MatchScore:
    """Mean joint F_1 of given coalitions on these rows.

    Held-out (the headline): coalitions from the ``match`` split, rows of the ``score`` split.
    In-sample: both from the ``score`` split.

    Args:
        latents: codes (N, d), dense or sparse.
        concepts: presence (N, A), booleans or 0/1.
        coalitions: a ``Matching``, or A coalitions; None is not applicable, () scores 0.
        resamples, seed: bootstrap over rows; a concept without positives in a resample is left
            out of that resample.

    Returns:
        Score in [0, 1] over the applicable concepts, with ``.f1`` per concept.

    Raises:
        InputError: shapes that disagree, values outside their range, a latent out of range.

    Source: "Evaluating the Interpretability of Sparse Autoencoders with Concept Annotations".
    """
    predicted, present, keep, reasons = judged(latents, concepts, coalitions)
    return mean_f1(predicted, present, keep, reasons, resamples, seed)


def judged(
    latents: Codes, concepts: BoolArray, coalitions: "Matching | Sequence[Coalition]"
) -> tuple[BoolArray, BoolArray, BoolArray, dict[str, int]]:
    """What coalitions predict beside what is there, and which concepts that judges.

    Returns:
        predicted and present, bool (N, A); applicable concepts, bool (A,); why others are not.
    """
    values = codes_float32(latents)
    present = annotations(concepts, values.shape[0])
    members = check_coalitions(
        coalitions.coalitions if isinstance(coalitions, Matching) else coalitions,
        n_concepts=present.shape[1],
        n_latents=values.shape[1],
    )
    if isinstance(coalitions, Matching):
        predicted = coalitions.predict(values)
    else:
        predicted = union_activity(values, members)
    matched = np.array([coalition is not None for coalition in members], bool)
    found = present.any(axis=0)
    keep = matched & found
    reasons = {
        "no positives in the matching split": int((~matched).sum()),
        "no positives in the scored split": int((matched & ~found).sum()),
        NO_CONCEPTS: int(found.size == 0),
    }
    return predicted, present, keep, reasons


def mean_f1(
    predicted: BoolArray,
    present: BoolArray,
    keep: BoolArray,
    reasons: Mapping[str, int],
    resamples: int,
    seed: int,
) -> MatchScore:
    """Mean F_1 of predictions (N, A) over the concepts kept, with its interval over rows.

    Args:
        predicted, present: bool (N, A).
        keep: bool (A,), concepts with positives that are scored.
        reasons: why the others are not.
        resamples, seed: as ``match_score``.
    """
    f1 = np.where(keep, joint_f1(predicted, present), np.nan)
    score = make_score(None, 0, None, reasons)
    if keep.any():
        samples = _resampled_means(predicted[:, keep], present[:, keep], resamples, seed)
        score = make_score(float(np.mean(f1[keep])), int(keep.sum()), samples, reasons)
    return MatchScore(score.value, score.ci95, score.n, score.not_applicable, score.samples, f1=f1)


def _resampled_means(
    predicted: BoolArray, present: BoolArray, resamples: int, seed: int
) -> FloatArray:
    means = replicates(resamples)
    for rows, f1, there in resampled_f1(predicted, present, resamples, seed):
        total = there.sum(axis=1)
        summed = (f1 * there).sum(axis=1)
        means[rows] = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
    return means


def resampled_f1(
    predicted: BoolArray, present: BoolArray, resamples: int, seed: int
) -> Iterator[tuple[slice, FloatArray, BoolArray]]:
    """F_1 of every concept in resamples of the rows, block by block.

    Yields:
        (which resamples, float64 F_1 (block, A), bool (block, A): the concept has positives there).
    """
    n, n_concepts = present.shape
    columns = np.concatenate([predicted & present, predicted, present], axis=1).astype(np.float32)
    for rows, weights in resample_weights(n, resamples, seed):
        # float32 sums of 0/1 are exact up to 2^24 rows
        counts = (weights @ columns).astype(np.float64).reshape(-1, 3, n_concepts)
        hits, guessed, positives = counts[:, 0], counts[:, 1], counts[:, 2]
        size = guessed + positives
        f1 = np.divide(2 * hits, size, out=np.zeros_like(size), where=size > 0)
        yield rows, f1, positives > 0


def f1_by_size(latents: Codes, concepts: BoolArray, matching: Matching) -> FloatArray:
    """Joint F_1 with the first 1, 2, … latents of each coalition.

    Args:
        latents: codes (N, d).
        concepts: presence (N, A).
        matching: a matching whose prediction is the union of a coalition (all but ``nn_omp``).

    Returns:
        float64 (A, max_latents) in [0, 1]; a coalition smaller than the column keeps its last
        value; NaN where the concept is not applicable.
    """
    if matching.matcher == "nn_omp":
        raise InputError("f1_by_size: nn_omp refits its weights at every size; use another matcher")
    values = codes_float32(latents)
    present = annotations(concepts, values.shape[0])
    keep = np.array([c is not None for c in matching.coalitions], bool) & present.any(axis=0)
    result = np.empty((len(matching.coalitions), matching.max_latents))
    for size in range(1, matching.max_latents + 1):
        first = tuple(None if c is None else c[:size] for c in matching.coalitions)
        predicted = replace(matching, coalitions=first).predict(values)
        result[:, size - 1] = np.where(keep, joint_f1(predicted, present), np.nan)
    return result


def check_coalitions(
    coalitions: Sequence[Any], *, n_concepts: int, n_latents: int
) -> tuple[Coalition, ...]:
    """Coalitions as tuples of int, or one ``InputError`` that names the concept at fault."""
    if not isinstance(coalitions, Sequence):
        raise InputError(f"coalitions: found {type(coalitions).__name__}; expected one a concept")
    if len(coalitions) != n_concepts:
        raise InputError(
            f"coalitions: {len(coalitions)} given for {n_concepts} concepts; expected one each"
        )
    checked: list[Coalition] = []
    for concept, coalition in enumerate(coalitions):
        if coalition is None:
            checked.append(None)
            continue
        checked.append(_check_coalition(coalition, concept, n_latents))
    return tuple(checked)


def _check_coalition(coalition: Any, concept: int, n_latents: int) -> tuple[int, ...]:
    if isinstance(coalition, str) or not isinstance(coalition, Iterable):
        raise InputError(
            f"coalitions: concept {concept} has {coalition!r}; expected latent indices or None"
        )
    members = []
    for given in coalition:
        latent = whole_number(given)
        if latent is None or not 0 <= latent < n_latents:
            raise InputError(
                f"coalitions: concept {concept} names latent {given!r}; "
                f"expected a whole number from 0 to {n_latents - 1}"
            )
        members.append(latent)
    if len(set(members)) != len(members):
        raise InputError(f"coalitions: concept {concept} names a latent twice: {members}")
    return tuple(members)
