"""The network of ``assay-tiny-clip``: a vision transformer with a class token, and a text tower.

The image tower has the parts and names of open_clip's ``VisionTransformer``, so that the dense pass
runs on both alike and weights go from one to the other; its first convolution is a small stem.
"""

from collections import OrderedDict
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

CONTEXT_LENGTH = 77
PAD = 0


@dataclass(frozen=True)
class Shape:
    """Sizes of the network; the defaults are those of the published weights."""

    side: int = 96
    patch: int = 12
    width: int = 128
    heads: int = 4
    layers: int = 4
    text_layers: int = 2
    dim: int = 128

    @property
    def grid(self) -> int:
        """Patches along each side."""
        return self.side // self.patch


class Block(nn.Module):
    """Pre-norm residual block with open_clip's names."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ln_2 = nn.LayerNorm(width)
        layers = [
            ("c_fc", nn.Linear(width, 4 * width)),
            ("gelu", nn.GELU()),
            ("c_proj", nn.Linear(4 * width, width)),
        ]
        self.mlp = nn.Sequential(OrderedDict(layers))

    def forward(
        self, x: Tensor, attn_mask: Tensor | None = None, padding: Tensor | None = None
    ) -> Tensor:
        y = self.ln_1(x)
        seen = self.attn(
            y, y, y, need_weights=False, attn_mask=attn_mask, key_padding_mask=padding
        )[0]
        x = x + seen
        out: Tensor = x + self.mlp(self.ln_2(x))
        return out


class Blocks(nn.Module):
    """A stack of blocks, the last one with the mask of the dense pass where asked."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])

    def forward(
        self, x: Tensor, last_mask: Tensor | None = None, padding: Tensor | None = None
    ) -> Tensor:
        last = len(self.resblocks) - 1
        for index, block in enumerate(self.resblocks):
            x = block(x, last_mask if index == last else None, padding)
        return x


class ImageTower(nn.Module):
    """Pixels (B, 3, side, side) to embeddings; the class token's is the image's."""

    attn_pool = None
    pool_type = "tok"

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.image_size = (shape.side, shape.side)
        self.grid_size = (shape.grid, shape.grid)
        self.preprocess_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
        width = shape.width
        step = shape.patch // 4
        self.conv1 = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.GELU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.GELU(),
            nn.Conv2d(64, width, step, step),
        )  # fmt: skip
        self.class_embedding = nn.Parameter(torch.randn(width) * width**-0.5)
        positions = shape.grid**2 + 1
        self.positional_embedding = nn.Parameter(torch.randn(positions, width) * width**-0.5)
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = Blocks(width, shape.heads, shape.layers)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.randn(width, shape.dim) * width**-0.5)

    def tokens(self, pixels: Tensor, last_mask: Tensor | None = None) -> Tensor:
        """Unit embeddings of all tokens, (B, P + 1, dim), the class token first."""
        x = self.conv1(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(len(x), 1, -1), x], dim=1)
        x = self.transformer(self.ln_pre(x + self.positional_embedding), last_mask)
        return functional.normalize(self.ln_post(x) @ self.proj, dim=-1)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.tokens(pixels)[:, 0]


class TextTower(nn.Module):
    """Word ids (B, T) to embeddings, by the mean over words: 0 is padding."""

    def __init__(self, shape: Shape, words: int) -> None:
        super().__init__()
        width = shape.width
        self.token_embedding = nn.Embedding(words + 1, width)
        self.positional_embedding = nn.Parameter(torch.randn(CONTEXT_LENGTH, width) * 0.01)
        self.transformer = Blocks(width, shape.heads, shape.text_layers)
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.randn(width, shape.dim) * width**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        there = ids != PAD
        length = int(there.sum(dim=1).max())
        ids, there = ids[:, :length], there[:, :length]
        x = self.token_embedding(ids) + self.positional_embedding[:length]
        x = self.ln_final(self.transformer(x, padding=~there))
        weight = there.unsqueeze(-1).to(x.dtype)
        mean = (x * weight).sum(dim=1) / weight.sum(dim=1)
        return functional.normalize(mean @ self.text_projection, dim=-1)


class TinyClip(nn.Module):
    """Both towers and the scale of their cosine.

    Args:
        words: size of the vocabulary.
        shape: sizes.
    """

    context_length = CONTEXT_LENGTH

    def __init__(self, words: int, shape: Shape | None = None) -> None:
        super().__init__()
        shape = shape or Shape()
        self.visual = ImageTower(shape)
        self.text = TextTower(shape, words)
        self.logit_scale = nn.Parameter(torch.tensor(12.0).log())

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Unit embeddings (B, dim) of normalised pixels."""
        embeddings: Tensor = self.visual(pixels)
        return embeddings

    def encode_text(self, ids: Tensor) -> Tensor:
        """Unit embeddings (B, dim) of word ids."""
        embeddings: Tensor = self.text(ids)
        return embeddings
