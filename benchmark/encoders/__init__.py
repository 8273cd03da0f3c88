"""Image encoders. A new one is one module here and one line in ``ENCODERS``."""

import os

from benchmark.encoders.base import Encoder, EncoderInfo
from benchmark.registry import Registry

# OpenMP reads this when it starts: threads that spin while they wait make small forward passes
# many times slower on a busy machine.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

ENCODERS = Registry(
    "encoder",
    {
        "efficientnet-lite0": "benchmark.encoders.efficientnet_lite0:EfficientNetLite0",
    },
)

__all__ = ["ENCODERS", "Encoder", "EncoderInfo", "load_encoder"]


def load_encoder(name: str) -> Encoder:
    """The encoder called ``name``.

    Raises ``UserError`` for an unknown name (listing the known ones) and where the package that
    holds the weights is missing (with the command that installs it).
    """
    encoder: Encoder = ENCODERS.load(name)()
    return encoder
