"""How much of a picture an edit changed beyond the region it was meant to change.

Definition, version 1. Both pictures are shrunk so that the base picture's longer side has
``SIDE`` pixels (the edited one is squashed to the same shape) and smoothed by a Gaussian of
``SMOOTH`` pixels, which takes away what an autoencoder leaves on every pixel. A pixel's difference
is the mean over the three channels of the absolute difference, in [0, 1]; it has *changed* where
that is above ``VISIBLE``.

The *edited region* is where the change is concentrated: of the pixels that differ at least half as
much as the most different one, the connected blob with the largest summed difference, and further
blobs with at least half of that sum (two wings, two legs). It is limited to a share of the picture
that depends on what is edited (``LARGEST``): of a larger one, the pixels nearest to its middle are
kept. The limit is what tells a new breast pattern from a new bird, and a removed object from a new
scene. A margin of ``MARGIN`` pixels around the region belongs to it.

``outside`` is the share of the pixels outside the region that changed: 0 where the rest of the
picture is as it was, 1 where all of it is another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy import ndimage

VERSION = 1
SIDE = 256
SMOOTH = 2.0
VISIBLE = 0.05
MARGIN = 8
LARGEST = {"attribute": 0.1, "material": 0.1, "object": 0.5}
"""Largest share of a picture that an edit of each kind is meant to change."""
WHOLE = ("lighting", "viewpoint")
"""Kinds that are meant to change the whole picture: nothing is outside."""
DEFAULT_LARGEST = 0.5
"""Of kinds that a plan declares by another name."""
REPAINTED = 0.05
"""From here on an edit is shown as one that repainted more than it should."""


@dataclass(frozen=True)
class Change:
    """What an edit changed.

    Attributes:
        outside: share in [0, 1] of the pixels outside the edited region that changed.
        region: share in [0, 1] of the picture that the edited region takes.
        changed: share in [0, 1] of the picture that changed.
    """

    outside: float
    region: float
    changed: float


def change(base: Image.Image, edited: Image.Image, kind: str = "object") -> Change | None:
    """Measure one pair.

    Args:
        base, edited: RGB pictures of any size.
        kind: what is edited, as the plan names it.

    Returns:
        The change; None for a kind that is meant to change the whole picture.
    """
    if kind in WHOLE:
        return None
    difference = smoothed_difference(base, edited)
    changed = difference > VISIBLE
    region = edited_region(difference, LARGEST.get(kind, DEFAULT_LARGEST))
    beyond = changed & ~region
    outside = beyond.sum() / max(1, region.size - int(region.sum()))
    return Change(float(outside), float(region.mean()), float(changed.mean()))


def smoothed_difference(base: Image.Image, edited: Image.Image) -> np.ndarray:
    """float32 (H, W) in [0, 1], the longer side ``SIDE`` pixels: how different each place is."""
    scale = SIDE / max(base.size)
    width, height = (max(1, round(side * scale)) for side in base.size)
    one, other = (_small(image, (width, height)) for image in (base, edited))
    smooth = (SMOOTH, SMOOTH, 0)
    difference = ndimage.gaussian_filter(one, smooth) - ndimage.gaussian_filter(other, smooth)
    mean: np.ndarray = np.abs(difference).mean(axis=2)
    return mean


def _small(image: Image.Image, size: tuple[int, int]) -> np.ndarray:
    small = image.resize(size, Image.Resampling.BOX if max(image.size) > SIDE else None)
    return np.asarray(small, dtype=np.float32) / 255


def edited_region(difference: np.ndarray, largest: float) -> np.ndarray:
    """bool (H, W): the edited region with its margin; empty where nothing visible changed.

    Args:
        difference: (H, W) in [0, 1].
        largest: share of the picture that the region may take before the margin.
    """
    peak = float(difference.max(initial=0.0))
    if peak <= VISIBLE:
        return np.zeros(difference.shape, bool)
    blobs, count = ndimage.label(difference >= max(VISIBLE, peak / 2), np.ones((3, 3)))
    weights = ndimage.sum_labels(difference, blobs, np.arange(1, count + 1))
    main = 1 + np.flatnonzero(weights >= weights.max() / 2)
    region = _limited(np.isin(blobs, main), difference, largest)
    return np.asarray(ndimage.distance_transform_edt(~region) <= MARGIN)


def _limited(region: np.ndarray, difference: np.ndarray, largest: float) -> np.ndarray:
    """The pixels of a region nearest to its middle, as many as the limit allows."""
    most = max(1, int(largest * region.size))
    if int(region.sum()) <= most:
        return region
    middle = ndimage.center_of_mass(difference * region)
    rows, columns = np.indices(region.shape)
    distance = np.hypot(rows - middle[0], columns - middle[1])
    # stable, so that pixels at equal distance are taken in reading order
    nearest = np.argsort(np.where(region, distance, np.inf), axis=None, kind="stable")[:most]
    kept = np.zeros(region.size, bool)
    kept[nearest] = True
    return kept.reshape(region.shape)
