"""Sizes that the model works at."""

from __future__ import annotations

from PIL import Image

from benchmark.errors import UserError

MAX_PIXELS = 1024 * 1024
MIN_SIDE = 64
MAX_ASPECT = 8.0


def canvas(size: tuple[int, int], multiple: int) -> tuple[int, int]:
    """Width and height to work at: those of the picture, as nearly as the model can.

    Both are multiples of ``multiple`` (512 at most), at least ``MIN_SIDE``, together at most
    ``MAX_PIXELS``; the longer is at most ``MAX_ASPECT`` times the shorter.

    Raises:
        UserError: a picture too long and thin.
    """
    width, height = size
    if max(width, height) > MAX_ASPECT * min(width, height):
        raise UserError(f"shape: {width} x {height} is longer than {MAX_ASPECT:.0f} to 1")
    scale = min(1.0, (MAX_PIXELS / (width * height)) ** 0.5)
    scale = max(scale, MIN_SIDE / min(width, height))

    def fitted(side: float) -> int:
        least = -(-MIN_SIDE // multiple) * multiple
        return max(least, round(side / multiple) * multiple)

    wide, high = fitted(width * scale), fitted(height * scale)
    # rounding down may have made the shorter side too short
    if wide > MAX_ASPECT * high:
        high += multiple
    if high > MAX_ASPECT * wide:
        wide += multiple
    while wide * high > MAX_PIXELS:  # rounding up may have gone over
        if wide >= high:
            wide -= multiple
        else:
            high -= multiple
    return wide, high


def fit(image: Image.Image, multiple: int) -> Image.Image:
    """The whole picture at its canvas: the pipeline would crop what is over a multiple."""
    size = canvas(image.size, multiple)
    return image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)
