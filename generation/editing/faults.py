"""Edits that are none: a black picture, or the one that went in."""

from __future__ import annotations

import numpy as np
from PIL import Image

BLACK = 8
"""Greatest value of a picture that counts as black; a plain one spans no more than this."""

CHANGED = 12.0
BLOCK = 4
STRAY = 2
"""An edit has changed something where more than ``STRAY`` of its 4 x 4 pixel blocks differ by more
than ``CHANGED`` of 255 on average: the eye of a bird is enough. Averaging lets pass what an
autoencoder does to fine texture; what it does beyond that is left to the classifier to notice."""


def fault(edited: Image.Image, base: Image.Image) -> str | None:
    """Why an edited picture is none, or None; ``base`` is what the model was given."""
    pixels = np.asarray(edited.convert("RGB"), np.float32)
    if pixels.max() <= BLACK:
        return "black: the picture is black, as a safety filter leaves it"
    if pixels.max() - pixels.min() <= BLACK:
        return "blank: the picture has one colour"
    if changed_blocks(edited, base) <= STRAY:
        return "unchanged: the picture is the one that went in"
    return None


def changed_blocks(edited: Image.Image, base: Image.Image) -> int:
    """How many blocks differ, the base picture brought to the edited one's size."""
    if base.size != edited.size:
        base = base.resize(edited.size, Image.Resampling.LANCZOS)
    difference = _blocks(edited) - _blocks(base)
    return int((np.abs(difference).max(-1) > CHANGED).sum())


def _blocks(image: Image.Image) -> np.ndarray:
    """float32 (rows, columns, 3): means of whole blocks."""
    pixels = np.asarray(image.convert("RGB"), np.float32)
    rows, columns = (max(side // BLOCK, 1) for side in pixels.shape[:2])
    pixels = pixels[: rows * BLOCK, : columns * BLOCK]
    tall, wide = pixels.shape[0] // rows, pixels.shape[1] // columns
    blocks: np.ndarray = pixels.reshape(rows, tall, columns, wide, 3).mean((1, 3))
    return blocks
