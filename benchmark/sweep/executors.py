"""Where tasks run: processes of this machine, or anything else with the same two methods."""

import os
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from benchmark.errors import CheckFailed
from benchmark.runs import Prepared
from benchmark.workers import Setting, prepared_for, start_pool

A = TypeVar("A")
R = TypeVar("R")


@dataclass(frozen=True)
class Failed:
    """A task that raised: the error in one line, and its traceback for a log."""

    line: str
    trace: str


class Executor(Protocol):
    """Runs tasks beside each other; what a task gives does not depend on where it runs."""

    slots: int
    """How many tasks run at the same time; more need not be submitted."""

    tries: int
    """How often a task is begun whose process ends."""

    def add(self, setting: Setting, prepared: Prepared) -> None:
        """Make a setting known before tasks on it are submitted."""

    def submit(
        self, setting: Setting, work: Callable[[Prepared, A], R], argument: A
    ) -> "Future[R | Failed]":
        """Start ``work(prepared, argument)``."""

    def crashed(self, error: BaseException) -> str | None:
        """What to say of an error of a future that means that its process ended; else None."""

    def close(self) -> None:
        """End it; what has not begun is not begun."""


def call(prepared: Callable[[], Prepared], work: Callable[..., Any], argument: Any) -> Any:
    """Run a task on one thread; an exception becomes a ``Failed``, which any process can read."""
    from threadpoolctl import threadpool_limits

    from benchmark.torch_threads import one_thread

    try:
        # how a product is split over threads moves its last bits
        with threadpool_limits(1), one_thread():
            return work(prepared(), argument)
    except Exception as error:
        return failed(error)


def failed(error: BaseException) -> Failed:
    """An exception as a line that a reader understands, and its traceback."""
    text = " ".join(str(error).split())
    known = isinstance(error, ValueError | CheckFailed) and text
    line = text if known else f"{type(error).__name__}: {text}".rstrip(": ")
    return Failed(line, "".join(traceback.format_exception(error)))


def _here(setting: Setting, work: Callable[..., Any], argument: Any) -> Any:
    return call(lambda: prepared_for(setting), work, argument)


class LocalExecutor:
    """Processes of one thread each on this machine."""

    # one process that ends takes the tasks of all others with it, so a task may be innocent
    tries = 3

    def __init__(self, workers: int | None = None) -> None:
        self.slots = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def add(self, setting: Setting, prepared: Prepared) -> None:
        """Nothing to do: every process opens the cache itself."""

    def submit(
        self, setting: Setting, work: Callable[[Prepared, A], R], argument: A
    ) -> "Future[R | Failed]":
        if self._pool is not None:
            try:
                return self._pool.submit(_here, setting, work, argument)
            except BrokenProcessPool:
                self.close()
        self._pool = start_pool(None, self.slots)
        return self._pool.submit(_here, setting, work, argument)

    def crashed(self, error: BaseException) -> str | None:
        if not isinstance(error, BrokenProcessPool):
            return None
        return f"its process was ended from outside {self.tries} times (out of memory?)"

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
