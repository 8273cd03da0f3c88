"""What the classifier says of a pair, and whether that keeps it.

A pair is kept if every changed concept is predicted right on both pictures at its validated
threshold: an added one absent from the base and present in the edited picture, a removed one the
other way round. What stands before the first colon of a reason is its kind, for counting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from generation.verifying.classifier import Classifier
from generation.verifying.outside import VISIBLE, Change
from generation.work import Check, Plan, PlannedEdit, Verdict

UNVALIDATED = "no validated threshold"
NOT_ANNOTATED = "not annotated in the source"
NOTHING = "nothing visible changed"
OUTSIDE = "changed too much outside the edited region"
_WRONG = {
    ("added", "base"): "added concept already seen in the base picture",
    ("added", "edited"): "added concept not seen in the edited picture",
    ("removed", "base"): "removed concept not seen in the base picture",
    ("removed", "edited"): "removed concept still seen in the edited picture",
}
KINDS = (NOTHING, *_WRONG.values(), UNVALIDATED, NOT_ANNOTATED, OUTSIDE)
"""Kinds of reasons in the order in which a pair's are listed; the first one is counted."""

Side = Literal["base", "edited"]


@dataclass(frozen=True)
class Seen:
    """What was measured on one pair.

    Attributes:
        image_sha256: of the edited picture's file.
        base, edited: float (A,) in [0, 1], probability of each concept.
        change: what the edit changed; None where all of it was meant to.
    """

    image_sha256: str
    base: np.ndarray = field(repr=False)
    edited: np.ndarray = field(repr=False)
    change: Change | None


def verdict(
    plan: Plan,
    edit: PlannedEdit,
    seen: Seen,
    classifier: Classifier,
    max_outside: float | None = None,
) -> Verdict:
    """Judge one pair; a plan that says ``report_only`` keeps it whatever the reasons."""
    checks: list[Check] = []
    reasons: list[str] = []
    for role, concept in (("added", edit.added), ("removed", edit.removed)):
        if concept is None:
            continue
        threshold = classifier.threshold(concept)
        if threshold is None:
            reasons.append(_unchecked(plan, concept, classifier))
            continue
        for side, probabilities in _sides(seen):
            wanted = (role == "added") == (side == "edited")
            probability = float(probabilities[classifier.columns[concept]])
            right = (probability >= threshold) == wanted
            checks.append(Check(concept, side, wanted, probability, threshold, right))
            if not right:
                numbers = f"{probability:.2f}, threshold {threshold:.2f}"
                reasons.append(f"{_WRONG[role, side]}: {concept} ({numbers})")
    reasons += _of_change(seen.change, max_outside)
    reasons.sort(key=lambda reason: KINDS.index(reason.partition(":")[0]))
    return Verdict(
        id=edit.id,
        plan_hash=plan.hash,
        image_sha256=seen.image_sha256,
        checks=tuple(checks),
        outside_change=None if seen.change is None else seen.change.outside,
        kept=not reasons or plan.verify == "report_only",
        reasons=tuple(reasons),
    )


def is_check(reason: str) -> bool:
    """Whether a reason only says in words what a check of the verdict says."""
    return reason.partition(":")[0] in _WRONG.values()


def _sides(seen: Seen) -> tuple[tuple[Side, np.ndarray], tuple[Side, np.ndarray]]:
    return ("base", seen.base), ("edited", seen.edited)


def _unchecked(plan: Plan, concept: str, classifier: Classifier) -> str:
    if concept not in plan.concepts:
        return f"{NOT_ANNOTATED}: {concept}"
    return f"{UNVALIDATED}: {concept} ({classifier.why_not(concept)})"


def _of_change(change: Change | None, max_outside: float | None) -> list[str]:
    if change is None:
        return []
    reasons = [f"{NOTHING}: no difference above {VISIBLE}"] if change.changed == 0 else []
    if max_outside is not None and change.outside > max_outside:
        reasons.append(f"{OUTSIDE}: {change.outside:.2f}, at most {max_outside:.2f}")
    return reasons


def by_concept(plan: Plan, verdicts: Mapping[str, Verdict]) -> list[tuple[str, str, int, int]]:
    """For every changed concept: its name, ``"added"`` or ``"removed"``, pairs judged and kept."""
    counts: dict[tuple[str, str], list[int]] = {}
    for edit in plan.edits:
        found = verdicts.get(edit.id)
        if found is None:
            continue
        for role, concept in (("added", edit.added), ("removed", edit.removed)):
            if concept is not None:
                row = counts.setdefault((concept, role), [0, 0])
                row[0] += 1
                row[1] += found.kept
    return [(concept, role, *row) for (concept, role), row in sorted(counts.items())]  # type: ignore[misc]
