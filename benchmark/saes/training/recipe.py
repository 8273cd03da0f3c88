"""Settings of a training run; the defaults are the concept-annotation paper's."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from benchmark.errors import UserError

ARCHITECTURES = ("topk", "batchtopk", "matryoshka", "jumprelu", "relu", "gated", "p_anneal")

_SPARSITY = {"jumprelu": 1e-3, "relu": 1e-3, "gated": 3e-3, "p_anneal": 6e-4}


@dataclass(frozen=True)
class Recipe:
    """How to train one reference SAE.

    Attributes:
        architecture: one of ``ARCHITECTURES``.
        d_sae: dictionary size.
        k: active latents a row, for the TopK family.
        seed: of weights and batch order; same seed, same file.
        epochs, batch_size, learning_rate: of Adam.
        aux_k, aux_weight: dead latents that reconstruct the residual, and the weight of that loss
            (TopK family).
        dead_after: batches without firing after which a latent counts as dead.
        sparsity: weight of the sparsity penalty (others than the TopK family); None takes the
            architecture's default.
        bandwidth: of JumpReLU's straight-through estimator.
        p_end: the power that P-anneal ends with, from 1.
        normalisation: as in ``Sae``.
    """

    architecture: str
    d_sae: int
    k: int = 32
    seed: int = 0
    epochs: int = 50
    batch_size: int = 64
    learning_rate: float = 5e-4
    aux_k: int = 512
    aux_weight: float = 1 / 32
    dead_after: int = 25
    sparsity: float | None = None
    bandwidth: float = 1e-3
    p_end: float = 0.2
    normalisation: str = "standardise"

    def __post_init__(self) -> None:
        if self.architecture not in ARCHITECTURES:
            raise UserError(
                f"unknown architecture {self.architecture!r}; known: {', '.join(ARCHITECTURES)}"
            )
        for name in ("d_sae", "k", "epochs", "batch_size", "aux_k", "dead_after"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}; expected at least 1")
        if self.k > self.d_sae:
            raise UserError(f"k is {self.k}, more than the {self.d_sae} latents there are")
        for name in ("learning_rate", "bandwidth", "p_end"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UserError(f"{name} is {value}; expected a number above 0")
        if isinstance(self.seed, bool) or not 0 <= self.seed < 2**53:
            raise UserError(f"seed is {self.seed}; expected a whole number from 0 to 2^53 - 1")
        if self.sparsity is not None and not (math.isfinite(self.sparsity) and self.sparsity >= 0):
            raise UserError(f"sparsity is {self.sparsity}; expected a number of at least 0")
        if self.sparsity is None and self.architecture in _SPARSITY:
            object.__setattr__(self, "sparsity", _SPARSITY[self.architecture])

    def as_dict(self) -> dict[str, Any]:
        """Plain settings, as they are written into the SAE's ``config.json``."""
        return asdict(self)


def matryoshka_prefixes(d_sae: int) -> list[int]:
    """Nested prefixes d/32, d/16, …, d; the largest is the whole dictionary."""
    return sorted({max(1, d_sae // (1 << power)) for power in range(6)})
