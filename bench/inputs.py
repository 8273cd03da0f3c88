"""Synthetic codes and annotations at the sizes of the paper's datasets."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Size:
    """A dataset's size: images, concepts, latents, active latents an image, concept prevalence."""

    name: str
    rows: int
    concepts: int
    latents: int = 4096
    active: int = 32
    prevalence: float = 0.1


CUB = Size("CUB test, 4,096 latents", 5_794, 312, prevalence=0.1)
COCO = Size("COCO train, 4,096 latents", 118_287, 80, prevalence=0.036)


def codes(size: Size, seed: int = 0) -> sp.csr_array:
    """Random codes with exactly ``active`` latents on each row, float32 csr (rows, latents)."""
    generator = np.random.default_rng(seed)
    step = size.latents // size.active
    # one latent from each of ``active`` equal ranges: distinct without rejection
    first = np.arange(size.active) * step
    indices = (first + generator.integers(0, step, (size.rows, size.active))).astype(np.int32)
    values = generator.random(size.rows * size.active, dtype=np.float32) + 0.1
    indptr = np.arange(0, size.rows * size.active + 1, size.active, dtype=np.int32)
    return sp.csr_array((values, indices.ravel(), indptr), shape=(size.rows, size.latents))


def concepts(size: Size, seed: int = 1) -> np.ndarray:
    """Random annotations, bool (rows, concepts)."""
    generator = np.random.default_rng(seed)
    return generator.random((size.rows, size.concepts), dtype=np.float32) < size.prevalence
