"""FMS: does one latent hold a concept, and does it hold it alone, §3."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    IntArray,
    annotations,
    codes_float32,
    whole_number,
)
from benchmark.metrics.score import Score, replicates
from benchmark.metrics.subsamples import (
    SUBSAMPLES,
    code_digests,
    half_samples,
    subsampled_score,
)

LEAST_PER_HALF = 5
MAX_ROWS = 2000
_DEPTH = 5


@dataclass(frozen=True)
class FmsScore(Score):
    """FMS with that of every concept, float64 (A,), NaN where not applicable."""

    per_concept: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)


def fms(
    codes: Codes,
    concepts: BoolArray,
    *,
    max_rows: int = MAX_ROWS,
    subsamples: int = SUBSAMPLES,
    seed: int = 0,
) -> FmsScore:
    """Feature monosemanticity score, mean over concepts.

    For each concept a balanced, seeded sample is halved; trees are fitted on one half and scored
    on the other. ``acc_m`` is the accuracy of a tree of depth m, ``acc_−`` that of a depth-3 tree
    grown after the root latent has been zeroed:

        local = clip(2·(acc_3 − acc_−)), global = clip(1 − mean_{m=2..5}(acc_m − acc_1)),
        FMS = acc_1·(local + global) / 2, both clips to [0, 1].

    Trees are scikit-learn's, on the codes as they are. Growing is greedy, so the tree of depth m
    is the first m levels of the one of depth 5; for two classes a regression tree makes the
    splits of a Gini classification tree, quicker. Even leaves answer no.

    Args:
        codes: (N, d), dense or sparse, not negative; sparse codes stay sparse.
        concepts: presence (N, A), booleans or 0/1.
        max_rows: largest balanced sample.
        subsamples, seed: of the choices, and of the interval's half-size subsamples over rows; a
            concept left with too few rows in a subsample is left out of it.

    Returns:
        Score in [0, 1] over the concepts with at least 5 images that have it and 5 that do not in
        each half, with ``.per_concept``.

    Raises:
        InputError: codes or annotations that cannot be read, shapes that disagree.

    Source: Härle et al., "Measuring and Guiding Monosemanticity".
    """
    values = codes_float32(codes)
    present = annotations(concepts, values.shape[0])
    rows = whole_number(max_rows)
    if rows is None or rows < 4 * LEAST_PER_HALF:
        raise InputError(
            f"max_rows is {max_rows}; expected a whole number of at least {4 * LEAST_PER_HALF}"
        )
    samples = replicates(subsamples)
    if sp.issparse(values):
        # scikit-learn reads sparse input with 32-bit indices only
        parts = (values.data, values.indices.astype(np.intc), values.indptr.astype(np.intc))
        values = sp.csr_array(parts, shape=values.shape)
    with _unchecked():
        each = _per_concept(values, present, np.argsort(code_digests(values)), rows, seed)
        for index, half in enumerate(half_samples(len(present), subsamples, seed)):
            found = _per_concept(values, present, half, rows // 2, seed)
            known = found[np.isfinite(found)]
            samples[index] = known.mean() if known.size else np.nan
    keep = np.isfinite(each)
    reasons = {"fewer than 10 images with it, or without it": int((~keep).sum())}
    value = float(each[keep].mean()) if keep.any() else None
    score = subsampled_score(value, samples, int(keep.sum()), reasons)
    return FmsScore(
        score.value, score.ci95, score.n, score.not_applicable, score.samples, per_concept=each
    )


def _unchecked() -> Any:
    import sklearn

    # thousands of small trees: checking the same settings again takes a quarter of their time
    return sklearn.config_context(skip_parameter_validation=True, assume_finite=True)


def _per_concept(
    values: Any, present: BoolArray, order: IntArray, max_rows: int, seed: int
) -> FloatArray:
    """FMS of every concept on the rows ``order``, drawn from in that order."""
    result = np.full(present.shape[1], np.nan)
    for concept in range(present.shape[1]):
        halves = _halves(present[order, concept], max_rows, seed)
        if halves is not None:
            fit, held = (order[half] for half in halves)
            result[concept] = concept_fms(values, present[:, concept], fit, held, seed)
    return result


def _halves(has: BoolArray, max_rows: int, seed: int) -> tuple[IntArray, IntArray] | None:
    """Two disjoint sets of places, each with as many that have the concept as that have not."""
    generator = np.random.default_rng(seed)
    kinds = [generator.permutation(np.flatnonzero(has == kind)) for kind in (True, False)]
    size = min(*(len(kind) for kind in kinds), max_rows // 2) // 2
    if size < LEAST_PER_HALF:
        return None
    first = np.concatenate([kind[:size] for kind in kinds])
    second = np.concatenate([kind[size : 2 * size] for kind in kinds])
    return first, second


def concept_fms(values: Any, has: BoolArray, fit: IntArray, held: IntArray, seed: int) -> float:
    """FMS of one concept, in [0, 1], from the rows to fit trees on and the rows to score them on.

    Args:
        values: codes (N, d) as ``codes_float32`` gives them, sparse ones with 32-bit indices.
        has: whether each row has the concept, bool (N,).
        fit, held: row indices.
        seed: of the trees, which breaks ties between splits.
    """
    rows = values[fit].tocsc() if sp.issparse(values) else values[fit]
    target, truth, others = has[fit].astype(np.float64)[:, None], has[held], values[held]
    tree = _grow(rows, target, _DEPTH, seed)
    accuracy = (_answers(tree, others) == truth).mean(axis=1)
    root = tree.tree_.feature[0]
    without = accuracy[3]
    if root >= 0:
        _zero(rows, root)
        without = (_answers(_grow(rows, target, 3, seed), others)[3] == truth).mean()
    local = np.clip(2 * (accuracy[3] - without), 0.0, 1.0)
    total = np.clip(1 - (accuracy[2:] - accuracy[1]).mean(), 0.0, 1.0)
    return float(accuracy[1] * (local + total) / 2)


def _grow(rows: Any, target: FloatArray, depth: int, seed: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(max_depth=depth, random_state=seed)
    return tree.fit(rows, target, check_input=False)


def _zero(rows: Any, latent: int) -> None:
    if sp.issparse(rows):
        rows.data[rows.indptr[latent] : rows.indptr[latent + 1]] = 0.0
    else:
        rows[:, latent] = 0.0


def _answers(tree: Any, rows: Any) -> BoolArray:
    """Answers of the tree cut at each depth from 0 to the deepest it may have, bool (depths, n)."""
    grown = tree.tree_
    parent, level = np.zeros((2, grown.node_count), np.int64)
    for node in range(grown.node_count):  # parents come before their children
        for child in (grown.children_left[node], grown.children_right[node]):
            if child >= 0:
                parent[child], level[child] = node, level[node] + 1
    answer = grown.value.ravel() > 0.5
    node = tree.apply(rows, check_input=False)
    result = np.empty((tree.max_depth + 1, len(node)), bool)
    for depth in range(tree.max_depth, -1, -1):
        node = np.where(level[node] > depth, parent[node], node)
        result[depth] = answer[node]
    return result
