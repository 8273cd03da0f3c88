"""RA-CLIPScore of a set of images, streamed through a CLIP model, §5.1.

Source: "RA-CLIPScore: Making Generative Model Evaluation More Interpretable".
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.errors import UserError
from benchmark.generative.maps import MapSums
from benchmark.generative.resize import Resize
from benchmark.metrics.arrays import FloatArray

if TYPE_CHECKING:
    from benchmark.generative.dense.base import DenseClip
    from benchmark.generative.scorer import RaScorer

BATCH_SIZE = 8
"""Images in every forward pass; a shorter batch is padded up to it."""

MOST_BATCH_SIZE = 1024

ABLATIONS = ("dual_prompts", "local_tokens", "global_token")
"""Parts of RA-CLIPScore that can be left out, names of ``Options``."""

MAX_KEPT_BYTES = 2**30
"""Maps of every image are kept by default while refined and unrefined ones need no more."""


@dataclass(frozen=True)
class RaScores:
    """RA-CLIPScores of N images for A attributes, with an H × W grid of patches.

    Attributes:
        attributes: A names, as they went into the prompts.
        image: RA-CLIPScore, float64 (N, A) in [0, 1].
        clip: CLIPScore, 100 · cosine with the claiming prompt, float64 (N, A).
        patch: refined patch scores ``r̃``, float32 (N, A, H, W); None where they were not kept.
        patch_unrefined: patch scores ``r̂`` before refinement, likewise.
        sums: sums of ``r̃``, what R-SaD needs of any number of images.
        sums_unrefined: sums of ``r̂``; on a small grid refinement blurs, so both are reported.
        embeddings: unit image embeddings, float32 (N, D).
        texts: unit embeddings of the claiming prompts, float32 (A, D).
        protocol: every choice and the model's identity, JSON values.
    """

    attributes: tuple[str, ...]
    image: FloatArray
    clip: FloatArray
    patch: np.ndarray | None = field(repr=False)
    patch_unrefined: np.ndarray | None = field(repr=False)
    sums: MapSums = field(repr=False)
    sums_unrefined: MapSums = field(repr=False)
    embeddings: np.ndarray = field(repr=False)
    texts: np.ndarray = field(repr=False)
    protocol: Mapping[str, Any]


def ra_clip_scores(
    images: Sequence[Any],
    attributes: Sequence[str],
    *,
    model: "DenseClip | str",
    resize: Resize = "squash",
    renormalize: bool = True,
    dual_prompts: bool = True,
    local_tokens: bool = True,
    global_token: bool = True,
    spatial_scale: float | None = None,
    batch_size: int = BATCH_SIZE,
    keep_maps: bool | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> RaScores:
    """Score images for attributes; one forward pass an image, one batch of maps in memory.

    Args:
        images: N images: paths, files' contents as bytes, or RGB images of Pillow. A lazy
            sequence is read one image at a time.
        attributes: A names such as ``eyeglasses``.
        model: a ``DenseClip``, or a name for ``load_clip``.
        resize: ``squash`` (nothing is cropped away) or ``center_crop``.
        renormalize, dual_prompts, local_tokens, global_token, spatial_scale: see ``Options``.
        batch_size: images a pass; results agree between sizes to the last few bits of float32.
        keep_maps: keep the maps of every image; None keeps them while they fit
            ``MAX_KEPT_BYTES``.
        seed: of the blocks of ``MapSums``.
        progress: called after each batch with the number of images done.

    Raises:
        UserError: no images, an image that cannot be read (its file or place is named), blank,
            repeated or over-long attributes, an unknown option, a model that cannot be used.
    """
    from benchmark.generative.dense import load_clip
    from benchmark.generative.refine import Options
    from benchmark.generative.scorer import RaScorer

    if isinstance(images, str | bytes | os.PathLike) or not hasattr(images, "__len__"):
        raise UserError("images: expected a sequence of paths, contents or images")
    if not len(images):
        raise UserError("images: there are none; expected at least one")
    scorer = RaScorer(
        attributes,
        load_clip(model) if isinstance(model, str) else model,
        resize=resize,
        options=Options(dual_prompts, local_tokens, global_token, renormalize, spatial_scale),
        batch_size=batch_size,
    )
    store = _Store(len(images), scorer, keep_maps, seed)
    for start, count, scored, cls in scorer.batches(images):
        store.add(start, count, scored, cls)
        if progress is not None:
            progress(start + count)
    return store.scores()


class _Store:
    """The results of all batches so far."""

    def __init__(self, images: int, scorer: "RaScorer", keep: bool | None, seed: int) -> None:
        attributes, shape = len(scorer.names), scorer.shape
        if keep is None:
            keep = 2 * 4 * images * int(np.prod(shape)) <= MAX_KEPT_BYTES
        self.scorer = scorer
        self.image = np.empty((images, attributes), np.float64)
        self.clip = np.empty((images, attributes), np.float64)
        self.maps = [np.empty((images, *shape), np.float32) if keep else None for _ in range(2)]
        self.sums = [MapSums(images, shape, seed) for _ in range(2)]
        self.embeddings: np.ndarray | None = None

    def add(self, start: int, count: int, scored: Any, cls: Any) -> None:
        """Take the first ``count`` rows of a batch: what follows is padding."""
        rows = slice(start, start + count)
        self.image[rows] = scored.image[:count].cpu().numpy()
        self.clip[rows] = 100 * scored.clip[:count].cpu().numpy().astype(np.float64)
        for kind, values in enumerate((scored.refined, scored.unrefined)):
            maps = self.scorer.maps(values, count)
            self.sums[kind].add(start, maps)
            kept = self.maps[kind]
            if kept is not None:
                kept[rows] = maps
        if self.embeddings is None:
            self.embeddings = np.empty((len(self.image), cls.shape[1]), np.float32)
        self.embeddings[rows] = cls[:count].cpu().numpy()

    def scores(self) -> RaScores:
        assert self.embeddings is not None  # there is at least one image
        scorer = self.scorer
        return RaScores(
            scorer.names, self.image, self.clip, self.maps[0], self.maps[1], self.sums[0],
            self.sums[1], self.embeddings, scorer.texts, scorer.protocol,
        )  # fmt: skip
