"""All edits of a plan: those still missing are made, those that fail are tried again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmark import files
from benchmark.datasets import Dataset
from benchmark.errors import UserError
from generation.editing.job import Edits, Job, Outcome, perform, seed_of
from generation.editing.pipeline import Settings
from generation.work import EditRecord, PlannedEdit, Work

Perform = Callable[[Sequence[Job]], Iterator[Outcome]]
"""Does jobs in any order and gives each outcome as soon as it is there."""

Progress = Callable[[int, int], None]

GIVE_UP = 5
"""After so many failures of the model in a row, and nothing else, something else is wrong."""


@dataclass(frozen=True)
class EditReport:
    """What a run did and what is there now.

    Attributes:
        made: edits made by this run.
        there: edits with a picture, those of earlier runs too.
        failed: edits that failed in every attempt, with the last reason.
        missing: edits not tried, because the run was limited.
        relicensed: edits of earlier runs whose record now states the model's licence anew.
    """

    made: int
    there: int
    failed: tuple[tuple[str, str], ...]
    missing: int
    relicensed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {
            "made": self.made,
            "there": self.there,
            "failed": [{"id": edit, "error": error} for edit, error in self.failed],
            "missing": self.missing,
            "relicensed": self.relicensed,
        }


def here(editor: Edits, source: Dataset) -> Perform:
    """Jobs one after the other in this process."""

    def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
        return (perform(editor, source, job) for job in jobs)

    return run


def when_needed(prepare: Callable[[], Perform]) -> Perform:
    """A way to do jobs that is made ready, once, with the first of them."""
    ready = cache(prepare)
    return lambda jobs: ready()(jobs)


def make_edits(
    work: Work,
    settings: Settings,
    run: Perform,
    *,
    seed: int | None = None,
    retries: int = 2,
    limit: int | None = None,
    redo: bool = False,
    progress: Progress | None = None,
) -> EditReport:
    """Make every edit that is not there.

    An edit is there when its last record says so and the file has the recorded hash. A picture is
    on disk before its record, so that a run that is killed loses the edit it was at. Where the
    model's licence was stated otherwise before, records are written anew and the pictures stay.

    Args:
        run: does the jobs.
        seed: of the noise; by default the plan's.
        retries: further attempts at an edit that failed, each with noise of its own; those of
            earlier runs count.
        limit: new edits at most.
        redo: make those anew that an earlier run made with another model or other settings, which
            are refused otherwise.

    Raises:
        UserError: earlier edits by another model or with other settings, a seed beyond 2^53 - 1,
            or a model that fails every time.
    """
    if seed is not None and not 0 <= seed < 2**53:
        raise UserError(f"--seed is {seed}; expected 0 to 2^53 - 1")
    state = _State(work, settings, work.plan.seed if seed is None else seed, redo)
    todo = state.todo(retries)
    missing = 0
    if limit is not None:
        missing, todo = max(0, len(todo) - limit), todo[:limit]
    tell = progress or (lambda done, total: None)
    total = len(state.there) + len(todo)
    tell(len(state.there), total)
    made = in_a_row = 0
    while todo:
        again = []
        for outcome in run([state.job(edit) for edit in todo]):
            record = state.record(outcome)
            in_a_row = in_a_row + 1 if outcome.broken else 0
            if in_a_row >= GIVE_UP:
                raise UserError(
                    f"{in_a_row} edits in a row failed, the last ({record.id}) with: "
                    f"{record.error}; nothing is lost, mend it and run again"
                )
            if record.status == "ok":
                made += 1
                tell(len(state.there), total)
            elif record.attempt <= retries:
                again.append(outcome.job.edit)
        todo = again
    failed = tuple(
        (edit.id, state.records[edit.id].error or "failed")
        for edit in work.plan.edits
        if edit.id in state.records and edit.id not in state.there
    )
    return EditReport(made, len(state.there), failed, missing, state.relicensed)


class _State:
    """What is done, on disk and in mind."""

    def __init__(self, work: Work, settings: Settings, seed: int, redo: bool) -> None:
        self._work = work
        self._settings = settings
        self._seed = seed
        self._log = work.edit_log
        self.records = work.edits()
        others = [name for name, record in self.records.items() if not self._mine(record)]
        if others and not redo:
            raise UserError(self._mixed(self.records[others[0]]))
        for name in others:
            del self.records[name]
        self.relicensed = self._relicense()
        self.there = {
            name
            for name, record in self.records.items()
            if record.status == "ok" and _is(work.image(name), record.sha256)
        }

    def _relicense(self) -> int:
        """State the model's licence in records that say another one; how many there were."""
        licence = self._settings.model.licence
        anew = [
            replace(record, licence=licence)
            for record in self.records.values()
            if record.licence != licence
        ]
        if anew:
            self._log.append(*anew)
            self.records.update({record.id: record for record in anew})
        return len(anew)

    def todo(self, retries: int) -> list[PlannedEdit]:
        """Edits without a picture that have an attempt left, in the plan's order."""
        return [
            edit
            for edit in self._work.plan.edits
            if edit.id not in self.there and self._attempt(edit.id) <= 1 + retries
        ]

    def _attempt(self, edit: str) -> int:
        """Number of the next attempt; a picture that was lost is made again as it was."""
        record = self.records.get(edit)
        if record is None:
            return 1
        return record.attempt if record.status == "ok" else record.attempt + 1

    def job(self, edit: PlannedEdit) -> Job:
        """The next attempt at an edit."""
        attempt = self._attempt(edit.id)
        return Job(edit, attempt, seed_of(self._seed, edit.id, attempt))

    def record(self, outcome: Outcome) -> EditRecord:
        """Put an outcome on disk: first the picture, then the line that says it is there."""
        job, settings = outcome.job, self._settings
        if outcome.png is not None:
            files.write_bytes(self._work.image(job.edit.id), outcome.png)
        record = EditRecord(
            id=job.edit.id,
            plan_hash=self._work.plan.hash,
            status="failed" if outcome.png is None else "ok",
            sha256=None if outcome.png is None else hashlib.sha256(outcome.png).hexdigest(),
            model=settings.model.name,
            model_revision=settings.model.revision,
            licence=settings.model.licence,
            seed=job.seed,
            steps=settings.effective_steps,
            guidance=settings.effective_guidance,
            width=outcome.width,
            height=outcome.height,
            scheduler=outcome.scheduler,
            precision=outcome.precision,
            seconds=round(outcome.seconds, 3),
            error=outcome.error,
            attempt=job.attempt,
        )
        self._log.append(record)
        self.records[record.id] = record
        if record.status == "ok":
            self.there.add(record.id)
        else:
            self._work.image(record.id).unlink(missing_ok=True)
        return record

    def _mine(self, record: EditRecord) -> bool:
        settings = self._settings
        return (
            record.model_revision == settings.model.revision
            and record.steps == settings.effective_steps
            and record.guidance == settings.effective_guidance
            and record.seed == seed_of(self._seed, record.id, record.attempt)
            and record.precision.endswith("+4bit") == (settings.quantise == "4bit")
        )

    def _mixed(self, record: EditRecord) -> str:
        guidance = "no" if record.guidance is None else record.guidance
        return (
            f"{self._log.path}: {record.id} is by {record.model}@{record.model_revision[:12]} "
            f"in {record.steps} steps with {guidance} guidance, {record.precision}, or another "
            "seed, which is not what is asked for now; ask for the same, or give --redo to make "
            "those anew"
        )


def _is(path: Path, sha256: str | None) -> bool:
    try:
        return files.file_sha256(path) == sha256
    except OSError:
        return False


def prompts_of(edits: Iterable[PlannedEdit]) -> set[str]:
    """Every text that the model reads for these edits; the empty one is what guidance leads
    away from."""
    return {"", *(edit.prompt for edit in edits)}
