"""One pass over a set of images: everything a comparison needs of it, in bounded memory."""

import hashlib
import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from benchmark.encoders import Encoder, EncoderInfo
from benchmark.errors import UserError
from benchmark.generative.blocks import BlockQueue, Elsewhere, Parts, Picture, Work, at_once
from benchmark.generative.cache import Field, RowCache
from benchmark.generative.image_sets import ImageSet
from benchmark.generative.maps import MapSums
from benchmark.generative.ra_clip import ABLATIONS
from benchmark.generative.resize import Resize, resized
from benchmark.generative.scorer import RaScorer
from benchmark.images import ImageReadError
from benchmark.metrics.arrays import FloatArray

SMALL = 48
"""Side of the small picture kept of every image, for the mean image."""

ENCODER_ROWS = 16


@dataclass(frozen=True)
class SetScores:
    """What is known of the N readable images of one set, in the order of their ids.

    Attributes:
        places: of the readable images in the set's ``ids``, int64 (N,).
        digests: SHA-256 of each image's bytes.
        image, clip, sums, sums_unrefined, embeddings: as ``RaScores`` has them.
        ablated: scores without each of ``ABLATIONS``, float64 (N, 3, A); None where the scores
            themselves leave a part out.
        features: of the quality encoder, float32 (N, D); None without one.
        mean_picture: float64 (SMALL, SMALL, 3), 0 to 255.
        widths, heights: smallest and largest, px.
        unreadable: id and reason of images that were left out.
    """

    places: np.ndarray
    digests: tuple[bytes, ...]
    image: FloatArray = field(repr=False)
    clip: FloatArray = field(repr=False)
    sums: MapSums = field(repr=False)
    sums_unrefined: MapSums = field(repr=False)
    embeddings: np.ndarray = field(repr=False)
    ablated: FloatArray | None = field(repr=False)
    features: np.ndarray | None = field(repr=False)
    mean_picture: FloatArray = field(repr=False)
    widths: tuple[int, int]
    heights: tuple[int, int]
    unreadable: tuple[tuple[str, str], ...]

    @property
    def duplicates(self) -> int:
        """Images whose bytes an earlier one of the set has too."""
        return len(self.digests) - len(set(self.digests))


def collect(
    images: ImageSet,
    scorer: RaScorer,
    encoder: Encoder | None,
    *,
    home: Path,
    seed: int = 0,
    skip_unreadable: bool = False,
    progress: Callable[[int, int], None] | None = None,
    elsewhere: Elsewhere | None = None,
) -> SetScores:
    """Score every image of a set, from the cache where its bytes were scored before.

    The last bits of a score depend on the image's place in its batch. Batches follow the order of
    the set, and one with any row missing from the cache is made whole, so a run that goes on gives
    the bytes of one that was never stopped. What remains: a row that another set filled, where the
    image had another place, is taken as it is.

    Args:
        images: the set; read in order, one image in memory at a time but for the blocks at work.
        scorer: attributes and model.
        encoder: of the features for FID and the like.
        home: the cache folder.
        seed: of the blocks of ``MapSums``.
        skip_unreadable: leave images out that cannot be decoded, instead of stopping.
        progress: called with images done and all.
        elsewhere: does the work in place of this process.

    Raises:
        UserError: an image that cannot be read (naming it), or no readable image.
    """
    with ExitStack() as stack:
        scores = stack.enter_context(_score_cache(home, scorer))
        ahead = 0 if elsewhere is None else elsewhere.ahead
        start = elsewhere.scores(scorer) if elsewhere else partial(at_once, score_work(scorer))
        queues = [BlockQueue(scores, start, _score_rows(scorer), ahead)]
        features = None
        if encoder is not None:
            features = stack.enter_context(feature_cache(home, encoder))
            rows = math.lcm(ENCODER_ROWS, encoder.batch_size)
            start = (
                elsewhere.features(encoder)
                if elsewhere
                else partial(at_once, feature_work(encoder))
            )
            queues.append(BlockQueue(features, start, rows, ahead))
        places, digests, unreadable = _pass(images, queues, skip_unreadable, progress)
        if not digests:
            raise UserError(f"{images.name}: none of its {len(images.ids)} images can be read")
        return _gathered(scorer, scores, features, places, digests, unreadable, seed)


def _pass(
    images: ImageSet,
    queues: Sequence[BlockQueue],
    skip: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[int], list[bytes], list[tuple[str, str]]]:
    places: list[int] = []
    digests: list[bytes] = []
    unreadable: list[tuple[str, str]] = []
    total = len(images.ids)
    for index in range(total):
        try:
            data = images.encoded(index)
            digest = hashlib.sha256(data).digest()
            picture = Picture(data, images.describe(index))
            if any(queue.lacks(digest) for queue in queues):
                picture.image  # noqa: B018 - one that cannot be read is in no block
        except ImageReadError as error:
            if not skip:
                raise UserError(f"{error}; --skip-unreadable leaves such images out") from None
            reason = str(error).replace(images.describe(index), images.ids[index])
            unreadable.append((images.ids[index], reason))
        else:
            places.append(index)
            digests.append(digest)
            for queue in queues:
                queue.add(digest, picture)
        if progress is not None:
            progress(index + 1, total)
    for queue in queues:
        queue.flush()
    return places, digests, unreadable


def _score_cache(home: Path, scorer: RaScorer) -> RowCache:
    count, shape = len(scorer.names), scorer.shape
    fields: list[Field] = [
        ("image", "<f4", (count,)),
        ("cosine", "<f4", (count,)),
        ("refined", "<f4", shape),
        ("unrefined", "<f4", shape),
        ("embedding", "<f4", (scorer.texts.shape[1],)),
        ("small", "u1", (SMALL, SMALL, 3)),
        ("size", "<u4", (2,)),
    ]
    if scorer.ablations:
        fields.append(("ablated", "<f4", (len(ABLATIONS), count)))
    return RowCache(home, scorer.identity, fields)


def _score_rows(scorer: RaScorer) -> int:
    return max(1, ENCODER_ROWS // scorer.batch_size) * scorer.batch_size


def score_work(scorer: RaScorer) -> Work:
    """Everything that the cache of scores holds of images, by field."""

    def work(images: Sequence[Image.Image]) -> Parts:
        parts: dict[str, list[np.ndarray]] = {}
        for _, count, scored, cls in scorer.batches(images):
            found = {
                "image": scored.image[:count].cpu().numpy(),
                "cosine": scored.clip[:count].cpu().numpy(),
                "refined": scorer.maps(scored.refined, count),
                "unrefined": scorer.maps(scored.unrefined, count),
                "embedding": cls[:count].cpu().numpy(),
            }
            if scored.ablated is not None:
                found["ablated"] = scored.ablated[:count].cpu().numpy()
            for name, values in found.items():
                parts.setdefault(name, []).append(values)
        joined = {name: np.concatenate(values) for name, values in parts.items()}
        joined["small"] = np.stack([_small(image, scorer.resize) for image in images])
        joined["size"] = np.array([image.size for image in images], np.uint32)
        return joined

    return work


def _small(image: Image.Image, policy: Resize) -> np.ndarray:
    return np.asarray(resized(image, (SMALL, SMALL), policy))


def feature_cache(home: Path, encoder: Encoder) -> RowCache:
    """Features of single images by this encoder: field ``features``, float32 (D,)."""
    key = {"encoder": EncoderInfo.of(encoder).as_dict(), "runtime": encoder.runtime}
    return RowCache(home, key, [("features", "<f4", (encoder.dim,))])


def feature_work(encoder: Encoder) -> Work:
    """The features of images, as the cache of features holds them."""

    def work(images: Sequence[Image.Image]) -> Parts:
        features = encoder.encode(images)
        if not np.isfinite(features).all():
            raise UserError(f"encoder {encoder.name} gave NaN or infinity for an image")
        return {"features": features}

    return work


def _gathered(
    scorer: RaScorer,
    scores: RowCache,
    features: RowCache | None,
    places: Sequence[int],
    digests: Sequence[bytes],
    unreadable: Sequence[tuple[str, str]],
    seed: int,
) -> SetScores:
    """Read the rows of a set back, in its order: maps as sums, the rest whole."""
    count, names = len(digests), len(scorer.names)
    image, clip = np.empty((count, names)), np.empty((count, names))
    embeddings = np.empty((count, scorer.texts.shape[1]), np.float32)
    ablated = np.empty((count, len(ABLATIONS), names)) if scorer.ablations else None
    sums = MapSums(count, scorer.shape, seed)
    unrefined = MapSums(count, scorer.shape, seed)
    pictures = np.zeros((SMALL, SMALL, 3), np.int64)
    sizes = np.empty((count, 2), np.int64)
    start = 0
    for rows in scores.read(digests):
        span = slice(start, start + len(rows))
        image[span] = rows["image"]
        clip[span] = 100 * rows["cosine"].astype(np.float64)
        embeddings[span] = rows["embedding"]
        sizes[span] = rows["size"]
        if ablated is not None:
            ablated[span] = rows["ablated"]
        sums.add(start, rows["refined"])
        unrefined.add(start, rows["unrefined"])
        pictures += rows["small"].sum(axis=0, dtype=np.int64)
        start += len(rows)
    table = None
    if features is not None:
        table = np.concatenate([rows["features"] for rows in features.read(digests, 1024)])
    low, high = sizes.min(axis=0).tolist(), sizes.max(axis=0).tolist()
    return SetScores(
        np.array(places, np.int64), tuple(digests), image, clip, sums, unrefined, embeddings,
        ablated, table, pictures / count, (low[0], high[0]), (low[1], high[1]), tuple(unreadable),
    )  # fmt: skip
