"""Which pairs are packaged, and what has to be done before they can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmark.errors import UserError
from generation.packaging.reviews import Reviews
from generation.work import Dropped, EditRecord, PlannedEdit, Selection, Verdict, Work, select

NOT_MADE = "not made yet"
NOT_VERIFIED = "not verified yet"
NOT_REVIEWED = "not reviewed yet"


@dataclass(frozen=True)
class Chosen:
    """The pairs of a package, in the plan's order.

    Attributes:
        edits: the pairs.
        records: what was recorded when their pictures were made, by id.
        verdicts: the classifier's opinion on the present pictures, by id; some may have none.
        table: stage, reason and how many of the plan's other edits fell out there.
        reviews: what the reviewers said of these pairs.
    """

    edits: tuple[PlannedEdit, ...]
    records: Mapping[str, EditRecord] = field(repr=False)
    verdicts: Mapping[str, Verdict] = field(repr=False)
    table: Sequence[tuple[str, str, int]]
    reviews: Reviews


def choose(work: Work, *, unfinished: bool = False, unreviewed: bool = False) -> Chosen:
    """Sort out the edits of a work folder.

    Args:
        work: the folder.
        unfinished: leave out what is not made or has no verdict, instead of refusing.
        unreviewed: keep pairs that nobody reviewed, instead of refusing.

    Raises:
        UserError: work left to do in an earlier stage, files of another plan, or nothing to keep.
    """
    records = work.edits()
    verdicts = {
        name: each
        for name, each in work.verdicts().items()
        if name in records and records[name].sha256 == each.image_sha256
    }
    decisions, adjudications = work.reviews(), work.adjudications()
    selection = select(work.plan, records, verdicts, decisions, adjudications, require_review=True)
    selection = _without_verdict_out(work, selection, verdicts)
    _check_finished(work, selection, unfinished)
    if unreviewed:
        selection = _unreviewed_in(work, selection)
    _check_reviewed(work, selection)
    if not selection.kept:
        reasons = "; ".join(f"{reason} ({count})" for _, reason, count in selection.table)
        raise UserError(f"{work.root}: no pair is left to package: {reasons}")
    return Chosen(
        selection.kept,
        {edit.id: records[edit.id] for edit in selection.kept},
        {edit.id: verdicts[edit.id] for edit in selection.kept if edit.id in verdicts},
        selection.table,
        Reviews.of(selection.kept, records, decisions, adjudications),
    )


def _without_verdict_out(
    work: Work, selection: Selection, verdicts: Mapping[str, Verdict]
) -> Selection:
    """A plan that only reports still promises an opinion on every pair."""
    judged = {edit.id for edit in work.plan.edits if edit.id in verdicts} | {
        name for name, each in selection.dropped.items() if each.stage == "edit"
    }
    dropped = {
        edit.id: selection.dropped.get(edit.id)
        if edit.id in judged
        else Dropped("verify", NOT_VERIFIED)
        for edit in work.plan.edits
    }
    return Selection(
        tuple(edit for edit in selection.kept if edit.id in judged),
        {name: each for name, each in dropped.items() if each is not None},
    )


def _check_finished(work: Work, selection: Selection, unfinished: bool) -> None:
    if unfinished:
        return
    counts = Counter(each.reason for each in selection.dropped.values())
    for reason, stage in ((NOT_MADE, "edit"), (NOT_VERIFIED, "verify")):
        if counts[reason]:
            raise UserError(
                f"{work.root}: {counts[reason]:,} of {len(work.plan.edits):,} edits are {reason}; "
                f"run: assay generate {stage} {work.root}, or leave them out with --unfinished"
            )


def _unreviewed_in(work: Work, selection: Selection) -> Selection:
    back = {name for name, each in selection.dropped.items() if each.reason == NOT_REVIEWED}
    kept = {edit.id for edit in selection.kept} | back
    return replace(
        selection,
        kept=tuple(edit for edit in work.plan.edits if edit.id in kept),
        dropped={name: each for name, each in selection.dropped.items() if name not in back},
    )


def _check_reviewed(work: Work, selection: Selection) -> None:
    count = sum(each.reason == NOT_REVIEWED for each in selection.dropped.values())
    if count:
        raise UserError(
            f"{work.root}: {count:,} pairs are {NOT_REVIEWED}; run: assay generate review "
            f"{work.root}, or keep them, stated in the card, with --unreviewed"
        )
