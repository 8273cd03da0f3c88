"""One edit from its pictures to a PNG, wherever it is done."""

from __future__ import annotations

import hashlib
import io
import json
import time
from dataclasses import dataclass
from typing import Protocol

from PIL import Image

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from benchmark.images import read_image
from generation.devices import out_of_memory
from generation.editing.canvas import fit
from generation.editing.faults import fault
from generation.work import PlannedEdit, base_bytes


class Edits(Protocol):
    """What does the editing."""

    @property
    def scheduler(self) -> str: ...

    @property
    def precision(self) -> str: ...

    @property
    def multiple(self) -> int: ...

    def edit(self, images: list[Image.Image], prompt: str, seed: int) -> Image.Image: ...


@dataclass(frozen=True)
class Job:
    """An edit to try, for which time, with which seed."""

    edit: PlannedEdit
    attempt: int
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What came of a job: a PNG, or why there is none.

    Attributes:
        error: a kind stands before the first colon.
        broken: whether the model failed, rather than the picture it gave.
        scheduler, precision: of the pipeline that did it.
    """

    job: Job
    png: bytes | None
    width: int | None
    height: int | None
    seconds: float
    error: str | None
    broken: bool
    scheduler: str
    precision: str


def seed_of(seed: int, edit: str, attempt: int) -> int:
    """Seed of an edit's noise: its own for every edit and attempt, below 2**53."""
    digest = hashlib.sha256(json.dumps([seed, edit, attempt]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


def perform(editor: Edits, source: Dataset, job: Job) -> Outcome:
    """Do one edit; whatever fails is in the outcome."""
    start = time.monotonic()
    png = size = error = None
    broken = False
    try:
        names = (job.edit.base, *job.edit.references)
        images = [read_image(base_bytes(source, name), name=name) for name in names]
        base = fit(images[0], editor.multiple)
        edited = editor.edit(images, job.edit.prompt, job.seed).convert("RGB")
        size = edited.size
        error = fault(edited, base)
        png = None if error else _png(edited)
    except UserError as problem:
        error = f"picture: {problem}"
    except MemoryError:
        error, broken = "memory: not enough", True
    except (RuntimeError, ValueError, TypeError, IndexError, OSError, ArithmeticError) as problem:
        kind = "memory" if out_of_memory(problem) else type(problem).__name__
        error, broken = f"{kind}: {problem}", True
    return Outcome(
        job,
        png,
        size[0] if size else None,
        size[1] if size else None,
        time.monotonic() - start,
        " ".join(error.split())[:1000] if error else None,
        broken,
        editor.scheduler,
        editor.precision,
    )


def _png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
