"""Memory of loading a large SAE, against the size of its weights."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import peak_bytes
from benchmark.files import write_json
from benchmark.saes import load_sae
from benchmark.tensors import write_tensors

LATENTS, WIDTH = 131_072, 2_304


def _write(folder: Path) -> int:
    weights = np.zeros((LATENTS, WIDTH), np.float32)
    weights[:, 0] = 1
    tensors = {
        "W_enc": weights.reshape(WIDTH, LATENTS),
        "W_dec": weights,
        "b_enc": np.zeros(LATENTS, np.float32),
        "b_dec": np.zeros(WIDTH, np.float32),
        "threshold": np.ones(LATENTS, np.float32),
    }
    write_tensors(folder / "sae_weights.safetensors", tensors, {})
    config = {"architecture": "jumprelu", "d_in": WIDTH, "d_sae": LATENTS}
    write_json(folder / "cfg.json", config)
    return sum(tensor.nbytes for tensor in tensors.values())


def _load(folder: str) -> None:
    load_sae(folder).encode(np.zeros((1, WIDTH), np.float32))


def run() -> dict[str, Any]:
    """Peak memory of loading and encoding one row; imports alone take about 0.4 GB of it."""
    with tempfile.TemporaryDirectory() as place:
        size = _write(Path(place))
        peak = peak_bytes(_load, place)
    return {
        "load_sae": {
            "what": f"load_sae, {LATENTS:,} × {WIDTH:,}",
            "weights_bytes": size,
            "peak_bytes": peak,
            "peak_over_weights": peak / size,
        }
    }
