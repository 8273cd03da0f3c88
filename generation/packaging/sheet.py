"""A contact sheet: some pairs side by side, with what was meant to change written below."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw, ImageFont

from generation.work import PlannedEdit

FILE = "contact_sheet.webp"
MOST = 24
"""Pairs on a sheet."""

_SIDE = 176
_GAP = 2
_MARGIN = 16
_COLUMNS = 3
_LINE = 15
_TEXT = 2 * _LINE + 8
# Okabe and Ito's colours, told apart by colour-blind readers
_ADDED, _REMOVED = "#007a5a", "#b34700"
_EMPTY = "#e8e8e8"

Pictures = Callable[[PlannedEdit], tuple[Image.Image, Image.Image]]


def shown(edits: Sequence[PlannedEdit], most: int = MOST) -> list[PlannedEdit]:
    """The pairs for a sheet: the first of every concept, then the second, and so on."""
    by_target: dict[str | None, list[PlannedEdit]] = {}
    for edit in edits:
        by_target.setdefault(edit.added if edit.added is not None else edit.removed, []).append(
            edit
        )
    rounds = max(map(len, by_target.values()), default=0)
    ordered = [
        of_target[turn]
        for turn in range(rounds)
        for of_target in by_target.values()
        if turn < len(of_target)
    ]
    return ordered[:most]


def contact_sheet(edits: Sequence[PlannedEdit], pictures: Pictures) -> bytes:
    """A WebP file: base picture on the left, edited one on the right, ``+`` added, ``-`` removed.

    Args:
        edits: the pairs to show, in order.
        pictures: gives both pictures of a pair.
    """
    columns = min(_COLUMNS, len(edits))
    rows = -(-len(edits) // columns)
    width, height = 2 * _SIDE + _GAP, _SIDE + _TEXT
    sheet = Image.new(
        "RGB",
        (_MARGIN + columns * (width + _MARGIN), _MARGIN + rows * (height + _MARGIN)),
        "white",
    )
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=12)
    for place, edit in enumerate(edits):
        left = _MARGIN + place % columns * (width + _MARGIN)
        top = _MARGIN + place // columns * (height + _MARGIN)
        for side, picture in enumerate(pictures(edit)):
            _paste(sheet, picture, left + side * (_SIDE + _GAP), top)
        for line, (sign, name, colour) in enumerate(_captions(edit)):
            text = _fitting(f"{sign} {name}", font, width)
            draw.text((left, top + _SIDE + 4 + line * _LINE), text, fill=colour, font=font)
    stream = io.BytesIO()
    sheet.save(stream, "WEBP", quality=85, method=6)
    return stream.getvalue()


def _captions(edit: PlannedEdit) -> list[tuple[str, str, str]]:
    found = (("-", edit.removed, _REMOVED), ("+", edit.added, _ADDED))
    return [(sign, name, colour) for sign, name, colour in found if name is not None]


def _paste(sheet: Image.Image, picture: Image.Image, left: int, top: int) -> None:
    sheet.paste(_EMPTY, (left, top, left + _SIDE, top + _SIDE))
    scale = _SIDE / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    small = picture.resize(size, Image.Resampling.LANCZOS)
    sheet.paste(small, (left + (_SIDE - size[0]) // 2, top + (_SIDE - size[1]) // 2))


def _fitting(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "...") > width:
        text = text[:-1]
    return text.rstrip() + "..."
