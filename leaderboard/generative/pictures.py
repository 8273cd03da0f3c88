"""Pictures inside a page, as ``data:`` addresses."""

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from PIL import Image

from benchmark.images import read_image
from leaderboard.pages.pictures import SHOWABLE

if TYPE_CHECKING:
    from benchmark.generative.compare import Side

_THUMBNAIL = 96
_MEAN = 144
_FADED = 0.55
"""How much of its contrast the mean image keeps under a heat map, so that colours carry."""


def showable(side: "Side") -> bool:
    """Whether a set's pictures are embedded unless asked otherwise: a folder, or a CC0 dataset."""
    about = side.images.about
    return about["kind"] == "folder" or about["dataset"] in SHOWABLE


def address(image: Image.Image, kind: str = "PNG", **options: Any) -> Markup:
    """An image as a ``data:`` address."""
    buffer = io.BytesIO()
    image.save(buffer, format=kind, **options)
    text = base64.b64encode(buffer.getvalue()).decode()
    return Markup(f"data:image/{kind.lower()};base64,{text}")


def thumbnail(side: "Side", place: int) -> Markup:
    """The image at a place of a set's ids, small."""
    image = read_image(side.images.encoded(place), name=side.images.describe(place))
    image.thumbnail((_THUMBNAIL, _THUMBNAIL))
    return address(image, "WEBP", quality=72, method=4)


def mean_picture(side: "Side") -> Markup:
    """The mean image of a set, in its colours."""
    return address(_scaled(side.scores.mean_picture), "WEBP", quality=80, method=4)


def mean_ground(real: "Side", generated: "Side") -> Markup:
    """The mean of both sets' mean images, gray and faded: the ground of heat maps."""
    both = (real.scores.mean_picture + generated.scores.mean_picture) / 2
    gray = both.mean(axis=2, keepdims=True).repeat(3, axis=2)
    return address(_scaled(255 - _FADED * (255 - gray)).convert("L"), "WEBP", quality=80, method=4)


def _scaled(values: np.ndarray) -> Image.Image:
    image = Image.fromarray(np.rint(values).astype(np.uint8))
    return image.resize((_MEAN, _MEAN), Image.Resampling.BICUBIC)
