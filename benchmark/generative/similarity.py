"""CLIPScore and HCS, the scores that RA-CLIPScore is set beside, §5.3."""

from typing import Any

import numpy as np

from benchmark.generative.gaussians import ordered_sum
from benchmark.metrics.arrays import FloatArray, InputError


def clip_score(images: Any, texts: Any) -> FloatArray:
    """CLIPScore: ``100 · cos`` of every image with every text.

    Args:
        images: embeddings (N, D), of any length but 0.
        texts: embeddings (A, D).

    Returns:
        float64 (N, A) in [−100, 100].

    Raises:
        InputError: shapes that disagree, values that are not finite, a row of length 0.

    >>> import numpy as np
    >>> clip_score(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
    [[100.0, 0.0]]
    """
    first, second = _checked(images, "images"), _checked(texts, "texts")
    _same_width(first, second)
    for rows, name in ((first, "images"), (second, "texts")):
        empty = np.flatnonzero(~rows.any(axis=1))
        if empty.size:
            raise InputError(f"{name}: row {empty[0]} is zero throughout; it has no direction")
    return np.clip(100 * _unit(first) @ _unit(second).T, -100, 100)


def heterogeneous_clip_score(images: Any, texts: Any, *, image_centre: Any) -> FloatArray:
    """HCS: ``100 · cos`` of images and texts as seen from their own centres.

    The origin of images is the centre of the real set, that of texts the centre of the attributes:
    hence a score depends on the other attributes asked for. Embeddings are brought to length 1
    first.

    Args:
        images: embeddings (N, D), of any length but 0.
        texts: embeddings (A, D) of all attributes.
        image_centre: (D,), ``embedding_centre`` of the real set, for both sets.

    Returns:
        float64 (N, A) in [−100, 100]; NaN where an image or a text lies on its centre, as the text
        of a single attribute does.

    Raises:
        InputError: as ``clip_score``.

    Source: Kim et al., "Attribute Based Interpretable Evaluation Metrics for Generative Models"
    (ICML 2024).
    """
    clip_score(images, texts)  # for its checks
    first, second = _unit(_checked(images, "images")), _unit(_checked(texts, "texts"))
    centre = np.asarray(image_centre, np.float64)
    if centre.shape != first.shape[1:] or not np.isfinite(centre).all():
        raise InputError(f"image_centre: expected {first.shape[1:]} finite numbers")
    return np.clip(
        100 * _direction(first - centre) @ _direction(second - second.mean(axis=0)).T, -100, 100
    )


def embedding_centre(images: Any) -> FloatArray:
    """Mean of the embeddings (N, D), each brought to length 1: float64 (D,).

    The same to the last bit for any order of the images.
    """
    return ordered_sum(_unit(_checked(images, "images")).T) / len(images)


def _checked(rows: Any, name: str) -> FloatArray:
    array = np.asarray(rows)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found dtype {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name}: expected shape (rows, D), found {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: holds a value that is not finite")
    return array.astype(np.float64)


def _same_width(images: FloatArray, texts: FloatArray) -> None:
    if images.shape[1] != texts.shape[1]:
        raise InputError(f"images have {images.shape[1]} dimensions but texts {texts.shape[1]}")


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _direction(rows: FloatArray) -> FloatArray:
    """Rows brought to length 1; NaN for one that is 0 but for rounding."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > 1e-9, rows / length, np.nan)
