"""Tasks on Ray: another machine, or many; the extra ``ray`` brings it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from benchmark.errors import UserError
from benchmark.records import environment
from benchmark.runs import Prepared
from benchmark.sweep.executors import Failed, call
from benchmark.workers import Setting

if TYPE_CHECKING:
    from PIL import Image

A = TypeVar("A")
R = TypeVar("R")

RETRIES = 3
"""How often Ray starts a task again whose process ended."""


class RayExecutor:
    """Tasks of one processor each on the connected Ray; a task whose process ends is repeated."""

    # Ray repeats a lost task itself, and no other is lost with it
    tries = 1

    def __init__(self, slots: int) -> None:
        import ray

        self.slots = max(1, slots)
        self._prepared: dict[Setting, Any] = {}
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_remote)
        now = environment()
        self._code = (now["suite_version"], now["commit"])

    def add(self, setting: Setting, prepared: Prepared) -> None:
        import ray

        # features go through the object store: a node needs neither the pictures nor the cache
        self._prepared[setting] = ray.put(without_pictures(prepared))

    def submit(
        self, setting: Setting, work: Callable[[Prepared, A], R], argument: A
    ) -> Future[R | Failed]:
        reference = self._task.remote(self._prepared[setting], work, argument, self._code)
        future: Future[R | Failed] = reference.future()
        return future

    def crashed(self, error: BaseException) -> str | None:
        from ray.exceptions import RayError

        if not isinstance(error, RayError):
            return None
        first = next(iter(str(error).splitlines()), "")
        return f"its Ray process ended {RETRIES + 1} times: {type(error).__name__} {first}".rstrip()

    def close(self) -> None:
        self._prepared.clear()


def _remote(prepared: Prepared, work: Callable[..., Any], argument: Any, code: Any) -> Any:
    now = environment()
    here = (now["suite_version"], now["commit"])
    if here != code:
        line = f"a Ray node runs suite {here}, the driver {code}; install the same on all nodes"
        return Failed(line, "")
    return call(lambda: prepared, work, argument)


class _NoPictures:
    """Stands where pictures are not at hand."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, index: int) -> Image.Image:
        raise UserError(f"picture {index} is not at hand in this process")

    def __iter__(self) -> Iterator[Image.Image]:
        return (self[index] for index in range(self._rows))

    def encoded(self, index: int) -> bytes:
        raise UserError(f"picture {index} is not at hand in this process")


def without_pictures(prepared: Prepared) -> Prepared:
    """The same features and labels, with a dataset that has no pictures: small enough to send."""
    data = prepared.dataset
    light = replace(data, images=_NoPictures(len(data.images)), pairs=None, activations=None)
    features = {part: np.ascontiguousarray(value) for part, value in prepared.features.items()}
    return replace(prepared, dataset=light, features=features)
