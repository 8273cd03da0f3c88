"""Which edits make it into the dataset, and what became of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from generation.work.formats import Decision, EditRecord, Plan, PlannedEdit, Verdict

STAGES = ("edit", "verify", "review")


@dataclass(frozen=True)
class Dropped:
    """Where an edit fell out and why."""

    stage: str
    reason: str


@dataclass(frozen=True)
class Selection:
    """The edits of a plan, sorted out.

    Attributes:
        kept: in the plan's order.
        dropped: every other edit by id, in the plan's order.
    """

    kept: tuple[PlannedEdit, ...]
    dropped: Mapping[str, Dropped]

    @property
    def table(self) -> list[tuple[str, str, int]]:
        """Stage, reason and how many; a reason is what stands before its first colon."""
        counts = Counter(
            (each.stage, each.reason.partition(":")[0]) for each in self.dropped.values()
        )
        ordered = sorted(counts.items(), key=lambda item: (STAGES.index(item[0][0]), item[0][1]))
        return [(stage, reason, count) for (stage, reason), count in ordered]


def select(
    plan: Plan,
    edits: Mapping[str, EditRecord],
    verdicts: Mapping[str, Verdict],
    reviews: Mapping[str, Mapping[str, Decision]],
    adjudications: Mapping[str, Decision] | None = None,
    *,
    require_review: bool = False,
) -> Selection:
    """Sort the edits of a plan into those that make it and those that fell out.

    An edit makes it if its picture was made, the classifier keeps it (where the plan filters), and
    the reviewers accept it. Verdicts and decisions on another picture than the present one count
    as none. The adjudication goes before the reviewers; without it, all who decided must agree.

    Args:
        reviews: standing decisions by reviewer and edit; where nobody reviewed anything, the
            classifier's word stands unless ``require_review``.
    """
    kept, dropped = [], {}
    reviewing = require_review or any(reviews.values()) or bool(adjudications)
    for edit in plan.edits:
        record = edits.get(edit.id)
        fault = _edit_fault(record)
        if fault is None and record is not None:
            if plan.verify == "filter":
                fault = _verify_fault(record, verdicts.get(edit.id))
            if fault is None and reviewing:
                decisions = [by[edit.id] for by in reviews.values() if edit.id in by]
                fault = _review_fault(record, decisions, (adjudications or {}).get(edit.id))
        if fault is None:
            kept.append(edit)
        else:
            dropped[edit.id] = fault
    return Selection(tuple(kept), dropped)


def _edit_fault(record: EditRecord | None) -> Dropped | None:
    if record is None:
        return Dropped("edit", "not made yet")
    if record.status == "failed":
        return Dropped("edit", record.error or "failed")
    return None


def _verify_fault(record: EditRecord, verdict: Verdict | None) -> Dropped | None:
    if verdict is None or verdict.image_sha256 != record.sha256:
        return Dropped("verify", "not verified yet")
    if not verdict.kept:
        return Dropped("verify", "; ".join(verdict.reasons) or "not kept")
    return None


def _review_fault(
    record: EditRecord, decisions: list[Decision], adjudication: Decision | None
) -> Dropped | None:
    current = [each for each in decisions if each.edit_sha256 == record.sha256]
    if adjudication is not None and adjudication.edit_sha256 == record.sha256:
        if adjudication.decision == "accept":
            return None
        return Dropped("review", f"adjudicated as {adjudication.decision}")
    if not current:
        return Dropped("review", "not reviewed yet")
    said = {each.decision for each in current}
    if said == {"accept"}:
        return None
    if said == {"reject"}:
        return Dropped("review", "rejected")
    if said == {"unsure"}:
        return Dropped("review", "unsure")
    return Dropped("review", "reviewers disagree")
