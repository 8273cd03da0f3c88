"""Blocks of images on their way to the cache: made here at once, or elsewhere and awaited."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PIL import Image

from benchmark.encoders import Encoder
from benchmark.generative.cache import RowCache
from benchmark.images import read_image

if TYPE_CHECKING:
    from benchmark.generative.scorer import RaScorer

Parts = Mapping[str, np.ndarray]
Work = Callable[[Sequence[Image.Image]], Parts]


@dataclass(frozen=True)
class Picture:
    """An image that waits for a full batch: its file's bytes, and what to call it."""

    encoded: bytes
    label: str

    @cached_property
    def image(self) -> Image.Image:
        """Decoded when it is first asked for; ``ImageReadError`` where it cannot be."""
        return read_image(self.encoded, name=self.label)


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

    Blocks hold ``rows`` different images in the order in which they come, in the cache or not. One
    with any image that is not there is made whole, so that no image's place in its block depends
    on what was made before; what the cache holds stays. Blocks enter it in the order in which they
    were begun, wherever they are made.
    """

    def __init__(self, cache: RowCache, start: Start, rows: int, ahead: int) -> None:
        self.cache, self.start, self.rows, self.ahead = cache, start, rows, ahead
        self._waiting: dict[bytes, Picture] = {}
        self._at_work: deque[tuple[list[bytes], Callable[[], Parts]]] = deque()
        self._seen: set[bytes] = set()

    def lacks(self, digest: bytes) -> bool:
        """Whether the image is neither in the cache nor in a block."""
        return digest not in self.cache and digest not in self._seen

    def add(self, digest: bytes, picture: Picture) -> None:
        """Take the next image; one that came before counts once."""
        if digest in self._seen:
            return
        self._seen.add(digest)
        self._waiting[digest] = picture
        if len(self._waiting) >= self.rows:
            self._begin()
            self._finish(self.ahead)

    def flush(self) -> None:
        if self._waiting:
            self._begin()
        self._finish(0)

    def _begin(self) -> None:
        digests, pictures = list(self._waiting), list(self._waiting.values())
        self._waiting.clear()
        if any(digest not in self.cache for digest in digests):
            self._at_work.append((digests, self.start(pictures)))

    def _finish(self, leave: int) -> None:
        while len(self._at_work) > leave:
            digests, ready = self._at_work.popleft()
            parts = ready()
            new = [row for row, digest in enumerate(digests) if digest not in self.cache]
            self.cache.add(
                [digests[row] for row in new], {name: rows[new] for name, rows in parts.items()}
            )
