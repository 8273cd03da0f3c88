"""From options to PNG bytes: DiceBear draws, resvg rasterises, palette PNG keeps it small."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import resvg_py
from dicebear import Avatar, Style
from PIL import Image

from benchmark.images import read_image
from generation.avatars.space import Options, Recolour

SIZE = 224
DPI = 96
# A pixel counts as changed when a channel moves by more than this (of 255).
VISIBLE = 16
# DiceBear clips the whole drawing to the canvas, which a raster of the canvas's size does anyway;
# without it rasterising takes half the time.
_CANVAS_CLIP = re.compile(r'<g clip-path="url\(#clip-[0-9a-f]+\)">')
# Options that settle all that chance could settle inside DiceBear.
_ALWAYS: dict[str, Any] = {"seed": "assay", "idRandomization": False, "flip": "none"}


def definition(style: str) -> dict[str, Any]:
    """The style's definition as its package ships it."""
    text = (files("dicebear_styles") / f"{style}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def prepared(style: str, recolour: tuple[Recolour, ...]) -> Style:
    """The style with its shared colours separated."""
    data = copy.deepcopy(definition(style))
    for rule in recolour:
        for reference in _colour_references(data["components"][rule.component]):
            if reference["name"] == rule.shared:
                reference["name"] = rule.own
        data["colors"][rule.own] = {"values": data["colors"][rule.shared]["values"]}
    return Style(data)


def _colour_references(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "color":
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _colour_references(child)


def draw(
    style: str, recolour: tuple[Recolour, ...], options: Options, size: int = SIZE
) -> Image.Image:
    """Draw one avatar: RGB, ``size`` x ``size`` pixels, on white."""
    svg = str(Avatar(prepared(style, recolour), {**_ALWAYS, **options}))
    svg = _CANVAS_CLIP.sub("<g>", svg, count=1)
    png = resvg_py.svg_to_bytes(
        svg_string=svg,
        width=size,
        height=size,
        dpi=DPI,
        background="#ffffff",
        skip_system_fonts=True,
    )
    return read_image(png, name=f"<{style}>")


def encode_png(image: Image.Image) -> bytes:
    """Lossless PNG; with at most 256 colours as a palette image, which is about half the size."""
    stream = io.BytesIO()
    counted = image.getcolors(256)
    if counted is not None:
        image = _as_palette(image, np.array(sorted(colour for _, colour in counted)))
    image.save(stream, "PNG")
    return stream.getvalue()


def _as_palette(image: Image.Image, colours: np.ndarray) -> Image.Image:
    """Palette image of the same pixels; ``colours`` (K, 3) holds them all, K at most 256."""
    lookup = _lookup()
    lookup[_packed(colours)] = np.arange(len(colours))
    palette = Image.fromarray(lookup[_packed(np.asarray(image))], "P")
    palette.putpalette(colours.astype(np.uint8).tobytes())
    return palette


def _packed(colours: np.ndarray) -> np.ndarray:
    wide = colours.astype(np.uint32)
    packed: np.ndarray = wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]
    return packed


@cache
def _lookup() -> np.ndarray:
    """Palette index by packed colour; one table for all pictures, as only used entries are read."""
    return np.zeros(1 << 24, dtype=np.uint8)


def changed_pixels(first: Image.Image, second: Image.Image) -> np.ndarray:
    """Where two pictures of equal size differ visibly: bool (H, W)."""
    difference = np.abs(np.asarray(first).astype(np.int16) - np.asarray(second).astype(np.int16))
    visible = difference > VISIBLE
    changed: np.ndarray = visible[..., 0] | visible[..., 1] | visible[..., 2]
    return changed
