"""Image encoders. A new one is one module here and one line in ``ENCODERS``."""

import os

from benchmark.encoders.base import Encoder, EncoderInfo
from benchmark.errors import UserError
from benchmark.registry import Registry

# OpenMP reads this when it starts: threads that spin while they wait make small forward passes
# many times slower on a busy machine.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

ENCODERS = Registry(
    "encoder",
    {
        "clip-vit-l-14": "benchmark.encoders.families:CLIP_VIT_L_14",
        "dinov2-vit-s-14": "benchmark.encoders.families:DINOV2_VIT_S_14",
        "efficientnet-lite0": "benchmark.encoders.efficientnet_lite0:EfficientNetLite0",
        "open_clip": "benchmark.encoders.families:OPEN_CLIP",
        "siglip2-vit-b-16": "benchmark.encoders.families:SIGLIP2_VIT_B_16",
        "timm": "benchmark.encoders.families:TIMM",
        "transformers": "benchmark.encoders.families:TRANSFORMERS",
    },
)

__all__ = ["ENCODERS", "Encoder", "EncoderInfo", "load_encoder"]


def load_encoder(name: str) -> Encoder:
    """The encoder called ``name``.

    Some names take options after a colon, ``dinov2-vit-s-14:token=mean,layer=9``; those of a
    whole library take a model first, ``timm:vit_small_patch14_dinov2.lvd142m,dtype=bf16`` or
    ``transformers:./folder``. The options: ``benchmark.encoders.choice.Choice``.

    Raises ``UserError`` for an unknown name (listing the known ones), a wrong option, and where
    weights or the package that holds them are missing (with the command that gets them).
    """
    from benchmark.encoders.vision import Family

    registered, colon, options = name.partition(":")
    entry = ENCODERS.load(registered)
    if isinstance(entry, Family):
        return entry.open(options)
    if colon:
        raise UserError(f"encoder {registered} takes no options, found {name!r}")
    encoder: Encoder = entry()
    return encoder
