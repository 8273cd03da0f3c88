"""MS at the size of COCO, streaming."""

from typing import Any

import numpy as np

from bench.inputs import COCO, codes
from bench.measure import peak_bytes, read_seconds, timed
from benchmark.metrics import monosemanticity

WIDTH = 768


def _embeddings() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((COCO.rows, WIDTH), dtype=np.float32)


def _once() -> None:
    monosemanticity(codes(COCO), _embeddings())


def run() -> dict[str, Any]:
    """Time and memory of the MS of every latent."""
    latents, embeddings = codes(COCO), _embeddings()
    own = timed(lambda: monosemanticity(latents, embeddings), 2).best
    size = latents.data.nbytes + latents.indices.nbytes + embeddings.nbytes
    return {
        "ms": {
            "what": f"MS, {COCO.rows:,} × {COCO.latents:,}, embeddings of {WIDTH}",
            "seconds": own,
            "over_reading_input_once": own / read_seconds(size),
            "peak_bytes": peak_bytes(_once),
        }
    }
