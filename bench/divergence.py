"""SaD and PaD of two large sets, with their intervals and permutation nulls."""

from typing import Any

import numpy as np

from bench.measure import peak_bytes, timed
from benchmark.generative import compare_attributes

IMAGES, ATTRIBUTES = 50_000, 20


def _scores(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((IMAGES, ATTRIBUTES))


def _compare() -> None:
    compare_attributes(_scores(0), _scores(1))


def run() -> dict[str, Any]:
    """1,000 resamples and 1,000 relabellings; the ratio is to the products they need."""
    real, generated = _scores(0), _scores(1)
    own = timed(lambda: compare_attributes(real, generated), 2).best
    columns = np.ones((2 * IMAGES, ATTRIBUTES * (ATTRIBUTES + 3) // 2))
    weights = np.ones((100, 2 * IMAGES))
    product = timed(lambda: weights @ columns, 2).best * 20
    return {
        "divergence": {
            "what": f"SaD and PaD, 2 × {IMAGES:,} images, {ATTRIBUTES} attributes",
            "seconds": own,
            "over_its_matrix_products": own / product,
            "peak_bytes": peak_bytes(_compare),
        }
    }
