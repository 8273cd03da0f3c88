"""A comparison of synthetic sets of any size, in a process of its own: prints its peak memory."""

import io
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import clip_models
import numpy as np
import open_clip
from PIL import Image

from benchmark.generative import dense_clip

ATTRIBUTES = [f"attribute {k}" for k in range(24)]


class Made:
    """Images that exist only while they are read."""

    about: dict[str, Any]

    def __init__(self, count: int, start: int) -> None:
        self.name = f"made {start}"
        self.ids: Sequence[str] = [f"{k:06}.png" for k in range(count)]
        self.start = start
        self.about = {"kind": "folder", "name": self.name,
                      "left_out": {"other_files": 0, "hidden": 0}}  # fmt: skip

    def encoded(self, index: int) -> bytes:
        pixels = np.random.default_rng(self.start + index).integers(0, 256, (80, 80, 3), np.uint8)
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, "bmp")
        return stream.getvalue()

    def describe(self, index: int) -> str:
        return self.ids[index]


def main(count: int, home: Path) -> None:
    from benchmark.generative.compare import Plan, compare

    plan = Plan(resamples=4, permutations=4, batch_size=64)
    sides = Made(count, 0), Made(count, 10**6)
    model = clip_models.open_clip_model(patch_size=4)
    clip = dense_clip(model, open_clip.SimpleTokenizer(), name="tiny")
    found = compare(*sides, ATTRIBUTES, model=clip, plan=plan, home=home)
    assert found.document["generated"]["n"] == count
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
