"""A picture as it is put into a request."""

import base64
import io

from PIL import Image

from benchmark.images import FORMATS, read_image

MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
"""Formats that every server takes; others are sent as PNG."""

_ORIENTATION = 0x0112
_PLAIN_MODES = {"RGB", "L"}


def data_url(data: bytes, name: str = "picture") -> str:
    """A picture as a ``data:`` address with its media type.

    PNG and JPEG of 8-bit gray or RGB go as they are. Everything else (WebP, GIF, transparency,
    16 bits, CMYK, a picture that its EXIF data turn) goes as the PNG that the project's decoder
    makes of it, so that the model sees what the encoder saw.

    Raises:
        ImageReadError: bytes that are no picture.
    """
    kind = _plain_format(data)
    if kind is None:
        stream = io.BytesIO()
        read_image(data, name=name).save(stream, "PNG")
        data, kind = stream.getvalue(), "PNG"
    return f"data:{MEDIA_TYPES[kind]};base64,{base64.b64encode(data).decode('ascii')}"


def _plain_format(data: bytes) -> str | None:
    """``PNG`` or ``JPEG`` for a picture that needs no conversion."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            turned = image.getexif().get(_ORIENTATION, 1) != 1
            plain = image.mode in _PLAIN_MODES and "transparency" not in image.info
            found = image.format if plain and not turned else None
    # whatever a broken file raises: the decoder says what is wrong with it
    except Exception:
        return None
    return found if found in MEDIA_TYPES else None
