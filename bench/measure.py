"""Wall time and peak memory of one function, each in its own process where memory counts."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timing:
    """Best of several runs, in seconds, with every run."""

    best: float
    runs: tuple[float, ...]


def timed(call: Callable[[], Any], repeats: int = 5, budget: float = 20.0) -> Timing:
    """Time ``call`` up to ``repeats`` times after a warm-up, stopping once over ``budget`` s."""
    call()
    runs: list[float] = []
    while len(runs) < repeats and sum(runs) < budget:
        start = time.perf_counter()
        call()
        runs.append(time.perf_counter() - start)
    return Timing(min(runs), tuple(runs))


def peak_bytes(work: Callable[..., None], *arguments: Any) -> int:
    """Highest resident memory of a new process that imports the suite and runs ``work``."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        peak: int = receiver.recv()
    except EOFError:
        raise RuntimeError(f"{work.__name__} failed in its own process") from None
    finally:
        process.join()
    return peak


def _run(sender: Any, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    work(*arguments)
    sender.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def read_seconds(size_bytes: int) -> float:
    """Seconds to read that many bytes once from memory, at the speed measured now."""
    block = np.ones(64 << 20, np.uint8).view(np.uint64)
    speed = block.nbytes / timed(lambda: int(block.max()), 7).best
    return size_bytes / speed
