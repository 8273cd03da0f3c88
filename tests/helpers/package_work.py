"""Work folders with verdicts and reviews written by hand, ready to be packaged."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from edit_work import edited_work

from generation.work import Check, Decision, Verdict, Work


def judge(work: Work, names: Iterable[str] | None = None, wrong: Collection[str] = ()) -> None:
    """A verdict on every edit, or on those named; ``wrong`` ones are not seen as edited."""
    edits = work.edits()
    for edit in work.plan.edits:
        if (names is not None and edit.id not in set(names)) or edit.id not in edits:
            continue
        right = edit.id not in wrong
        checks = tuple(
            Check(concept, side, (role == "added") == (side == "edited"), 0.75, 0.5, right)
            for role, concept in (("added", edit.added), ("removed", edit.removed))
            if concept is not None and concept in work.plan.concepts
            for side in ("base", "edited")
        )
        reasons = () if right else ("added concept not seen in the edited picture: 0.10",)
        kept = right or work.plan.verify == "report_only"
        sha256 = str(edits[edit.id].sha256)
        work.verdict_log.append(
            Verdict(edit.id, work.plan.hash, sha256, checks, 0.01, kept, reasons)
        )


def decide(work: Work, reviewer: str, words: Mapping[str, str]) -> None:
    """Decisions of a reviewer by edit."""
    edits = work.edits()
    for name, word in words.items():
        work.review_log(reviewer).append(
            Decision(
                name,
                work.plan.hash,
                str(edits[name].sha256),
                word,  # type: ignore[arg-type]
                "",
                "2026-11-30T12:00:00Z",
            )
        )


def finished_work(root: Path, edits: int = 8, *, count: int = 80, verify: str = "filter") -> Work:
    """A work folder in which every edit is made, judged right, and accepted by one person."""
    work = edited_work(root, edits, count=count, verify=verify)
    judge(work)
    decide(work, "ann", dict.fromkeys((edit.id for edit in work.plan.edits), "accept"))
    return work
