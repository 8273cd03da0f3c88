"""What is known of a dataset before it is on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmark.datasets.base import Dataset


@dataclass(frozen=True)
class Source:
    """A dataset known by name.

    Attributes:
        name: the name that ``load_dataset`` takes.
        summary: what it holds, in one sentence.
        licence: SPDX identifier, or the terms in a few words.
        citation: how to cite it, in one sentence.
        load: opens it from a root, or from its usual place for None.
        fetch: gets it to its usual place or says how to; returns one line for the user.
        options: opens it with what stands after a colon in its name, from a root or its usual
            place; None where it takes nothing.
        at: opens it at a revision, a tag or a full hash, getting it where it is not here; None
            where there is one revision only.
    """

    name: str
    summary: str
    licence: str
    citation: str
    load: Callable[[Path | None], Dataset]
    fetch: Callable[[], str]
    options: Callable[[str, Path | None], Dataset] | None = None
    at: Callable[[str], Dataset] | None = None
