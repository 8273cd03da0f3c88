"""The pictures of a pair as a browser is given them."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from benchmark.datasets import Dataset
from benchmark.images import read_image
from generation.reviewing.queue import Item
from generation.verifying import edited_picture
from generation.verifying.outside import (
    DEFAULT_LARGEST,
    LARGEST,
    VISIBLE,
    edited_region,
    smoothed_difference,
)
from generation.work import Work, base_bytes

# What every browser shows as this project's decoder does; others are sent as PNG.
_SHOWN = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}
_INSIDE, _BEYOND = (0, 114, 178), (213, 94, 0)


@dataclass(frozen=True)
class File:
    """Content and media type."""

    content: bytes
    media_type: str


def shown(data: bytes, name: str) -> File:
    """A picture file as it is, or as PNG where browsers may not know its format."""
    for start, media_type in _SHOWN.items():
        if data.startswith(start):
            return File(data, media_type)
    return _png(read_image(data, name=name))


def base_file(source: Dataset, item: Item) -> File:
    """The base picture."""
    return shown(base_bytes(source, item.edit.base), item.edit.base)


def edited_file(work: Work, item: Item) -> File:
    """The edited picture; ``UserError`` where it is not the one that the log names."""
    edited_picture(work, item.record)
    return File(work.image(item.edit.id).read_bytes(), "image/png")


def reference_file(source: Dataset, item: Item, number: int) -> File:
    """A picture that the model was shown; ``IndexError`` where there is none of that number."""
    name = item.edit.references[number]
    return shown(base_bytes(source, name), name)


def base_picture(source: Dataset, item: Item) -> Image.Image:
    """The base picture, decoded."""
    return read_image(base_bytes(source, item.edit.base), name=item.edit.base)


def difference_file(work: Work, source: Dataset, item: Item) -> File:
    """The base picture in pale grey, what changed in colour: blue in the edited region, else red.

    The stronger the change, the stronger the colour.
    """
    base, edited = base_picture(source, item), edited_picture(work, item.record)
    difference = smoothed_difference(base, edited)
    largest = LARGEST.get(item.edit.attribute_kind, DEFAULT_LARGEST)
    region = edited_region(difference, largest)
    size = difference.shape[::-1]
    grey = np.asarray(base.convert("L").resize(size, Image.Resampling.BILINEAR), np.float32)
    ground = np.repeat((140 + grey * 0.4)[..., None], 3, axis=2)
    strength = np.clip(0.35 + difference / max(float(difference.max()), 1e-6) * 0.65, 0, 1)
    alpha = np.where(difference > VISIBLE, strength, 0.0)[..., None]
    colour = np.where(region[..., None], np.array(_INSIDE), np.array(_BEYOND))
    picture = ground * (1 - alpha) + colour * alpha
    return _png(Image.fromarray(picture.round().astype(np.uint8)))


def _png(image: Image.Image) -> File:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return File(stream.getvalue(), "image/png")
