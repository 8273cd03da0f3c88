"""Tiny CLIP models with random weights, of every kind that the dense pass knows."""

import functools
from typing import Any

import torch
from torch import nn
from torch.nn import functional

SIZE, PATCH = 32, 8
TEXTS = ["This is a photo of a hat.", "This is a photo without glasses."]


def open_clip_model(*, layers: int = 3, seed: int = 0, **vision: Any) -> Any:
    """A tiny model of open_clip in evaluation mode."""
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    torch.manual_seed(seed)
    options = {"layers": layers, "width": 48, "head_width": 16, "patch_size": PATCH}
    cfg = CLIPVisionCfg(**{**options, "image_size": SIZE, **vision})
    return _shaken(CLIP(24, cfg, CLIPTextCfg(width=32, heads=2, layers=2)))


def own_attention(model: Any) -> Any:
    """The same model with open_clip's own attention class in each block, as in its releases 4.x."""
    for block in model.visual.transformer.resblocks:
        block.attn = OwnAttention(block.attn)
        block.attention = functools.partial(_asked_as_in_4, block)
    return model


def _asked_as_in_4(block: Any, q_x, k_x=None, v_x=None, attn_mask=None):
    return block.attn(q_x, k_x=q_x, v_x=q_x, attn_mask=attn_mask)


class OwnAttention(nn.Module):
    """Written from the description of open_clip 4.x: no weights come out, only the result."""

    def __init__(self, old: nn.MultiheadAttention) -> None:
        super().__init__()
        self.num_heads = old.num_heads
        self.in_proj_weight, self.in_proj_bias = old.in_proj_weight, old.in_proj_bias
        self.out_proj = old.out_proj
        self.ln_q, self.ln_k, self.ln_inner = nn.Identity(), nn.Identity(), nn.Identity()
        self.logit_scale, self.head_scale = None, None

    def forward(self, x, k_x=None, v_x=None, attn_mask=None):
        parts = functional.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (p.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for p in parts)
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))


def transformers_model(kind: str = "CLIP", *, layers: int = 3, seed: int = 0) -> Any:
    """A tiny two-tower model of transformers: CLIP, AltCLIP, ChineseCLIP, MetaClip2 or Siglip."""
    import transformers

    torch.manual_seed(seed)
    config_class = getattr(transformers, f"{kind}Config")
    small = {"num_hidden_layers": layers, "hidden_size": 48, "intermediate_size": 96}
    vision = {**small, "num_attention_heads": 3, "image_size": SIZE, "patch_size": PATCH}
    text = {
        "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64,
        "num_attention_heads": 2,
    }  # fmt: skip
    shared = {} if kind == "Siglip" else {"projection_dim": 24}
    config = config_class(vision_config=vision, text_config=text, **shared)
    return _shaken(getattr(transformers, f"{kind}Model")(config))


def _shaken(model: Any) -> Any:
    """Weights of a spread at which attention is far from uniform and embeddings differ."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim > 1 and "token_embedding" not in name:
                parameter.copy_(torch.randn_like(parameter) * 0.6 / parameter.shape[-1] ** 0.5)
                if "in_proj" in name or "q_proj" in name or "k_proj" in name:
                    parameter.mul_(3)
    return model.eval()


class Words:
    """A tokenizer as transformers models take it: a word is a token, the end is the largest id."""

    model_max_length = 77

    def __call__(self, texts, padding=False, truncation=False, max_length=77, return_tensors=None):
        if isinstance(texts, str):
            return {"input_ids": self._ids(texts)}
        rows = [self._ids(text)[:max_length] for text in texts]
        width = max(map(len, rows))
        ids = [row + [1] * (width - len(row)) for row in rows]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        return Batch(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask))

    def _ids(self, text: str) -> list[int]:
        return [0, *(2 + sum(map(ord, word)) % 500 for word in text.split()), 2]


class Batch(dict):
    def to(self, device):
        return Batch({key: value.to(device) for key, value in self.items()})
