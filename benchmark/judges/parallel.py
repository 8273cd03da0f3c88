"""Work on threads that a stop does not wait for."""

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

GRACE_SECONDS = 3.0
"""How long a stop lets answers that are on their way arrive, so that they are kept."""


class Stopped(Exception):
    """Ends a thread after a stop; nobody sees it."""


def run_all(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    stop: threading.Event,
    finished: Callable[[int], None] | None = None,
) -> list[Result]:
    """``work`` of every item, in the order of the items.

    At the first error, or at an interrupt, ``stop`` is set, no further item is begun, and the error
    is raised after at most ``GRACE_SECONDS``. Threads still busy then are left to themselves; they
    do not keep the process alive.

    Args:
        work: called by several threads at once; it may raise ``Stopped`` once ``stop`` is set.
        workers: number of threads.
        stop: set when no more work is wanted.
        finished: called with the number of items done after each, by the caller's thread.
    """
    waiting: SimpleQueue[tuple[int, Item]] = SimpleQueue()
    for pair in enumerate(items):
        waiting.put(pair)
    done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

    def loop() -> None:
        while not stop.is_set():
            try:
                index, item = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((index, work(item), None))
            except BaseException as error:
                done.put((index, None, error))
                return

    count = min(max(workers, 1), len(items))
    threads = [threading.Thread(target=loop, daemon=True) for _ in range(count)]
    results: list[Any] = [None] * len(items)
    try:
        for thread in threads:
            thread.start()
        for number in range(1, len(items) + 1):
            index, results[index], error = _next(done)
            if error is not None:
                raise error
            if finished is not None:
                finished(number)
    finally:
        stop.set()
        until = time.monotonic() + GRACE_SECONDS
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
    return results


def _next(done: SimpleQueue[Any]) -> Any:
    """Wait for an entry, awake often enough to notice an interrupt that another thread got."""
    while True:
        try:
            return done.get(timeout=0.2)
        except Empty:
            continue
