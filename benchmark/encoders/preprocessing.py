"""From a decoded picture to a network's input, in the way the model was trained with.

Resizing and cropping are Pillow's, and every pixel value is looked up in a table of 256 numbers a
channel: the same picture gives the same bits on every machine and with any version of the model's
own library, whose transform the tests compare with.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from PIL import Image

VERSION = 1
FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
# A picture longer than this is cut before it is resized: whole, it could need gigabytes.
LONGEST = 8


@dataclass(frozen=True)
class Preprocessing:
    """Resize, crop the centre, normalise.

    Attributes:
        resize: "shortest": the shorter side becomes ``side``, the shape stays; "squash": both do.
        side: pixels after resizing.
        crop: side of the central square that is kept, at most ``side``.
        interpolation: a key of ``FILTERS``; it smooths when it shrinks.
        mean, std: by channel (R, G, B), for values in [0, 1].
        odd: where an odd number of pixels is cut, whether the half is rounded "down" or
            "half-even" (libraries differ).
    """

    resize: Literal["shortest", "squash"]
    side: int
    crop: int
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    odd: Literal["down", "half-even"]

    def __post_init__(self) -> None:
        if self.interpolation not in FILTERS:
            known = ", ".join(FILTERS)
            raise ValueError(f"interpolation {self.interpolation!r}; expected one of {known}")
        if not 1 <= self.crop <= self.side:
            raise ValueError(f"crop is {self.crop}; expected 1 to {self.side}, the resized side")
        if len(self.mean) != 3 or len(self.std) != 3 or not all(value > 0 for value in self.std):
            raise ValueError("mean and std need three numbers each, std above 0")

    def __str__(self) -> str:
        mean, std = (" ".join(map(repr, values)) for values in (self.mean, self.std))
        steps = [f"{self.resize} {self.side}, {self.interpolation}"]
        if self.resize == "shortest" or self.crop != self.side:
            steps.append(f"center {self.crop} ({self.odd})")
        steps.append(f"(rgb / 255 - [{mean}]) / [{std}]")
        return f"{', '.join(steps)}; v{VERSION}"

    def pixels(self, image: Image.Image) -> np.ndarray:
        """The input for an RGB image: float32 (3, crop, crop).

        Another mode than RGB is a ``ValueError``: ``benchmark.images.read_image`` converts.
        """
        if image.mode != "RGB":
            raise ValueError(f"an encoder takes RGB images, not mode {image.mode}")
        rgb = np.asarray(self._cropped(image))
        result = np.empty((3, self.crop, self.crop), dtype=np.float32)
        for channel, table in enumerate(self._tables):
            np.take(table, rgb[:, :, channel], out=result[channel])
        return result

    @cached_property
    def _tables(self) -> np.ndarray:
        """Float32 (3, 256): the input value of each pixel value."""
        levels = np.arange(256) / 255
        mean, std = np.array(self.mean)[:, None], np.array(self.std)[:, None]
        return ((levels - mean) / std).astype(np.float32)

    def _cropped(self, image: Image.Image) -> Image.Image:
        width, height = image.size
        if self.resize == "squash":
            size = (self.side, self.side)
        else:
            short, long = min(width, height), max(width, height)
            if long > LONGEST * short:
                return self._square(image)
            longer = int(self.side * long / short)
            size = (self.side, longer) if width <= height else (longer, self.side)
        if size != image.size:
            image = image.resize(size, FILTERS[self.interpolation])
        left, top = (self._offset(length - self.crop) for length in image.size)
        return image.crop((left, top, left + self.crop, top + self.crop))

    def _square(self, image: Image.Image) -> Image.Image:
        """The same centre, resampled alone: equal but for rounding."""
        width, height = image.size
        edge = min(width, height) * self.crop / self.side
        left, top = (width - edge) / 2, (height - edge) / 2
        box = (left, top, left + edge, top + edge)
        return image.resize((self.crop, self.crop), FILTERS[self.interpolation], box=box)

    def _offset(self, surplus: int) -> int:
        return surplus // 2 if self.odd == "down" else round(surplus / 2)
