"""What every judge's ``make(options, context)`` is given."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class JudgeOptions:
    """How a judge is asked; a judge reads what concerns it.

    Attributes:
        model: name or folder of a model.
        base_url: address of a server.
        seed: of everything that a judge draws.
        concurrency: latents judged at once.
        timeout: seconds that one call may take.
        retries: times that a failed call is made again.
        max_calls: most calls of this run that are sent; None for any number. What a transcript
            answers is no call.
        transcript: file that gets every exchange and answers those it holds already.
        replay: file that answers everything; nothing is sent.
        temperature: of a model's sampling.
        max_tokens: longest reply of a model.
    """

    model: str | None = None
    base_url: str | None = None
    seed: int = 0
    concurrency: int = 1
    timeout: float = 120.0
    retries: int = 5
    max_calls: int | None = None
    transcript: Path | None = None
    replay: Path | None = None
    temperature: float = 0.0
    max_tokens: int = 1024


@dataclass(frozen=True)
class JudgeContext:
    """What is known of the rows that are judged.

    Attributes:
        ids: N names, in the order of the codes.
        kind: ``"image"`` or ``"text"``.
        concepts: A names; empty where nothing is annotated.
        annotations: bool (N, A).
    """

    ids: Sequence[str]
    kind: str = "image"
    concepts: tuple[str, ...] = ()
    annotations: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool), repr=False)
