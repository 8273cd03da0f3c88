"""Features that are known sums of concept directions: every score has an answer."""

from dataclasses import dataclass

import numpy as np

from benchmark.measure import Labels
from benchmark.saes import Sae
from benchmark.saes.activations import Relu


@dataclass(frozen=True)
class Planted:
    """Features by part, their labels, and the directions they are made of."""

    features: dict[str, np.ndarray]
    labels: Labels
    directions: np.ndarray


def planted(
    *, concepts: int = 12, width: int = 32, match: int = 150, score: int = 90, pairs: int = 80
) -> Planted:
    """Noise-free features on orthonormal directions; pairs add, remove or swap."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((width, width)))[0][:concepts]

    def present(rows: int) -> np.ndarray:
        return rng.random((rows, concepts)) < 0.3

    def features(there: np.ndarray) -> np.ndarray:
        return ((there * (1 + rng.random(there.shape))) @ directions).astype(np.float32)

    base = present(pairs)
    edited, added, removed = base.copy(), [], []
    for pair in range(pairs):
        off, on = np.flatnonzero(~base[pair]), np.flatnonzero(base[pair])
        add = int(rng.choice(off)) if pair % 4 != 0 or not on.size else None
        remove = int(rng.choice(on)) if on.size and (pair % 4 != 1 or add is None) else None
        added.append(add)
        removed.append(remove)
        if add is not None:
            edited[pair, add] = True
        if remove is not None:
            edited[pair, remove] = False
    splits = {"match": present(match), "score": present(score)}
    labels = Labels(
        tuple(f"group: {i}" for i in range(concepts)),
        splits["match"],
        splits["score"],
        base,
        tuple(added),
        tuple(removed),
        tuple(f"pair-{i}" for i in range(pairs)),
    )
    rows = {**splits, "base": base, "edited": edited}
    return Planted({part: features(there) for part, there in rows.items()}, labels, directions)


def true_sae(data: Planted, spare: int = 4) -> Sae:
    """The SAE whose first latents are the planted directions; ``spare`` latents are dead."""
    count, width = data.directions.shape
    decoder = np.zeros((count + spare, width), np.float32)
    decoder[:count] = data.directions
    bias = np.full(count + spare, -0.5, np.float32)
    return Sae(
        architecture="relu",
        encoder=decoder,
        encoder_bias=bias,
        decoder=decoder,
        decoder_bias=np.zeros(width, np.float32),
        activation=Relu(),
        normalisation="none",
    )
