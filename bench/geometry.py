"""Decoder redundancy of a large dictionary, against the matrix product it needs."""

from typing import Any

import numpy as np

from bench.measure import peak_bytes, timed
from benchmark.metrics import decoder_redundancy

LATENTS, WIDTH = 65_536, 768


def _decoder(latents: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((latents, WIDTH), dtype=np.float32)


def _redundancy(latents: int) -> None:
    rho = np.full(latents, 1 / latents)
    decoder_redundancy(_decoder(latents), rho, np.ones(latents, bool))


def run() -> dict[str, Any]:
    """Time and memory; the ratio is to the half of ``D Dᵀ`` in blocks of the same size."""
    decoder = _decoder(LATENTS // 4)
    rho, alive = np.full(len(decoder), 1 / len(decoder)), np.ones(len(decoder), bool)

    def product() -> None:
        for top in range(0, len(decoder), 4096):
            for left in range(top, len(decoder), 4096):
                decoder[top : top + 4096] @ decoder[left : left + 4096].T

    own = timed(lambda: decoder_redundancy(decoder, rho, alive), 2).best
    return {
        "redundancy": {
            "what": f"decoder redundancy, {len(decoder):,} × {WIDTH}",
            "seconds": own,
            "over_half_matrix_product": own / timed(product, 2).best,
            "peak_bytes_at_65536": peak_bytes(_redundancy, LATENTS),
        }
    }
