"""Work for executors in tests: it leaves a line whenever it begins, and may end its process."""

import os
import signal
from pathlib import Path
from typing import Any

from benchmark.errors import UserError


def note(log: Path, text: str) -> None:
    """Append a line, whole even where several processes write."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


def square(prepared: Any, argument: tuple[Path, int]) -> int:
    """The square of a number, on a dataset that is there."""
    log, number = argument
    note(log, str(number))
    assert prepared.features["match"].shape[0] > 0
    return number * number


def die_once(prepared: Any, argument: tuple[Path, int]) -> int:
    """As ``square``, but the first time the process is killed."""
    log, number = argument
    first = str(number) not in (log.read_text().split() if log.exists() else [])
    note(log, str(number))
    if first:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_die(prepared: Any, argument: tuple[Path, int]) -> int:
    """Ends its process every time."""
    note(*argument[:1], str(argument[1]))
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def refuse(prepared: Any, argument: Any) -> int:
    """Raises what a user can cause."""
    raise UserError("no such thing;\nuse another")


def break_down(prepared: Any, argument: Any) -> int:
    """Raises what only a bug can cause."""
    raise KeyError("lost")
