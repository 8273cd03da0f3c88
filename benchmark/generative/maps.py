"""Running sums of patch maps: what R-SaD needs of any number of images, in bounded memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmark.metrics.arrays import FloatArray, InputError, IntArray

MAX_BLOCKS = 512
"""Most blocks that the images of one set are dealt into."""

_ONE = 2**30
_LIMIT = 1.001


class MapSums:
    """Sums of the maps of one set of images, kept apart for up to ``MAX_BLOCKS`` blocks of images.

    Images are dealt into blocks of one size by a seeded permutation of their indices, so that
    blocks can be redrawn and relabelled as images would be; up to ``MAX_BLOCKS`` images each is a
    block of its own. Values are rounded to 2⁻³⁰, below the precision of float32 scores, and summed
    as integers: sums do not depend on the order or the batches in which images come.

    Args:
        images: number of images of the set.
        shape: (A, H, W).
        seed: of the dealing.
    """

    def __init__(self, images: int, shape: Sequence[int], seed: int = 0) -> None:
        self.images = int(images)
        self.shape = tuple(int(side) for side in shape)
        self.block_size = 1
        # powers of two, so that two sets of different size can be brought to one block size
        while self.images > self.block_size * MAX_BLOCKS:
            self.block_size *= 2
        order = np.random.default_rng([seed, self.images]).permutation(self.images)
        self._block = order // self.block_size
        self.counts: IntArray = np.zeros(-(-self.images // self.block_size), np.int64)
        self._sums = np.zeros((len(self.counts), *self.shape), np.int64)

    @classmethod
    def of(cls, maps: Any, seed: int = 0) -> "MapSums":
        """The sums of maps (N, A, H, W) in [−1, 1]."""
        array = maps_checked(maps, "maps")
        sums = cls(len(array), array.shape[1:], seed)
        sums.add(0, array)
        return sums

    def add(self, start: int, maps: np.ndarray) -> None:
        """Add the maps (B, A, H, W) of images ``start`` … ``start + B − 1``, each once in all.

        Raises:
            InputError: another shape, or a value that is not finite or outside [−1, 1].
        """
        if maps.shape[1:] != self.shape or start + len(maps) > self.images:
            raise InputError(f"maps of shape {maps.shape} do not fit sums of {self.shape}")
        if not (np.abs(maps) <= _LIMIT).all():
            raise InputError("maps: a value is not finite or outside -1 to 1")
        whole = np.rint(maps.astype(np.float64) * _ONE).astype(np.int64)
        blocks = self._block[start : start + len(maps)]
        np.add.at(self.counts, blocks, 1)
        for block, one in zip(blocks, whole, strict=True):
            self._sums[block] += one

    @property
    def seen(self) -> int:
        """Images added so far."""
        return int(self.counts.sum())

    def mean(self) -> FloatArray:
        """Mean map, float64 (A, H, W)."""
        return np.asarray(self._sums.sum(axis=0) / (self.seen * _ONE))

    def blocks(self, size: int) -> tuple[FloatArray, IntArray]:
        """Sums float64 (blocks, A, H, W) and counts (blocks,) of blocks of about ``size`` images.

        ``size`` is ``block_size`` times a power of two; blocks without images are left out.
        """
        step = size // self.block_size
        starts = np.arange(0, len(self.counts), step)
        counts = np.add.reduceat(self.counts, starts)
        sums = np.add.reduceat(self._sums, starts, axis=0) / _ONE
        return sums[counts > 0], counts[counts > 0]


def maps_checked(maps: Any, name: str) -> np.ndarray:
    """Maps (N, A, H, W) as an array of numbers.

    Raises:
        InputError: not four-dimensional, an empty side, not numbers, not finite.
    """
    array = np.asarray(maps)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found dtype {array.dtype}")
    if array.ndim != 4 or 0 in array.shape:
        raise InputError(
            f"{name}: expected shape (images, attributes, height, width), found {array.shape}"
        )
    for row, one in enumerate(array):
        if not np.isfinite(one).all():
            raise InputError(f"{name}: image {row} holds a value that is not finite")
    return array
