"""What a constant gets and what the features hold: the bounds of a matching, §1.4."""

import numpy as np

from benchmark.metrics.arrays import (
    BoolArray,
    FloatArray,
    InputError,
    annotations,
    embeddings_checked,
)
from benchmark.metrics.logistic import fit_logistic
from benchmark.metrics.match_score import NO_CONCEPTS, MatchScore, mean_f1
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights
from benchmark.metrics.subsamples import vector_digests

PENALTY = 10.0
"""L2 penalty of the linear probe: scikit-learn's C = 0.1."""


def prevalence_bound(concepts: BoolArray, *, resamples: int = RESAMPLES, seed: int = 0) -> Score:
    """Mean F_1 of predicting every concept on every row, ``2p/(1+p)``.

    Args:
        concepts: presence (N, A) on the scored rows.

    Returns:
        Score in [0, 1] over the concepts that have positives.
    """
    present = annotations(concepts)
    keep = present.any(axis=0)
    missing = {
        "no positives in the scored split": int((~keep).sum()),
        NO_CONCEPTS: int(keep.size == 0),
    }
    if not keep.any():
        return make_score(None, 0, None, missing)
    columns = present[:, keep].astype(np.float32)
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(columns), resamples, seed):
        p = (weights @ columns).astype(np.float64) / len(columns)
        there = p > 0
        total = there.sum(axis=1)
        summed = np.where(there, 2 * p / (1 + p), 0.0).sum(axis=1)
        samples[rows] = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
    p = present[:, keep].mean(axis=0)
    return make_score(float((2 * p / (1 + p)).mean()), int(keep.sum()), samples, missing)


def linear_probe_bound(
    match_features: np.ndarray,
    match_concepts: BoolArray,
    score_features: np.ndarray,
    score_concepts: BoolArray,
    *,
    penalty: float = PENALTY,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MatchScore:
    """Mean F_1 of a linear probe on the features: what an embedding holds of the concepts.

    For each concept an L2-regularised logistic regression on features standardised by the match
    split, fitted there, with the threshold of best F_1 there (of equal ones the highest).

    Args:
        match_features, score_features: float (N, D) and (M, D), finite.
        match_concepts, score_concepts: presence (N, A) and (M, A), booleans or 0/1.
        penalty: weight of ``½‖w‖²`` beside the summed log-loss, > 0.
        resamples, seed: bootstrap over the scored rows, as ``match_score``.

    Returns:
        Score in [0, 1] over the concepts with positives in both splits, with ``.f1`` per concept.

    Raises:
        InputError: shapes that disagree, values that are not finite, a penalty of 0 or less.
    """
    known = annotations(match_concepts, name="match_concepts")
    present = annotations(score_concepts, name="score_concepts")
    fitted = embeddings_checked(match_features, len(known), "match_features", directed=False)
    scored = embeddings_checked(score_features, len(present), "score_features", directed=False)
    _check_probe(fitted, known, scored, present, penalty)
    matched, found = known.any(axis=0), present.any(axis=0)
    keep: BoolArray = np.logical_and(matched, found)
    reasons = {
        "no positives in the matching split": int((~matched).sum()),
        "no positives in the scored split": int((matched & ~found).sum()),
        NO_CONCEPTS: int(keep.size == 0),
    }
    predicted = np.zeros(present.shape, bool)
    if keep.any():
        predicted[:, keep] = _probe(fitted, known[:, keep], scored, penalty)
    return mean_f1(predicted, present, keep, reasons, resamples, seed)


def _check_probe(
    fitted: np.ndarray, known: BoolArray, scored: np.ndarray, present: BoolArray, penalty: float
) -> None:
    for name, rows in (("match_features", fitted), ("score_features", scored)):
        if len(rows) == 0:
            raise InputError(f"{name}: has no rows; an empty split cannot be scored")
    for name, one, other in (
        ("features", fitted.shape[1], scored.shape[1]),
        ("concepts", known.shape[1], present.shape[1]),
    ):
        if one != other:
            raise InputError(f"match_{name} has {one} columns but score_{name} has {other}")
    if not (isinstance(penalty, int | float | np.number) and np.isfinite(penalty) and penalty > 0):
        raise InputError(f"penalty is {penalty!r}; expected a number above 0")


def _probe(fitted: np.ndarray, known: BoolArray, scored: np.ndarray, penalty: float) -> BoolArray:
    # in an order of its own, so that the order of rows does not move the solver's last digits
    order = np.lexsort((vector_digests(known), vector_digests(fitted)))
    rows, known = fitted[order].astype(np.float64), known[order]
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[(rows == rows[0]).all(axis=0)] = np.inf
    rows = (rows - mean) / spread
    weights = fit_logistic(rows, known, float(penalty))
    margins = rows @ weights[:-1] + weights[-1]
    others = (scored.astype(np.float64) - mean) / spread @ weights[:-1] + weights[-1]
    limits = [best_threshold(margins[:, a], known[:, a]) for a in range(known.shape[1])]
    predicted: BoolArray = others > np.array(limits)
    return predicted


def best_threshold(margins: FloatArray, has: BoolArray) -> float:
    """Threshold above which answering yes gives the best F_1; of equal ones the highest.

    Args:
        margins: float (N,).
        has: bool (N,), not all False.
    """
    order = np.argsort(-margins, kind="stable")
    ranked = margins[order]
    f1 = 2 * np.cumsum(has[order]) / (np.arange(1, len(order) + 1) + has.sum())
    below = np.append(ranked[1:], -np.inf)
    f1[ranked == below] = -1.0  # rows of equal margin get the same answer
    last = int(f1.argmax())
    return float((ranked[last] + below[last]) / 2)
