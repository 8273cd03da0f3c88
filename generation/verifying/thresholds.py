"""How well a classifier does on labelled pictures, and from which probability on it says yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ConceptReport:
    """What validation says of one concept.

    Attributes:
        concept: its name.
        threshold: least probability that counts as yes, in [0, 1]; None where not validated.
        reason: why there is none.
        positives, negatives: pictures of each kind that it was validated on.
        trained_on: pictures that show it in training.
        average_precision, f1: on the validation pictures, None where not applicable.
    """

    concept: str
    threshold: float | None
    reason: str | None
    positives: int
    negatives: int
    trained_on: int
    average_precision: float | None
    f1: float | None

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        return asdict(self)


def mean_average_precision(probabilities: np.ndarray, labels: np.ndarray) -> float | None:
    """Mean over the concepts that have positives of average precision; None where none has.

    Args:
        probabilities: float (N, A).
        labels: bool (N, A).
    """
    from sklearn.metrics import average_precision_score

    found = [
        average_precision_score(labels[:, a], probabilities[:, a])
        for a in np.flatnonzero(labels.any(axis=0))
    ]
    return float(np.mean(found)) if found else None


def validate_concepts(
    concepts: Sequence[str],
    probabilities: np.ndarray,
    labels: np.ndarray,
    trained_on: np.ndarray,
    least: int,
) -> list[ConceptReport]:
    """Tune the threshold of every concept to the best F_1, of equal ones the highest.

    Args:
        concepts: A names.
        probabilities: float (N, A) on the validation pictures.
        labels: bool (N, A).
        trained_on: int (A,), positives in training.
        least: positives, and negatives, that validation takes.
    """
    from sklearn.metrics import average_precision_score

    reports = []
    for a, concept in enumerate(concepts):
        has = labels[:, a]
        positives, negatives = int(has.sum()), int((~has).sum())
        reason = _unvalidated(positives, negatives, int(trained_on[a]), least)
        threshold = None if reason else tuned(probabilities[:, a], has)
        f1 = None
        if threshold is not None:
            said = probabilities[:, a] >= threshold
            f1 = float(2 * (said & has).sum() / (said.sum() + positives))
        precision = average_precision_score(has, probabilities[:, a]) if positives else None
        reports.append(
            ConceptReport(
                concept,
                threshold,
                reason,
                positives,
                negatives,
                int(trained_on[a]),
                None if precision is None else float(precision),
                f1,
            )
        )
    return reports


def tuned(probabilities: np.ndarray, has: np.ndarray) -> float:
    """The probability, in [0, 1], from which on saying yes gives the best F_1."""
    from benchmark.metrics.bounds import best_threshold

    # between two probabilities, or below all of them; at one of them only by rounding
    threshold = best_threshold(probabilities.astype(np.float64), has)
    return float(np.clip(threshold, 0.0, 1.0))


def _unvalidated(positives: int, negatives: int, trained_on: int, least: int) -> str | None:
    if trained_on == 0:
        return "no picture to train on shows it"
    if positives < least:
        return f"shown by fewer than {least} validation pictures ({positives})"
    if negatives < least:
        return f"lacking in fewer than {least} validation pictures ({negatives})"
    return None
