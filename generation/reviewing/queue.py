"""What there is to review, and what a reviewer has said of it so far."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from benchmark.errors import UserError
from generation.work import (
    Decision,
    EditRecord,
    Journal,
    PlannedEdit,
    Verdict,
    Work,
    standing,
    take,
)

Word = Literal["accept", "reject", "unsure"]
WORDS: tuple[Word, ...] = ("accept", "reject", "unsure")
MOST_NOTE = 4000
"""Characters of a note."""


@dataclass(frozen=True)
class Item:
    """A pair to look at."""

    edit: PlannedEdit
    record: EditRecord
    verdict: Verdict | None

    @property
    def sha256(self) -> str:
        """Hash of the edited picture's file."""
        return str(self.record.sha256)


def reviewable(work: Work) -> dict[str, Item]:
    """Pairs that people should look at, in the plan's order.

    Every edit that was made; where the plan filters and the classifier has been asked, those that
    it keeps.
    """
    edits, verdicts = work.edits(), work.verdicts()
    filtering = work.plan.verify == "filter" and bool(verdicts)
    items = {}
    for edit in work.plan.edits:
        record = edits.get(edit.id)
        if record is None or record.status != "ok":
            continue
        verdict = verdicts.get(edit.id)
        if verdict is not None and verdict.image_sha256 != record.sha256:
            verdict = None
        if not filtering or (verdict is not None and verdict.kept):
            items[edit.id] = Item(edit, record, verdict)
    return items


class Queue:
    """The pairs of one reviewer, and the file of what was decided; several threads may use it.

    Args:
        items: pairs by id, in the order in which they are shown.
        log: the file; a decision is on disk before ``decide`` returns.
        plan_hash: of the plan.
        author: who decides, where the file does not say it (adjudication).
        again: ask anew about pictures that were made again since they were decided on.

    Raises:
        UserError: the file is of another plan, or (unless ``again``) decides on other pictures.
    """

    def __init__(
        self,
        items: Mapping[str, Item],
        log: Journal[Decision],
        plan_hash: str,
        *,
        author: str | None = None,
        again: bool = False,
    ) -> None:
        self.items = items
        self.ids = tuple(items)
        self._log = log
        self._plan_hash = plan_hash
        self._author = author
        self._lock = threading.Lock()
        # as in the file, decisions on other pictures too: an undo must mean the same there
        self._standing = standing(log)
        latest = {each.id: each for each in self._standing}
        stale = [each for each in latest.values() if self._is_stale(each)]
        if stale and not again:
            raise UserError(
                f"{log.path}: {len(stale)} decisions, the first on {stale[0].id}, are on other "
                "pictures than those here now; give --again to decide on them anew, or move the "
                "file away"
            )

    def _is_stale(self, decision: Decision) -> bool:
        item = self.items.get(decision.id)
        return item is not None and item.sha256 != decision.edit_sha256

    @property
    def decisions(self) -> dict[str, Decision]:
        """What stands on the present pictures, by edit."""
        latest = {each.id: each for each in self._standing}
        return {name: each for name, each in latest.items() if not self._is_stale(each)}

    @property
    def done(self) -> int:
        """Pairs decided on."""
        return sum(edit in self.items for edit in self.decisions)

    @property
    def counts(self) -> dict[str, int]:
        """Pairs by decision."""
        found = Counter(each.decision for each in self.decisions.values() if each.id in self.items)
        return {word: found[word] for word in WORDS}

    def decide(self, edit: str, word: str, note: str, sha256: str) -> None:
        """Write down a decision, once: the same one again changes nothing.

        Raises:
            KeyError: no such pair.
            ValueError: no such decision, too long a note, or another picture than the present.
        """
        item = self.items[edit]
        note = note.replace("\r\n", "\n").strip()
        if word not in WORDS:
            raise ValueError(f"decision {word[:20]!r}; expected {', '.join(WORDS)}")
        if len(note) > MOST_NOTE:
            raise ValueError(f"a note of {len(note)} characters; expected at most {MOST_NOTE}")
        if sha256 != item.sha256:
            raise ValueError("the picture was made again since this page was opened")
        with self._lock:
            now = self.decisions.get(edit)
            if now is not None and (now.decision, now.note, now.reviewer) == (
                word,
                note,
                self._author,
            ):
                return
            self._write(Decision(edit, self._plan_hash, sha256, word, note, _now(), self._author))

    def undo(self) -> str | None:
        """Take one's latest decision back; the pair that it was on, None where there is none."""
        with self._lock:
            last = self._latest_own()
            if last is None:
                return None
            self._write(replace(last, decision="undo", note="", at=_now()))
            return last.id

    def _latest_own(self) -> Decision | None:
        """The author's latest decision; none on a pair that was made again since."""
        passed = set()
        for each in reversed(self._standing):
            if each.reviewer != self._author or each.id in passed:
                continue
            if not self._is_stale(each):
                return each
            passed.add(each.id)
        return None

    def _write(self, line: Decision) -> None:
        self._log.append(line)
        take(self._standing, line)

    def next_open(self, after: str | None = None) -> str | None:
        """The first pair after another one that nothing was decided on, going round once."""
        decided = self.decisions
        start = 0 if after is None else self.ids.index(after) + 1
        return next(
            (edit for edit in (*self.ids[start:], *self.ids[:start]) if edit not in decided), None
        )

    def beside(self, edit: str) -> tuple[str | None, str | None]:
        """The pairs before and after one."""
        place = self.ids.index(edit)
        before = self.ids[place - 1] if place else None
        return before, self.ids[place + 1] if place + 1 < len(self.ids) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def current(work: Work, items: Mapping[str, Item] | None = None) -> dict[str, dict[str, Decision]]:
    """What stands of all reviewers on the pictures that are here now, by reviewer and edit."""
    hashes: Iterable[tuple[str, str | None]]
    if items is None:
        hashes = ((edit, record.sha256) for edit, record in work.edits().items())
    else:
        hashes = ((edit, item.sha256) for edit, item in items.items())
    present = dict(hashes)
    return {
        name: {
            edit: decision
            for edit, decision in found.items()
            if edit in present and present[edit] == decision.edit_sha256
        }
        for name, found in work.reviews().items()
    }
