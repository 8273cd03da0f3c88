"""FID, KID, precision, recall, density and coverage on features of a named encoder, §5.3."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.generative.manifold import NEAREST, manifolds, without_extent
from benchmark.metrics.arrays import FloatArray, InputError
from benchmark.metrics.score import Score, make_score

KID_SUBSETS = 100
KID_SUBSET_SIZE = 1000
NAMES = ("fid", "kid", "precision", "recall", "density", "coverage")

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Quality:
    """Distances of two sets of features.

    Attributes:
        scores: by the names in ``NAMES``; ``n`` is the number of images of both sets. No score
            has an interval: redrawn images would be each other's nearest neighbours.
        protocol: k of the neighbours, number and size of the subsets behind KID, and the standard
            deviation of KID over them; JSON values.
    """

    scores: Mapping[str, Score]
    protocol: Mapping[str, Any]


def quality(real: Any, generated: Any, *, seed: int = 0, identical: bool = False) -> Quality:
    """All six numbers; each that cannot be computed says why.

    - FID is not applicable where a set has no more images than features have dimensions: its
      covariance is singular then and the value says more of the sample size than of the images.
    - KID (unbiased, cubic kernel) is not applicable for one image, or where both sets are the same
      images: its estimate assumes separate samples. It can lie below 0.
    - Precision, recall, density and coverage are not applicable with ``NEAREST`` images or fewer,
      or where every image of a set has that many copies.
    - None is applicable where a set's features do not vary.

    The order of rows moves none of them, not even in its last bits: images are taken in an order
    that their features give.

    Args:
        real, generated: features (N, D) and (M, D), finite.
        seed: of KID's subsets.
        identical: whether both sets hold the same images.

    Raises:
        InputError: shapes that disagree, values that are not finite.
    """
    sides = _ordered(_checked(real, "real")), _ordered(_checked(generated, "generated"))
    if sides[0].shape[1] != sides[1].shape[1]:
        raise InputError(
            f"real features have {sides[0].shape[1]} dimensions but generated {sides[1].shape[1]}"
        )
    size = len(sides[0]) + len(sides[1])
    protocol: dict[str, Any] = {"nearest": NEAREST, "kid": None}
    values: dict[str, float] = {}
    reasons = {name: reason for name in NAMES if (reason := _reason(name, sides, identical))}
    if "fid" not in reasons:
        values["fid"] = frechet_distance(*sides)
    if "kid" not in reasons:
        values["kid"], protocol["kid"] = kernel_distance(*sides, seed=seed)
    if "precision" not in reasons:
        found = manifolds(*sides)
        values |= {name: getattr(found, name) for name in NAMES[2:]}
    scores = {
        name: make_score(
            values.get(name), size, None, {reasons[name]: 1} if name in reasons else None
        )
        for name in NAMES
    }
    return Quality(scores, protocol)


def frechet_distance(real: FloatArray, generated: FloatArray) -> float:
    """FID of features by torchmetrics, never below 0."""
    import torch
    from torchmetrics.image.fid import FrechetInceptionDistance

    metric = FrechetInceptionDistance(feature=_passing(real.shape[1])).set_dtype(torch.float64)
    for side, is_real in ((real, True), (generated, False)):
        for start in range(0, len(side), _BLOCK_ROWS):
            metric.update(torch.from_numpy(side[start : start + _BLOCK_ROWS]), real=is_real)
    return max(0.0, float(metric.compute()))


def kernel_distance(
    real: FloatArray, generated: FloatArray, *, seed: int = 0
) -> tuple[float, dict[str, Any]]:
    """KID of features by torchmetrics: mean over seeded subsets, and how they were drawn.

    Subsets are drawn by the places of rows: another order gives others.
    """
    import warnings

    import torch
    from torchmetrics.image.kid import KernelInceptionDistance

    size = min(KID_SUBSET_SIZE, len(real), len(generated))
    # subsets that hold everything are all the same
    subsets = 1 if size == len(real) == len(generated) else KID_SUBSETS
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore", UserWarning)  # that features are kept, as they are here
        torch.manual_seed(seed)
        metric = KernelInceptionDistance(
            feature=_passing(real.shape[1]), subsets=subsets, subset_size=size
        )
        metric.update(torch.from_numpy(real), real=True)
        metric.update(torch.from_numpy(generated), real=False)
        mean, deviation = metric.compute()
    drawn = {"subsets": subsets, "subset_size": size, "deviation": float(deviation)}
    return float(mean), drawn


def _passing(width: int) -> Any:
    """A module that gives features on as they are, in place of an image network."""
    from torch import nn

    module = nn.Identity()
    module.num_features = width  # type: ignore[assignment]
    return module


def _ordered(features: FloatArray) -> FloatArray:
    """The rows in the order of the hashes of their bytes, wherever they stood."""
    keys = [hashlib.sha256(row.tobytes()).digest() for row in features]
    return features[sorted(range(len(keys)), key=keys.__getitem__)]


def _checked(features: Any, name: str) -> FloatArray:
    array = np.asarray(features)
    if array.dtype.kind not in "biuf" or array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name}: expected features (images, D), found {array.dtype}"
                         f" {array.shape}")  # fmt: skip
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: a feature is not finite")
    return array


def _reason(name: str, sides: tuple[FloatArray, FloatArray], identical: bool) -> str | None:
    """Why a number cannot be given, or None."""
    least = {"fid": sides[0].shape[1] + 1, "kid": 2}.get(name, NEAREST + 1)
    for side, label in zip(sides, ("real", "generated"), strict=True):
        if len(side) < least:
            what = f" for features of {side.shape[1]} dimensions" if name == "fid" else ""
            return f"{label} set has {len(side)} images; expected at least {least}{what}"
        if (side == side[0]).all():
            return f"features have no variance in the {label} set"
        if name not in ("fid", "kid") and without_extent(side):
            return f"every image of the {label} set has {NEAREST} copies or more"
    if name == "kid" and identical:
        return "both sets hold the same images"
    return None
