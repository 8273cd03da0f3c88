"""Settings of the classifier's training; the defaults are the concept-annotation paper's."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from benchmark.errors import UserError

TRAINER_VERSION = 1
"""Raised when the same recipe gives other weights."""
MIN_SIZE = 32
"""A ResNet-50 divides the side by 32."""

_BOUNDS = {
    "size": (MIN_SIZE, 2048),
    "epochs": (1, 10_000),
    "batch_size": (2, 8192),
    "least": (1, 1_000_000),
}


@dataclass(frozen=True)
class Recipe:
    """How to train the classifier that judges edits.

    Attributes:
        seed: of the split, the new layer, the order of pictures and their mirroring.
        size: side in pixels that pictures are squashed to; nothing is cropped away.
        epochs, batch_size: of the training.
        learning_rate, weight_decay: of AdamW; the rate falls to 0 along a half cosine.
        validation: share of the pictures that choose the epoch and the thresholds.
        least: positives, and negatives, that a concept needs among them for its threshold to count
            as validated.
        most_weight: largest weight of a positive; it is negatives / positives where that is less.
    """

    seed: int = 0
    size: int = 224
    epochs: int = 10
    batch_size: int = 32
    learning_rate: float = 3e-4
    weight_decay: float = 1e-2
    validation: float = 0.2
    least: int = 5
    most_weight: float = 100.0

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise UserError(f"{name} is {getattr(self, name)}; expected {low} to {high:,}")
        for name in ("learning_rate", "weight_decay", "most_weight"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UserError(f"{name} is {value}; expected a number above 0")
        if not 0 < self.validation < 1:
            raise UserError(f"validation is {self.validation}; expected a share between 0 and 1")
        if isinstance(self.seed, bool) or not 0 <= self.seed < 2**53:
            raise UserError(f"seed is {self.seed}; expected a whole number from 0 to 2^53 - 1")

    def as_dict(self) -> dict[str, Any]:
        """Plain settings, as ``classifier.json`` holds them."""
        return asdict(self)
