"""A small dataset and a fast encoder for the tests of features; runs as a script to be killed."""

import io
import os
import signal
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from benchmark.datasets import Dataset, PairSequence
from benchmark.features import embed
from benchmark.images import read_image

SIDE = 16


class Pictures:
    """PNG bytes by row."""

    def __init__(self, data):
        self.data = list(data)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return read_image(self.data[index])

    def __iter__(self):
        return map(read_image, self.data)

    def encoded(self, index):
        return self.data[index]


def png(seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def small_dataset(n=300, n_pairs=40, *, shift=0):
    """``n`` pictures and ``n_pairs`` pairs, two concepts; half the base pictures occur twice."""
    pictures = [png(shift + i) for i in range(n)]
    base = [png(10_000 + i // 2) for i in range(n_pairs)]
    edited = [png(20_000 + i) for i in range(n_pairs)]
    pairs = PairSequence(
        ids=tuple(f"pair-{i}" for i in range(n_pairs)),
        base=Pictures(base),
        edited=Pictures(edited),
        added=(0,) * n_pairs,
        removed=(None,) * n_pairs,
        present=np.zeros((n_pairs, 2), dtype=bool),
    )
    return Dataset(
        name="small",
        revision="1",
        concepts=("a", "b"),
        groups=("g", "h"),
        ids=tuple(f"image-{shift + i}" for i in range(n)),
        annotations=np.tile(np.arange(n)[:, None] % 2 == 0, (1, 2)),
        images=Pictures(pictures),
        splits={"match": np.arange(0, n, 2), "score": np.arange(1, n, 2)},
        pairs=pairs if n_pairs else None,
    )


class TinyEncoder:
    """Means of pixel rows; ``encoded`` counts images, ``kill_at`` ends the process by SIGKILL."""

    name = "tiny"
    dim = SIDE
    weights_sha256 = "0" * 64
    preprocessing = "none; v1"
    batch_size = 4
    runtime = "numpy"

    def __init__(self, *, kill_at=None, log=None):
        self.encoded = 0
        self.kill_at = kill_at
        self.log = log

    def encode(self, images):
        self.encoded += len(images)
        if self.kill_at is not None and self.encoded > self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.log is not None:
            with self.log.open("a") as stream:
                stream.write("x" * len(images))
        pixels = np.stack([np.asarray(image) for image in images]).astype(np.float32)
        return pixels.mean((2, 3))


def distinct(dataset):
    """Number of different pictures in a dataset."""
    tables = [dataset.images, dataset.pairs.base, dataset.pairs.edited]
    return len({data for table in tables for data in table.data})


def _run(home, where, log):
    encoder = TinyEncoder(log=Path(log))
    if where.startswith("encode:"):
        encoder.kill_at = int(where.removeprefix("encode:"))
    if where.startswith("write:"):
        # In the middle of writing the named file.
        import benchmark.feature_store as store

        name, original = where.removeprefix("write:"), store.replacing

        def replacing(path):
            if path.name == name:
                path.with_name(f".{name}.left.tmp").write_bytes(b"half")
                os.kill(os.getpid(), signal.SIGKILL)
            return original(path)

        store.replacing = replacing
    if where == "complete":
        import benchmark.feature_store as store

        original_json = store.write_json

        def write_json(path, document):
            if path.name == "complete.json":
                os.kill(os.getpid(), signal.SIGKILL)
            original_json(path, document)

        store.write_json = write_json
    embed(small_dataset(), encoder, home=Path(home), workers=1)


if __name__ == "__main__":
    _run(*sys.argv[1:])
