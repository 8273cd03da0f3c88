"""What an SAE does to its input first, and how a reconstruction is taken back."""

from collections.abc import Callable
from typing import TypeAlias

import torch

Tensor: TypeAlias = torch.Tensor
Normalised: TypeAlias = tuple[Tensor, Tensor, Tensor]
"""Normalised rows, and the shift and scale (n, 1) that take a reconstruction back."""

_EPSILON = 1e-5


def none(x: Tensor) -> Normalised:
    """Rows as they are."""
    return x, torch.zeros(len(x), 1), torch.ones(len(x), 1)


def standardise(x: Tensor) -> Normalised:
    """Each row with mean 0 and standard deviation 1 (plus 1e-5); taken back exactly."""
    mean = x.mean(dim=1, keepdim=True)
    scale = x.std(dim=1, keepdim=True) + _EPSILON
    return (x - mean) / scale, mean, scale


def layer_norm(x: Tensor) -> Normalised:
    """As ``standardise``, but taken back without the 1e-5, as public libraries do."""
    rows, mean, scale = standardise(x)
    return rows, mean, scale - _EPSILON


def constant_norm_rescale(x: Tensor) -> Normalised:
    """Each row scaled to norm √D."""
    norm = x.norm(dim=1, keepdim=True)
    scale = norm.clamp_min(torch.finfo(x.dtype).tiny) / x.shape[1] ** 0.5
    return x / scale, torch.zeros(len(x), 1), scale


NORMALISATIONS: dict[str, Callable[[Tensor], Normalised]] = {
    "none": none,
    "standardise": standardise,
    "layer_norm": layer_norm,
    "constant_norm_rescale": constant_norm_rescale,
}
