"""Work for executors in tests: it leaves a line whenever it begins, and may end its process."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark.datasets import load_dataset
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


def killed_once(log: Path, line: str) -> None:
    """Leave a line; the first process that comes here is killed."""
    first = line not in (log.read_text().splitlines() if log.exists() else [])
    note(log, line)
    if first:
        os.kill(os.getpid(), signal.SIGKILL)


def die_once(prepared: Any, argument: tuple[Path, int]) -> int:
    """As ``square``, but the first time the process is killed."""
    log, number = argument
    killed_once(log, str(number))
    return number * number


def dying_once(prepared: Any, argument: tuple[Path, Callable[..., Any], Any]) -> Any:
    """Any other work, but the first time the process is killed."""
    log, work, its_argument = argument
    killed_once(log, "begun")
    return work(prepared, its_argument)


class DyingPictures:
    """Pictures of which one, when first read, has the process killed."""

    def __init__(self, images: Any, row: int, log: Path) -> None:
        self._images, self._row, self._log = images, row, log

    def __len__(self) -> int:
        return len(self._images)

    def encoded(self, index: int) -> bytes:
        if index == self._row:
            killed_once(self._log, f"picture {index}")
        return bytes(self._images.encoded(index))


def dying_dataset(folder: Path, row: int, log: Path) -> Any:
    """A dataset with such pictures."""
    dataset = load_dataset(folder)
    return replace(dataset, images=DyingPictures(dataset.images, row, log))


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
