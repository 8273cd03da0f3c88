"""From pre-activations to codes: one small class per rule."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor


class Activation(Protocol):
    """Codes (n, d), not negative, from pre-activations (n, d)."""

    def __call__(self, pre: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class TopK:
    """The k largest pre-activations of each row, the negative ones among them cut to 0."""

    k: int

    def __call__(self, pre: Tensor) -> Tensor:
        values, latents = pre.topk(min(self.k, pre.shape[1]), dim=1, sorted=False)
        return torch.zeros_like(pre).scatter_(1, latents, values.clamp_min(0))


@dataclass(frozen=True)
class GroupMax:
    """The largest pre-activation of each of k equal groups of neighbouring latents."""

    k: int

    def __call__(self, pre: Tensor) -> Tensor:
        grouped = pre.clamp_min(0).unflatten(1, (self.k, -1))
        values, places = grouped.max(dim=2, keepdim=True)
        return torch.zeros_like(grouped).scatter_(2, places, values).flatten(1)


@dataclass(frozen=True)
class Relu:
    """Pre-activations with the negative ones cut to 0."""

    def __call__(self, pre: Tensor) -> Tensor:
        return pre.clamp_min(0)


@dataclass(frozen=True)
class Threshold:
    """Pre-activations above a threshold, others 0: JumpReLU, and BatchTopK at inference.

    Attributes:
        threshold: float32 () or (d,).
        shift: lift codes by ``−min(threshold, 0)`` so that a latent that passes a negative
            threshold still has a code above 0 (the rule of the untrained twin).
    """

    threshold: Tensor
    shift: bool = False

    def __call__(self, pre: Tensor) -> Tensor:
        passes = pre > self.threshold
        codes = pre - self.threshold.clamp_max(0) if self.shift else pre
        return torch.where(passes, codes, 0.0).clamp_min(0)


@dataclass(frozen=True)
class Gated:
    """A gate decides activity, a tied second path the magnitude.

    Attributes:
        gate_bias, magnitude_bias: float32 (d,).
        log_scale: float32 (d,); the magnitude path scales the shared pre-activation by its
            exponential.
    """

    gate_bias: Tensor
    log_scale: Tensor
    magnitude_bias: Tensor

    def __call__(self, pre: Tensor) -> Tensor:
        magnitude = (pre * self.log_scale.exp() + self.magnitude_bias).clamp_min(0)
        return torch.where(pre + self.gate_bias > 0, magnitude, 0.0)
