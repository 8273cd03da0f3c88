"""The demo's comparison: avatars against a set in which too many wear glasses."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import files
from benchmark.datasets import Dataset
from benchmark.encoders import Encoder
from benchmark.errors import UserError
from benchmark.generative import tiny_clip
from benchmark.generative.collect import feature_cache
from benchmark.generative.compare import Comparison, Plan, Progress, compare
from benchmark.generative.diversity import load_lpips
from benchmark.generative.document import content_sha256
from benchmark.generative.image_sets import DatasetSet
from benchmark.generative.labels import dataset_labels
from benchmark.kept import same_code
from benchmark.prepared import Prepared

STYLE = "style: voxel"
"""The style that the embedded CLIP knows."""

PLANTED = "glasses: clear"
SHARE = 0.45
"""Share of the second set that shows it; about an eighth of the avatars does."""

MOST = 300


def has_sets(dataset: Dataset) -> bool:
    """Whether the two sets can be made of a dataset: it has the style and the attribute."""
    return {STYLE, PLANTED} <= set(dataset.concepts)


def demo_sets(dataset: Dataset) -> tuple[DatasetSet, DatasetSet]:
    """Voxel avatars of the score split, and of the match split with too many eyeglasses.

    The second set keeps every avatar with the attribute and as many without it as give ``SHARE``.
    """
    real, other = (DatasetSet.of(dataset, split) for split in ("score", "match"))
    shown = dataset.annotations[:, dataset.concepts.index(PLANTED)]
    voxel = dataset.annotations[:, dataset.concepts.index(STYLE)]
    plain = [place for place, row in enumerate(real.rows) if voxel[row]]
    there = [place for place, row in enumerate(other.rows) if voxel[row]]
    wearing = [place for place in there if shown[other.rows[place]]]
    rest = [place for place in there if not shown[other.rows[place]]]
    chosen = sorted([*wearing, *rest[: round(len(wearing) * (1 - SHARE) / SHARE)]])
    return (
        real.only(plain[:MOST], "voxel avatars"),
        other.only(chosen[:MOST], "too many glasses"),
    )


def compare_sets(
    prepared: Prepared, encoder: Encoder, *, plan: Plan | None = None, progress: Progress | None
) -> Comparison:
    """Compare the two sets, with the features that the SAEs were trained on."""
    sets = demo_sets(prepared.dataset)
    with feature_cache(files.home(), encoder) as cache:
        for images in sets:
            _keep(images, prepared, cache)
    return compare(
        *sets,
        tiny_clip.trusted(),
        real_labels=dataset_labels(sets[0]),
        generated_labels=dataset_labels(sets[1]),
        label_names=tiny_clip.concepts(),
        model=tiny_clip.NAME,
        encoder=encoder,
        lpips=load_lpips(),
        plan=plan,
        progress=progress,
    )


def still_stands(path: Path, prepared: Prepared) -> bool:
    """Whether the document there is of these images, attributes and code."""
    try:
        document: Mapping[str, Any] = json.loads(path.read_bytes())
        sides = zip(("real", "generated"), demo_sets(prepared.dataset), strict=True)
        return bool(
            same_code(document)
            and [row["attribute"] for row in document["attributes"]] == tiny_clip.trusted()
            and all(document[label]["sha256"] == _content(images) for label, images in sides)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, UserError):
            raise
        return False


def _content(images: DatasetSet) -> str:
    digests = [hashlib.sha256(images.encoded(k)).digest() for k in range(len(images.ids))]
    return content_sha256(images.ids, digests)


def _keep(images: DatasetSet, prepared: Prepared, cache: Any) -> None:
    """Put the features of a set into the cache of single images, where they are not yet."""
    assert images.split is not None
    features = prepared.features[images.split]
    place = {row: k for k, row in enumerate(prepared.dataset.split(images.split).tolist())}
    found: dict[bytes, np.ndarray] = {}
    for k, row in enumerate(images.rows):
        digest = hashlib.sha256(images.encoded(k)).digest()
        if digest not in cache:
            found[digest] = features[place[row]]
    if found:
        cache.add(list(found), {"features": np.stack(list(found.values()))})
