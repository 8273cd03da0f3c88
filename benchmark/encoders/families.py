"""Encoders that a library builds: three families that take any model, and pinned models.

A pinned model is one line here and one in ``ENCODERS``: a commit of the Hub and the hash of its
weights, so that its name means the same features wherever it is used.
"""

from benchmark.encoders import open_clip_models, timm_models, transformers_models
from benchmark.encoders.vision import Family
from benchmark.encoders.weights import Pin

OPEN_CLIP = Family("open_clip", open_clip_models.read)
TIMM = Family("timm", timm_models.read)
TRANSFORMERS = Family("transformers", transformers_models.read)

# OpenAI's weights as timm/vit_large_patch14_clip_224.openai holds them.
CLIP_VIT_L_14 = Family(
    "clip-vit-l-14",
    open_clip_models.read,
    Pin(
        "ViT-L-14-quickgelu/openai",
        revision="18d0535469bb561bf468d76c1d73aa35156c922b",
        sha256="9ce2e8a8ebfff3793d7d375ad6d3c35cb9aebf3de7ace0fc7308accab7cd207e",
    ),
)
DINOV2_VIT_S_14 = Family(
    "dinov2-vit-s-14",
    transformers_models.read,
    Pin(
        "facebook/dinov2-small",
        revision="ed25f3a31f01632728cabb09d1542f84ab7b0056",
        sha256="ae1e99fcefd534ed978cdeb8326f08030c96e28b7a81ffcbc98a857c84d14be1",
    ),
)
SIGLIP2_VIT_B_16 = Family(
    "siglip2-vit-b-16",
    transformers_models.read,
    Pin(
        "google/siglip2-base-patch16-224",
        revision="75de2d55ec2d0b4efc50b3e9ad70dba96a7b2fa2",
        sha256="612923381c76ec5a9bed335d1c48827e3f2e506ac31b044b63b2031fadee6a0b",
    ),
)
