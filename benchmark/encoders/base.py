"""What an encoder is, and what a result records of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from PIL import Image


class Encoder(Protocol):
    """Turns images into feature vectors, at one fixed batch shape.

    A row of ``encode`` depends on its own image only: not on the other images of the call, their
    number or order, or how many threads run. ``encode`` may be called by several threads at once.
    """

    @property
    def name(self) -> str:
        """Name in the registry."""
        ...

    @property
    def dim(self) -> int:
        """Length D of a feature vector."""
        ...

    @property
    def weights_sha256(self) -> str:
        """Hex SHA-256 of the weights file."""
        ...

    @property
    def preprocessing(self) -> str:
        """What is done to a decoded image, in one line that ends in a version."""
        ...

    @property
    def batch_size(self) -> int:
        """Images in every forward pass; a shorter batch is padded up to it."""
        ...

    @property
    def runtime(self) -> str:
        """What else can change the last bits: library version and processor features."""
        ...

    def encode(self, images: Sequence[Image.Image]) -> np.ndarray:
        """Features of RGB images: float32 (len(images), D)."""
        ...


@dataclass(frozen=True)
class EncoderInfo:
    """What identifies an encoder in a cache key and in a result record."""

    name: str
    weights_sha256: str
    preprocessing: str
    batch_size: int
    dim: int
    config_sha256: str | None = None
    """Hash of the model's settings, where they are a file beside the weights."""
    revision: str | None = None
    """Commit of the Hub repository that the weights are from."""

    @classmethod
    def of(cls, encoder: Encoder) -> "EncoderInfo":
        """The identity of ``encoder``."""
        return cls(
            name=encoder.name,
            weights_sha256=encoder.weights_sha256,
            preprocessing=encoder.preprocessing,
            batch_size=encoder.batch_size,
            dim=encoder.dim,
            config_sha256=getattr(encoder, "config_sha256", None),
            revision=getattr(encoder, "revision", None),
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON values; those that do not apply are left out."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def center_square(image: Image.Image, side: int) -> Image.Image:
    """The central square of an RGB image, resampled to ``side`` × ``side`` pixels.

    The square is as large as the shorter side allows. The filter is Pillow's bicubic, which
    smooths when it shrinks. An image of that very size is returned as it is.
    Another mode than RGB is a ``ValueError``: ``benchmark.images.read_image`` converts.
    """
    if image.mode != "RGB":
        raise ValueError(f"an encoder takes RGB images, not mode {image.mode}")
    width, height = image.size
    if (width, height) == (side, side):
        return image
    edge = min(width, height)
    left, top = (width - edge) / 2, (height - edge) / 2
    # Resampling the square alone, not the whole image, bounds the memory for a long thin one.
    box = (left, top, left + edge, top + edge)
    return image.resize((side, side), Image.Resampling.BICUBIC, box=box)
