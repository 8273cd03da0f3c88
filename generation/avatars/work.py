"""The part of a build that is done in worker processes: draw, compare, encode, hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from PIL import Image

from benchmark.images import pixel_sha256
from benchmark.processes import end_with_parent
from generation.avatars.render import changed_pixels, draw, encode_png
from generation.avatars.space import Options
from generation.avatars.styles import STYLES

_CHUNK = 16


@dataclass(frozen=True)
class Drawn:
    """One finished picture."""

    png: bytes
    digest: str


@dataclass(frozen=True)
class Job:
    """Avatars of one style to draw: one, or the two of a pair."""

    label: str
    options: tuple[Options, ...]


@dataclass(frozen=True)
class Result:
    """The pictures of a job, and for a pair how many pixels visibly differ."""

    pictures: tuple[Drawn, ...]
    changed: int


def run(job: Job) -> Result:
    """Draw one job."""
    spec = STYLES[job.label]
    images = [draw(spec.style, spec.recolour, options) for options in job.options]
    changed = int(changed_pixels(images[0], images[-1]).sum())
    return Result(tuple(_finish(image) for image in images), changed)


def _finish(image: Image.Image) -> Drawn:
    return Drawn(encode_png(image), pixel_sha256(image))


def _run_all(jobs: Sequence[Job]) -> list[Result]:
    return [run(job) for job in jobs]


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=end_with_parent)


class Workers:
    """Runs jobs in order, in this process (1) or in several; the results are the same."""

    def __init__(self, count: int) -> None:
        # Fresh processes: nothing of the caller's threads or state is inherited.
        self._pool = _pool(count) if count > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Results in the order of ``jobs``, each as soon as it and those before it are there."""
        chunks = [jobs[start : start + _CHUNK] for start in range(0, len(jobs), _CHUNK)]
        finished: Iterable[list[Result]] = (
            map(_run_all, chunks) if self._pool is None else self._pool.map(_run_all, chunks)
        )
        for results in finished:
            yield from results
