"""Worker processes for what thousands of entries need; results never depend on their number."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from types import TracebackType
from typing import TypeVar

from benchmark.processes import end_with_parent

FEW = 48
"""Jobs that are done here sooner than a process has started."""

Job = TypeVar("Job")
Result = TypeVar("Result")


class Pool:
    """Processes that start with the first large batch of work."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or os.cpu_count() or 1
        self._processes: ProcessPoolExecutor | None = None

    def map(self, work: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
        """``work`` of every job, in order; the first error in this order is raised."""
        if self._workers == 1 or len(jobs) < FEW:
            return [work(job) for job in jobs]
        size = max(1, min(16, len(jobs) // (4 * self._workers)))
        return list(self._started().map(work, jobs, chunksize=size))

    def begin(self, work: Callable[[Job], Result], job: Job, size: int) -> Callable[[], Result]:
        """What waits for ``work`` of one job of so many parts, done meanwhile if they are many."""
        if self._workers == 1 or size < FEW:
            return cache(partial(work, job))
        return self._started().submit(work, job).result

    def _started(self) -> ProcessPoolExecutor:
        if self._processes is None:
            self._processes = ProcessPoolExecutor(
                max_workers=self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=end_with_parent,
            )
        return self._processes

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._processes is not None:
            self._processes.shutdown(wait=True, cancel_futures=True)
