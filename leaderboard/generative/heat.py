"""Heat maps of R-SaD over the mean image, on a scale with zero in its middle."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from PIL import Image

from leaderboard.generative.pictures import address
from leaderboard.numbers import Number, plain, rounded
from leaderboard.plots.svg import figure, label, tag

# Okabe-Ito blue and vermilion: told apart by every kind of colour vision, on gray too
MORE_REAL, MORE_GENERATED = (0, 114, 178), (213, 94, 0)
GROUND = "mean-ground"

_SIDE = 132.0
_STRONGEST = 0.9
_OVERLAY = 96


@dataclass(frozen=True)
class HeatMap:
    """One attribute's map of one kind.

    Attributes:
        picture: the drawing.
        limit: value at full colour, as text.
        over_null: mean |R-SaD| over its null.
        inside: whether it lies inside its null.
    """

    kind: str
    picture: Markup
    limit: str
    over_null: Number
    inside: bool | None


def heat_map(
    key: str, kind: str, row: Mapping[str, Any], values: np.ndarray, null: np.ndarray | None
) -> HeatMap:
    """Draw a map (H, W); cells no larger than their null's 95 % point stay without colour."""
    limit = float(np.abs(values).max())
    strong = np.abs(values) if null is None else np.where(np.abs(values) > null, np.abs(values), 0)
    height = _SIDE * values.shape[0] / values.shape[1]
    found = row["r_sad" if kind == "refined" else "r_sad_unrefined"]
    body = [
        tag("use", href=f"#{GROUND}", width=_SIDE, height=height),
        tag(
            "image",
            href=address(_overlay(values, strong, limit), optimize=True),
            width=_SIDE,
            height=height,
            preserveAspectRatio="none",
        ),
    ]
    title = f"{row['attribute']}: R-SaD of {kind} patch scores over the mean image"
    return HeatMap(
        kind=kind,
        picture=figure(f"{key}-{kind}", (_SIDE, height), title, _described(values, strong), body),
        limit=rounded(limit),
        over_null=plain(found["over_null"], 1),
        inside=found["inside_null"],
    )


def _overlay(values: np.ndarray, strong: np.ndarray, limit: float) -> Image.Image:
    """RGBA, every cell a block of one colour, opaque by its share of the limit."""
    pixels = np.zeros((*values.shape, 4), np.uint8)
    pixels[..., :3] = np.where((values > 0)[..., None], MORE_REAL, MORE_GENERATED)
    if limit > 0:
        pixels[..., 3] = np.rint(255 * _STRONGEST * strong / limit)
    step = max(1, -(-_OVERLAY // max(values.shape)))
    return Image.fromarray(pixels.repeat(step, axis=0).repeat(step, axis=1), "RGBA")


def _described(values: np.ndarray, strong: np.ndarray) -> str:
    rows, columns = values.shape
    parts = []
    for sign, who in ((1, "real"), (-1, "generated")):
        side = np.where(sign * values > 0, strong, 0)
        if side.max() > 0:
            y, x = np.unravel_index(int(side.argmax()), side.shape)
            parts.append(
                f"the {who} set has most more, {rounded(float(side[y, x]))}, in row {y + 1} of "
                f"{rows}, column {x + 1} of {columns}"
            )
    return ("; ".join(parts) or "no cell lies outside its null") + "."


def scale(key: str) -> Markup:
    """The colour scale of all maps."""
    width, steps = 300.0, 31
    body = []
    for step in range(steps):
        share = 2 * step / (steps - 1) - 1
        colour = MORE_REAL if share > 0 else MORE_GENERATED
        body.append(
            tag(
                "rect",
                x=step * width / steps,
                y=0,
                width=width / steps + 0.5,
                height=12,
                fill="#{:02x}{:02x}{:02x}".format(*colour),
                fill_opacity=round(abs(share) * _STRONGEST, 3),
            )
        )
    body += [
        label(0, 28, "generated set has more", "tick"),
        label(width / 2, 28, "0", "tick", "middle"),
        label(width, 28, "real set has more", "tick", "end"),
    ]
    title = "Colour scale"
    told = "From vermilion, the generated set has more, over no colour at 0 to blue, the real set."
    return figure(key, (width, 34), title, told, body)
