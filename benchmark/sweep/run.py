"""Running a sweep: what is there with the same configuration is kept, the rest is made.

The driver alone writes; a stopped run goes on where it was, and loses at most the tasks in flight.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmark.files import write_json
from benchmark.kept import current_record
from benchmark.runs import Prepared, submission_of
from benchmark.saes import Sae
from benchmark.saes.training.store import kept_sae, save_trained
from benchmark.sweep.executors import Executor, Failed, failed
from benchmark.sweep.jobs import MeasureTask, measure, train
from benchmark.sweep.plan import SAES, Job, Wanted
from benchmark.workers import Setting

Prepare = Callable[[Setting], tuple[Prepared, Mapping[str, Any]]]
"""A setting's data, and its linear-probe bound."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Failure:
    """What could not be done, and why, in one line; ``trace`` is for a log."""

    what: str
    line: str
    trace: str


@dataclass
class Report:
    """What a run did; ``records`` are the files that now hold what was asked for."""

    trained: int = 0
    measured: int = 0
    kept: int = 0
    failures: list[Failure] = field(default_factory=list)
    records: set[Path] = field(default_factory=set)

    def fail(self, what: str, outcome: Failed) -> None:
        self.failures.append(Failure(what, outcome.line, outcome.trace))


@dataclass
class Task:
    """Work on a setting, what to call it, and what to do with what it gives."""

    what: str
    setting: Setting
    work: Callable[[Prepared, Any], Any]
    argument: Any
    done: Callable[[Any], Iterable["Task"]]
    failed: Callable[[Failed], None]
    tries: int = 0


def run_sweep(
    jobs: Sequence[Job],
    out: Path,
    executor: Executor,
    prepare: Prepare,
    progress: Progress | None = None,
) -> Report:
    """Train and measure what is not there yet.

    Args:
        jobs: from ``jobs_of``; those of one setting together.
        out: gets ``saes/`` and the records.
        executor: runs the tasks.
        prepare: called once a setting, in this process; what it raises fails the setting's jobs.
        progress: called with (SAEs done, SAEs).

    Returns:
        What was done; whatever failed is in ``failures`` and stopped nothing else.
    """
    report = Report()
    left = {job.id for job in jobs}

    def finished(name: str) -> None:
        left.discard(name)
        if progress:
            progress(len(jobs) - len(left), len(jobs))

    for setting, many in _by_setting(jobs):
        try:
            prepared, probe = prepare(setting)
        except Exception as error:
            report.fail(f"{setting.dataset} × {setting.encoder}, {len(many)} SAEs", failed(error))
            for job in many:
                finished(job.id)
            continue
        executor.add(setting, prepared)
        runs = [_Run(job, out, prepared, probe, report, finished) for job in many]
        drive(executor, _first_tasks(runs))
    return report


def _first_tasks(runs: Sequence["_Run"]) -> Iterator[Task]:
    """The tasks of every job, each looked up when its turn comes."""
    for run in runs:
        try:
            tasks = run.tasks()
        except Exception as error:
            run.fail(failed(error))
            continue
        yield from tasks


def _by_setting(jobs: Iterable[Job]) -> Iterator[tuple[Setting, list[Job]]]:
    found: dict[Setting, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.setting, []).append(job)
    yield from found.items()


class _Run:
    """One job under way."""

    def __init__(
        self,
        job: Job,
        out: Path,
        prepared: Prepared,
        probe: Mapping[str, Any],
        report: Report,
        finished: Callable[[str], None],
    ) -> None:
        self.job, self.out, self.prepared, self.probe = job, out, prepared, probe
        self.report, self.finished = report, finished
        self.folder = out / SAES / job.id
        self.open = 0

    def tasks(self) -> list[Task]:
        """What is to be done first: train, or measure what is trained already."""
        sae = kept_sae(self.folder, self.job.recipe, self.prepared.origin)
        if sae is None:
            self.open = 1
            return [self._task("training", train, self.job.recipe, self._trained)]
        return self._measurements(sae)

    def fail(self, outcome: Failed, what: str = "") -> None:
        self.report.fail(f"{self.job.id}{what and ' '}{what}", outcome)
        self._closed()

    def _trained(self, sae: Sae) -> list[Task]:
        self.report.trained += 1
        kept = save_trained(self.folder, sae, self.job.recipe, self.prepared.origin)
        return self._measurements(kept)

    def _measurements(self, sae: Sae) -> list[Task]:
        submission = {
            **submission_of(sae, self.folder, self.job.id),
            "name": self.job.title,
        }
        tasks = []
        for wanted in self.job.wanted:
            path = self.out / wanted.path
            if current_record(path, submission, self.prepared.source, wanted.protocol):
                self.report.kept += 1
                self.report.records.add(path)
                continue
            task = MeasureTask(sae, submission, wanted.protocol, self.probe, wanted.full)
            what = wanted.matcher.label if wanted.matcher else "scores"
            tasks.append(self._task(what, measure, task, partial(self._measured, wanted)))
        self.open = len(tasks)
        if not tasks:
            self.finished(self.job.id)
        return tasks

    def _measured(self, wanted: Wanted, record: Mapping[str, Any]) -> list[Task]:
        path = self.out / wanted.path
        write_json(path, record)
        self.report.measured += 1
        self.report.records.add(path)
        self._closed()
        return []

    def _closed(self) -> None:
        self.open -= 1
        if self.open <= 0:
            self.finished(self.job.id)

    def _task(
        self,
        what: str,
        work: Callable[[Prepared, Any], Any],
        argument: Any,
        done: Callable[[Any], Iterable[Task]],
    ) -> Task:
        return Task(
            f"{self.job.id} {what}",
            self.job.setting,
            work,
            argument,
            done,
            lambda outcome: self.fail(outcome, what),
        )


def drive(executor: Executor, tasks: Iterable[Task]) -> None:
    """Run tasks, and those that follow from them, until none is left.

    Where a process ends, the tasks in flight are begun again one by one, so that the one that ends
    its process is found and fails alone.
    """
    fresh, again = iter(tasks), deque[Task]()
    flying: dict[Future[Any], Task] = {}
    try:
        while True:
            suspect = any(task.tries > 1 for task in flying.values())
            while not suspect and len(flying) < executor.slots:
                task = _next(again, fresh, alone=not flying)
                if task is None:
                    break
                task.tries += 1
                flying[executor.submit(task.setting, task.work, task.argument)] = task
                suspect = task.tries > 1
            if not flying:
                return
            ready, _ = wait(flying, return_when=FIRST_COMPLETED)
            _take(executor, [(one, flying.pop(one)) for one in ready], again)
    except BaseException:
        executor.close()
        raise


def _next(again: deque[Task], fresh: Iterator[Task], *, alone: bool) -> Task | None:
    if again and (alone or again[0].tries == 0):
        return again.popleft()
    if again:
        # one that lost its process waits until it can run alone
        return None
    return next(fresh, None)


def _take(
    executor: Executor,
    ready: Sequence[tuple[Future[Any], Task]],
    again: deque[Task],
) -> None:
    for future, task in ready:
        error = future.exception()
        if error is not None:
            line = executor.crashed(error)
            if line is None:
                raise error
            if task.tries < executor.tries:
                again.append(task)
            else:
                task.failed(Failed(line, failed(error).trace))
            continue
        outcome = future.result()
        if isinstance(outcome, Failed):
            task.failed(outcome)
            continue
        try:
            again.extendleft(reversed(list(task.done(outcome))))
        except (OSError, ValueError) as fault:
            task.failed(failed(fault))


def log_failures(path: Path, failures: Sequence[Failure]) -> None:
    """Write the failures with their tracebacks, or remove an earlier log where there are none."""
    if not failures:
        path.unlink(missing_ok=True)
        return
    write_json(
        path,
        {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "failures": [
                {"what": one.what, "line": one.line, "trace": one.trace} for one in failures
            ],
        },
    )


def read_records(
    jobs: Iterable[Job], out: Path, report: Report
) -> list[tuple[Job, Wanted, dict[str, Any]]]:
    """The records of the jobs that a run kept or made; a stale file beside them is not read."""
    return [
        (job, wanted, json.loads((out / wanted.path).read_bytes()))
        for job in jobs
        for wanted in job.wanted
        if out / wanted.path in report.records
    ]
