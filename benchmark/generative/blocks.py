"""Blocks of images on their way to the cache: made here at once, or elsewhere and awaited."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PIL import Image

from benchmark.encoders import Encoder
from benchmark.generative.cache import RowCache

if TYPE_CHECKING:
    from benchmark.generative.scorer import RaScorer

Parts = Mapping[str, np.ndarray]
Work = Callable[[Sequence[Image.Image]], Parts]


@dataclass(frozen=True)
class Picture:
    """An image that waits for a full batch: decoded, as its file's bytes, and what to call it."""

    image: Image.Image
    encoded: bytes
    label: str


Start = Callable[[Sequence[Picture]], Callable[[], Parts]]
"""Begins work on a block of images; what it gives waits for the result."""


class Elsewhere(Protocol):
    """Does the work of this process in others, with the same bytes as result.

    Attributes:
        ahead: blocks that may be at work at once.
    """

    ahead: int

    def scores(self, scorer: "RaScorer") -> Start:
        """Scores of blocks, as ``score_work``."""
        ...

    def features(self, encoder: Encoder) -> Start:
        """Features of blocks, as ``feature_work``."""
        ...


def at_once(work: Work, pictures: Sequence[Picture]) -> Callable[[], Parts]:
    """The work of a block done at once, in this process."""
    parts = work([one.image for one in pictures])
    return lambda: parts


class BlockQueue:
    """Images that wait for a full block, blocks at work, and the cache that results go to.

    Blocks enter the cache in the order in which they were begun, wherever they are made.
    """

    def __init__(self, cache: RowCache, start: Start, rows: int, ahead: int) -> None:
        self.cache, self.start, self.rows, self.ahead = cache, start, rows, ahead
        self._waiting: dict[bytes, Picture] = {}
        self._at_work: deque[tuple[list[bytes], Callable[[], Parts]]] = deque()
        self._asked: set[bytes] = set()

    def wants(self, digest: bytes) -> bool:
        return digest not in self.cache and digest not in self._asked

    def add(self, digest: bytes, picture: Picture) -> None:
        self._asked.add(digest)
        self._waiting[digest] = picture
        if len(self._waiting) >= self.rows:
            self._begin()
            self._finish(self.ahead)

    def flush(self) -> None:
        if self._waiting:
            self._begin()
        self._finish(0)

    def _begin(self) -> None:
        self._at_work.append((list(self._waiting), self.start(list(self._waiting.values()))))
        self._waiting.clear()

    def _finish(self, leave: int) -> None:
        while len(self._at_work) > leave:
            digests, ready = self._at_work.popleft()
            self.cache.add(digests, ready())
            self._asked.difference_update(digests)
