"""The dense pass of CLIP against the plain forward pass of the same model, with random weights."""

import statistics
import time
from typing import Any

import torch

IMAGES = 4
ATTRIBUTES = 20
SIZES = {
    "vit_b_16": {"layers": 12, "width": 768, "head_width": 64, "patch_size": 16},
    "vit_l_14": {"layers": 24, "width": 1024, "head_width": 64, "patch_size": 14},
}


def _model(vision: dict[str, int]) -> Any:
    """An open_clip model with the image tower of that size and a text tower of one block."""
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    torch.manual_seed(0)
    text = CLIPTextCfg(width=64, heads=1, layers=1, vocab_size=100)
    return CLIP(512, CLIPVisionCfg(**vision), text).eval()


def _tokenizer(texts: list[str], context_length: int) -> torch.Tensor:
    return torch.ones(len(texts), context_length, dtype=torch.long)


def _ratio(vision: dict[str, int], repeats: int) -> dict[str, Any]:
    from benchmark.generative import dense_clip
    from benchmark.generative.refine import Options, score_tokens

    clip = dense_clip(_model(vision), _tokenizer, name="random")
    pixels = torch.randn(IMAGES, 3, *clip.size)
    texts = torch.nn.functional.normalize(torch.randn(2, ATTRIBUTES, 512), dim=-1)

    def scores() -> None:
        tokens = clip.dense(pixels)
        score_tokens(tokens, texts[0], texts[1], clip.logit_scale, Options())

    plain: list[float] = []
    dense: list[float] = []
    for _ in range(repeats + 1):
        # in turns, so that a slow moment of the machine meets both
        for call, runs in ((lambda: clip.encode_image(pixels), plain), (scores, dense)):
            start = time.perf_counter()
            call()
            runs.append(time.perf_counter() - start)
    ratios = [d / p for d, p in zip(dense[1:], plain[1:], strict=True)]
    return {
        "plain_seconds_per_image": min(plain[1:]) / IMAGES,
        "dense_seconds_per_image": min(dense[1:]) / IMAGES,
        "over_plain_forward": min(dense[1:]) / min(plain[1:]),
        "over_plain_forward_median_of_turns": statistics.median(ratios),
    }


def run() -> dict[str, Any]:
    """Time an image and ratio at both sizes; the scores of 20 attributes are part of the pass."""
    found = {}
    for name, vision in SIZES.items():
        what = f"dense CLIP, {name}, {IMAGES} images, {ATTRIBUTES} attributes"
        found[f"dense_{name}"] = {"what": what, **_ratio(vision, 4)}
    return found
