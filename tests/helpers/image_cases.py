"""Small image sets for comparisons, and a tiny CLIP model to score them with."""

from pathlib import Path
from typing import Any

import clip_models
import numpy as np
import open_clip
from PIL import Image

from benchmark.generative import dense_clip

NAMES = ("a hat", "eyeglasses", "a red square")


def tiny_clip(seed: int = 0) -> Any:
    """A tiny open_clip model with random weights."""
    model = clip_models.open_clip_model(seed=seed)
    return dense_clip(model, open_clip.SimpleTokenizer(), name=f"tiny-{seed}")


def picture(seed: int, size: tuple[int, int] = (40, 32), shift: int = 0) -> Image.Image:
    """A seeded picture: blocks of colour, brighter by ``shift``."""
    cells = np.random.default_rng(seed).integers(0, 200, (4, 5, 3)) + shift
    return Image.fromarray(cells.clip(0, 255).astype(np.uint8)).resize(size)


def folder_of(
    root: Path, count: int, *, start: int = 0, shift: int = 0, size: tuple[int, int] = (40, 32)
) -> Path:
    """A folder with that many pictures, half of them in a sub-folder."""
    for k in range(count):
        place = root / ("b" if k % 2 else "a") / f"{k // 2}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        picture(start + k, size, shift).save(place)
    return root


class Encoder:
    """Mean colours of a picture's quarters: 12 numbers, no network."""

    name, dim, weights_sha256, preprocessing = "quarters", 12, "0" * 64, "2 x 2 means; v1"
    batch_size, runtime = 4, "numpy"

    def __init__(self) -> None:
        self.seen = 0

    def encode(self, images: Any) -> np.ndarray:
        self.seen += len(images)
        small = [np.asarray(image.resize((2, 2)), np.float32).ravel() for image in images]
        return np.stack(small) / 255
