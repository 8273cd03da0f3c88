"""Small SAEs with random weights, one for each activation."""

import numpy as np
import torch

from benchmark.saes import Sae
from benchmark.saes.activations import Activation, Gated, Relu, Threshold, TopK


def build(activation: Activation, *, d_sae: int = 40, d_in: int = 12, seed: int = 0) -> Sae:
    """An SAE with this activation and normal weights."""
    draw = np.random.default_rng(seed)

    def values(*shape: int) -> np.ndarray:
        return draw.standard_normal(shape).astype(np.float32)

    return Sae(
        architecture="topk",
        encoder=values(d_sae, d_in),
        encoder_bias=values(d_sae),
        decoder=values(d_sae, d_in),
        decoder_bias=values(d_in),
        activation=activation,
    )


def rules(d_sae: int = 40) -> dict[str, Activation]:
    """One activation of each kind."""
    draw = torch.Generator().manual_seed(1)

    def values() -> torch.Tensor:
        return torch.randn(d_sae, generator=draw)

    return {
        "topk": TopK(5),
        "relu": Relu(),
        "threshold": Threshold(values().abs()),
        "gated": Gated(values(), 0.1 * values(), values()),
    }
