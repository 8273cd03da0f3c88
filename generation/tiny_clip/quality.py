"""How well the trained model tells its own attributes, on avatars it has not seen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from benchmark.generative import ra_clip_scores, separation
from generation.tiny_clip.data import Avatars
from generation.tiny_clip.phrases import PHRASES

if TYPE_CHECKING:
    from benchmark.generative.dense.base import DenseClip


def quality(model: "DenseClip", avatars: Avatars) -> dict[str, Any]:
    """AUC, Cohen's d and saturation of RA-CLIPScore and CLIPScore, and the AUC of patches.

    Returns:
        JSON values: ``images``, their number, and ``attributes``, one row a phrase; a number that
        is not applicable is left out or None.
    """
    images = [Image.fromarray(image) for image in avatars.images]
    scores = ra_clip_scores(images, list(PHRASES.values()), model=model, keep_maps=True)
    ra = separation(scores.image, avatars.labels)
    clip = separation(scores.clip, avatars.labels)
    area = _area(avatars)
    rows = []
    for k, phrase in enumerate(scores.attributes):
        rows.append(
            {
                "attribute": phrase,
                "share": float(avatars.labels[:, k].mean()),
                "area": float(area[k]),
                "ra": _numbers(ra, k),
                "clip": _numbers(clip, k),
                "patch_auc": _patch_auc(scores.patch_unrefined, avatars, k),
                "patch_auc_refined": _patch_auc(scores.patch, avatars, k),
            }
        )
    return {"images": len(images), "attributes": rows}


def table(found: Mapping[str, Any]) -> str:
    """The rows of ``quality`` as a table in Markdown, as the card shows it."""
    lines = [
        "| phrase | area | AUC RA / CLIP | d RA / CLIP | 1 − OVL RA / CLIP | saturated | patches |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["attributes"]:
        pairs = [
            f"{_shown(row['ra'].get(name), digits)} / {_shown(row['clip'].get(name), digits)}"
            for name, digits in (("auc", 3), ("cohens_d", 1), ("one_minus_ovl", 2))
        ]
        rest = _shown(row["ra"]["saturated"], 2), _shown(row["patch_auc"], 3)
        cells = row["attribute"], _shown(row["area"], 3), *pairs, *rest
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _numbers(found: Any, k: int) -> dict[str, float]:
    names = ("auc", "cohens_d", "hellinger", "one_minus_ovl", "saturated")
    values = {name: float(getattr(found, name)[k]) for name in names}
    return {name: value for name, value in values.items() if np.isfinite(value)}


def _area(avatars: Avatars) -> np.ndarray:
    """Mean share of the picture that an attribute covers where it is present."""
    share = avatars.masks.mean(axis=(2, 3)) / 255
    return np.asarray(share.sum(axis=0) / np.maximum(avatars.labels.sum(axis=0), 1))


def _patch_auc(maps: np.ndarray | None, avatars: Avatars, k: int) -> float | None:
    """Chance that a patch of the region scores above another patch, over pictures that show it.

    None where no picture does.
    """
    import torch

    from generation.tiny_clip.train import place_targets

    assert maps is not None  # kept on purpose
    rows = np.flatnonzero(avatars.labels[:, k])
    if not rows.size:
        return None
    masks = torch.from_numpy(avatars.masks[rows][:, [k]].astype(np.float32) / 255)
    inside = place_targets(masks)[:, :, 0].numpy().ravel() > 0
    values = maps[rows, k].reshape(len(rows), -1).ravel()
    return float(separation(values[:, None], inside[:, None]).auc[0])
