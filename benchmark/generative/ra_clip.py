"""RA-CLIPScore of a set of images, streamed through a CLIP model, §5.1.

Source: "RA-CLIPScore: Making Generative Model Evaluation More Interpretable".
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from benchmark.errors import UserError
from benchmark.generative.attributes import WITH, WITHOUT, checked_attributes, without
from benchmark.generative.maps import MapSums
from benchmark.generative.resize import POLICIES, Resize, resized
from benchmark.images import read_image
from benchmark.metrics.arrays import FloatArray

if TYPE_CHECKING:
    from benchmark.generative.dense.base import DenseClip
    from benchmark.generative.refine import Options

BATCH_SIZE = 8
"""Images in every forward pass; a shorter batch is padded up to it."""

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
    from benchmark.generative.refine import Options, score_tokens

    if resize not in POLICIES:
        raise UserError(f"resize is {resize!r}; expected one of {', '.join(POLICIES)}")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise UserError(f"batch_size is {batch_size!r}; expected a whole number of at least 1")
    if isinstance(images, str | bytes | os.PathLike) or not hasattr(images, "__len__"):
        raise UserError("images: expected a sequence of paths, contents or images")
    if not len(images):
        raise UserError("images: there are none; expected at least one")
    clip = load_clip(model) if isinstance(model, str) else model
    options = Options(dual_prompts, local_tokens, global_token, renormalize, spatial_scale)
    names = checked_attributes(attributes, clip)
    claiming = clip.encode_text([WITH.format(name) for name in names])
    denying = clip.encode_text([without(name) for name in names])
    store = _Store(len(images), len(names), clip, keep_maps, seed)
    for start, pixels, count in _batches(images, clip.size, resize, batch_size):
        tokens = clip.dense(clip.pixels(pixels), renormalize=renormalize)
        scored = score_tokens(tokens, claiming, denying, clip.logit_scale, options)
        store.add(start, count, scored, tokens.cls)
        if progress is not None:
            progress(start + count)
    protocol = _protocol(clip, resize, batch_size, options)
    return store.scores(names, claiming.cpu().numpy(), protocol)


def _batches(
    images: Sequence[Any], size: tuple[int, int], resize: Resize, batch_size: int
) -> Iterator[tuple[int, np.ndarray, int]]:
    """(index of the first image, uint8 pixels of a full batch, images in it), the last padded."""
    for start in range(0, len(images), batch_size):
        stop = min(start + batch_size, len(images))
        pixels = np.zeros((batch_size, *size, 3), np.uint8)
        for row, index in enumerate(range(start, stop)):
            pixels[row] = np.asarray(resized(_opened(images[index], index), size, resize))
        yield start, pixels, stop - start


def _opened(source: Any, index: int) -> Image.Image:
    if isinstance(source, Image.Image):
        if source.mode != "RGB":
            raise UserError(
                f"image {index} has mode {source.mode}; expected RGB, as "
                "benchmark.images.read_image gives"
            )
        return source
    if isinstance(source, bytes):
        return read_image(source, name=f"image {index}")
    if isinstance(source, str | os.PathLike):
        return read_image(source)
    raise UserError(
        f"image {index} is of type {type(source).__name__}; expected a path, bytes or an image"
    )


def _protocol(
    clip: "DenseClip", resize: Resize, batch_size: int, options: "Options"
) -> dict[str, Any]:
    return {
        "model": clip.name,
        "weights_sha256": clip.weights_sha256,
        "dtype": str(clip.dtype).removeprefix("torch."),
        "input_size": list(clip.size),
        "grid": list(clip.grid),
        "logit_scale": clip.logit_scale,
        "prompts": [WITH, WITHOUT],
        "resize": resize,
        "batch_size": batch_size,
        **options.as_dict(),
    }


class _Store:
    """The results of all batches so far."""

    def __init__(
        self, images: int, attributes: int, clip: "DenseClip", keep: bool | None, seed: int
    ) -> None:
        shape = (attributes, *clip.grid)
        if keep is None:
            keep = 2 * 4 * images * int(np.prod(shape)) <= MAX_KEPT_BYTES
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
            flat = values[:count].transpose(1, 2).cpu().numpy()
            maps = flat.reshape(count, *self.sums[kind].shape)
            self.sums[kind].add(start, maps)
            kept = self.maps[kind]
            if kept is not None:
                kept[rows] = maps
        if self.embeddings is None:
            self.embeddings = np.empty((len(self.image), cls.shape[1]), np.float32)
        self.embeddings[rows] = cls[:count].cpu().numpy()

    def scores(
        self, names: tuple[str, ...], texts: np.ndarray, protocol: Mapping[str, Any]
    ) -> RaScores:
        assert self.embeddings is not None  # there is at least one image
        return RaScores(
            names, self.image, self.clip, self.maps[0], self.maps[1], self.sums[0], self.sums[1],
            self.embeddings, texts, protocol,
        )  # fmt: skip
