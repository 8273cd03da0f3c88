"""The project's one image decoder: any ordinary picture in, 8-bit RGB out."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, UnidentifiedImageError

from benchmark.errors import UserError

MAX_BYTES = 256 * 2**20
MAX_PIXELS = 2**26
# Formats decoded by Pillow itself; others (EPS, for one) would start another program.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")

Source = str | os.PathLike[str] | bytes

_EXIF_ORIENTATION = 0x0112
_TRANSPOSE = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ALPHA_MODES = {"LA", "La", "PA", "RGBA", "RGBa"}


class ImageReadError(UserError):
    """A file that cannot be read as a picture; the message names it."""


def read_image(source: Source, *, name: str | None = None) -> Image.Image:
    """Decode a picture to 8-bit RGB.

    EXIF orientation is applied, alpha is composited on white, 16-bit gray keeps its full range
    (0..65535 becomes 0..255, rounded), and of an animation the first frame is taken. 16-bit
    colour is reduced by Pillow to its high byte. Colour profiles are not applied.

    Args:
        source: a path, or the file's content as bytes.
        name: what to call it in an error; by default the path, or ``<bytes>``.

    Returns:
        A loaded image of mode ``RGB``.

    Raises:
        ImageReadError: missing, empty, truncated, not a picture, or too large: more than
            ``MAX_BYTES`` bytes or ``MAX_PIXELS`` pixels (looked at before decoding).
    """
    if isinstance(source, bytes):
        return _decode(source, name or "<bytes>")
    label = name or os.fspath(source)
    return _decode(read_file(source, name=label), label)


@dataclass
class ImageReader:
    """Pictures of many sources in order; ``skipped`` fills while it is iterated.

    Yields ``(index, image)``: the index of the source, so that rows stay aligned when some are
    left out.
    """

    sources: Iterable[Source]
    on_error: Literal["raise", "skip"] = "raise"
    skipped: list[ImageReadError] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error is 'raise' or 'skip', not {self.on_error!r}")

    def __iter__(self) -> Iterator[tuple[int, Image.Image]]:
        self.skipped.clear()
        for index, source in enumerate(self.sources):
            try:
                image = read_image(source)
            except ImageReadError as error:
                if self.on_error == "raise":
                    raise
                self.skipped.append(error)
            else:
                yield index, image


def read_images(
    sources: Iterable[Source], *, on_error: Literal["raise", "skip"] = "raise"
) -> ImageReader:
    """Decode many pictures lazily, one in memory at a time.

    Args:
        sources: paths or contents.
        on_error: ``"raise"`` stops at the first unreadable one; ``"skip"`` leaves it out and
            records its error in ``.skipped`` of the returned reader.

    Returns:
        An iterable of ``(index, image)``; see ``ImageReader``.
    """
    return ImageReader(sources, on_error)


def read_file(path: str | os.PathLike[str], *, name: str | None = None) -> bytes:
    """A picture's bytes; one more than ``MAX_BYTES`` of a file that is larger.

    Args:
        path: an ordinary file, or a link to one: a pipe or device may have no end.
        name: what to call it in an error; by default the path.

    Raises:
        ImageReadError: missing, not to be read, or no ordinary file.
    """
    label = name or os.fspath(path)
    try:
        if stat.S_ISREG(Path(path).stat().st_mode):
            with Path(path).open("rb") as stream:
                # One byte past the limit tells a file that is too large without reading it all.
                return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ImageReadError(f"cannot read image {label}: {error.strerror or error}") from error
    except ValueError as error:  # a name that no file can have
        raise ImageReadError(f"cannot read image {label!r}: {error}") from error
    raise ImageReadError(f"cannot read image {label}: a pipe, device or folder, no ordinary file")


def _decode(data: bytes, label: str) -> Image.Image:
    if not data:
        raise ImageReadError(f"cannot read image {label}: the file is empty")
    if len(data) > MAX_BYTES:
        raise ImageReadError(
            f"cannot read image {label}: larger than {MAX_BYTES // 2**20} MiB, the limit"
        )
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(image, label)
            image.load()
            # what decides the colours, such as the format, is lost when a picture is turned
            turn, rgb = _turn(image), _to_rgb(image)
            return rgb if turn is None else rgb.transpose(turn)
    except ImageReadError:
        raise
    except UnidentifiedImageError as error:
        expected = ", ".join(FORMATS)
        raise ImageReadError(
            f"cannot read image {label}: not a picture (expected {expected})"
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels(label) from error
    # A decoder fed with broken bytes raises whatever it stumbles over (OSError, SyntaxError,
    # struct.error, ...): each means that this file cannot be read.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ImageReadError(f"cannot read image {label}: {reason}") from error


def _check_size(image: Image.Image, label: str) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise _too_many_pixels(label, f"{image.width} x {image.height}, ")


def _too_many_pixels(label: str, size: str = "") -> ImageReadError:
    return ImageReadError(
        f"cannot read image {label}: {size}more than {MAX_PIXELS:,} pixels, the limit"
    )


def _turn(image: Image.Image) -> Image.Transpose | None:
    """What brings a picture upright, as its EXIF block says; None for nothing."""
    try:
        orientation = image.getexif().get(_EXIF_ORIENTATION)
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, OSError):
        # The picture is intact when only its EXIF block is broken; viewers ignore it too.
        return None
    return _TRANSPOSE.get(orientation) if isinstance(orientation, int) else None


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "I" or image.mode.startswith("I;16"):
        return _from_16_bit(image)
    if image.mode == "F":
        raise ValueError("floating-point pixels have no defined range; expected 8 or 16 bits")
    if image.mode == "CMYK":
        return _from_cmyk(image)
    if image.mode in _ALPHA_MODES or "transparency" in image.info:
        return _on_white(image)
    return image.convert("RGB")


def _from_16_bit(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.int64)
    low, high = int(values.min()), int(values.max())
    if low < 0 or high > 65535:
        raise ValueError(f"gray values {low}..{high}; expected 0..65535")
    gray = ((values * 255 + 32767) // 65535).astype(np.uint8)
    key = image.info.get("transparency")
    if isinstance(key, int):
        gray[values == key] = 255
    return Image.fromarray(gray).convert("RGB")


def _from_cmyk(image: Image.Image) -> Image.Image:
    # Pillow inverts every CMYK JPEG, as Adobe's programs store them; a file without Adobe's
    # marker stores ink as it is.
    if image.format == "JPEG" and "adobe" not in image.info:
        image = Image.fromarray(255 - np.asarray(image), "CMYK")
    return image.convert("RGB")


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode == "La":
        image = image.convert("LA")
    colour = image.convert("RGBA")
    white = Image.new("RGBA", colour.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, colour).convert("RGB")


def pixel_sha256(image: Image.Image) -> str:
    """Hash of what is seen, whatever the file's encoding."""
    return hashlib.sha256(f"{image.width}x{image.height}:".encode() + image.tobytes()).hexdigest()
