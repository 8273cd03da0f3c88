"""Embedding pictures, against the bare forward pass of the same network on the same cores."""

import io
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from bench.measure import timed
from benchmark.datasets import Dataset
from benchmark.encoders import load_encoder
from benchmark.features import embed
from benchmark.images import read_image

# Half of ViT-B/16's blocks: the other half would only make reading pictures look cheaper.
DEPTH, BATCH, PICTURES, SIZE, TURNS = 6, 16, 128, (500, 375), 2


class _Pictures:
    """JPEG files in memory, no two alike."""

    def __init__(self, count: int) -> None:
        generator = np.random.default_rng(0)
        self._data = []
        for _ in range(count):
            coarse = generator.integers(0, 256, (48, 64, 3), dtype=np.uint8)
            stream = io.BytesIO()
            picture = Image.fromarray(coarse).resize(SIZE, Image.Resampling.BICUBIC)
            picture.save(stream, "jpeg", quality=92)
            self._data.append(stream.getvalue())

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: int) -> Image.Image:
        return read_image(self._data[index])

    def __iter__(self) -> Iterator[Image.Image]:
        return (self[index] for index in range(len(self)))

    def encoded(self, index: int) -> bytes:
        return self._data[index]


def _dataset(pictures: _Pictures) -> Dataset:
    rows = np.arange(len(pictures))
    return Dataset(
        name="random pictures",
        revision="1",
        concepts=("a",),
        groups=("a",),
        ids=tuple(f"p{row}" for row in rows),
        annotations=rows[:, None] % 2 == 0,
        images=pictures,
        splits={"match": rows[::2], "score": rows[1::2]},
        pairs=None,
    )


def _write_model(folder: Path) -> Any:
    import timm
    from timm.models import save_for_hf

    model = timm.create_model("vit_base_patch16_224", pretrained=False, depth=DEPTH).eval()
    save_for_hf(model, str(folder), model_args={"depth": DEPTH}, safe_serialization=True)
    return model


def _seconds(call: Callable[[], Any]) -> float:
    """One run, without a warm-up: what is embedded once is in the cache."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run() -> dict[str, Any]:
    """Seconds of both, and their ratio; the bare pass uses every core on a batch at a time."""
    import torch

    pictures = _Pictures(PICTURES)
    dataset = _dataset(pictures)
    with tempfile.TemporaryDirectory() as place:
        model = _write_model(Path(place) / "model")
        encoder = load_encoder(f"timm:{place}/model,token=cls,batch={BATCH},device=cpu")
        encoder.encode([])  # reads the weights
        x = torch.zeros(BATCH, 3, 224, 224)

        def bare() -> None:
            with torch.inference_mode():
                for _ in range(PICTURES // BATCH):
                    model.forward_features(x)

        with torch.inference_mode():
            model.forward_features(x)
        forward, own = [], []
        for turn in range(TURNS):
            forward.append(_seconds(bare))
            own.append(_seconds(partial(embed, dataset, encoder, home=Path(place) / str(turn))))
    reading = timed(lambda: [image.load() for image in pictures], 1).best
    return {
        "embed": {
            "what": f"embed, {PICTURES} JPEG of {SIZE[0]} × {SIZE[1]}, {DEPTH} blocks of ViT-B/16",
            "seconds": min(own),
            "pictures_per_second": PICTURES / min(own),
            "forward_seconds": min(forward),
            "decode_seconds_one_thread": reading,
            "over_bare_forward": min(own) / min(forward),
        }
    }
