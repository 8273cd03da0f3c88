"""What a CLIP model has to give for RA-CLIPScore, and what its kinds share."""

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmark.errors import UserError
from benchmark.generative.dense.settings import runtime_of, settings_sha256

OPENAI_MEAN = (0.48145466, 0.4578275, 0.40821073)
OPENAI_STD = (0.26862954, 0.26130258, 0.27577711)
LEAST_LAYERS = 2


@dataclass(frozen=True)
class Tokens:
    """What one forward pass gives of a batch of images.

    Attributes:
        cls: unit embeddings (B, D) of the class token: the model's own image embeddings.
        patches: unit embeddings (B, P, D), P = grid height × grid width, row by row.
        attention: (B, P, P), mean over layers 1 … L − 1 and over heads of the attention that a
            patch (row) pays to patches (columns).
    """

    cls: Tensor
    patches: Tensor
    attention: Tensor


class AttentionMean:
    """Mean over layers of the patch part of head-averaged attention, one layer in memory.

    Args:
        layers: how many layers must come.
        patches: P.
        renormalize: bring each row of a layer to sum 1 after the class column is dropped.
    """

    def __init__(self, layers: int, patches: int, *, renormalize: bool) -> None:
        self.layers = layers
        self.tokens = patches + 1
        self.renormalize = renormalize
        self.seen = 0
        self._sum: Tensor | None = None

    def add(self, weights: Tensor) -> None:
        """Add one layer's attention, (B, heads, P + 1, P + 1)."""
        if weights.shape[-2:] != (self.tokens, self.tokens):
            raise RuntimeError(f"attention of shape {tuple(weights.shape)}, not {self.tokens}²")
        part = weights[:, :, 1:, 1:].mean(dim=1, dtype=torch.float32)
        if self.renormalize:
            part /= part.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
        self._sum = part if self._sum is None else self._sum.add_(part)
        self.seen += 1

    def mean(self) -> Tensor:
        """(B, P, P); ``RuntimeError`` unless every layer came exactly once."""
        if self._sum is None or self.seen != self.layers:
            raise RuntimeError(f"attention of {self.seen} layers captured, expected {self.layers}")
        return self._sum / self.layers


def last_block_mask(patches: int, like: Tensor) -> Tensor:
    """Additive mask (P + 1, P + 1) of the last block: the class token sees all, a patch itself.

    Float 0 and −inf, never booleans, whose meaning differs from library to library.
    """
    mask = torch.full((patches + 1, patches + 1), float("-inf"), dtype=like.dtype)
    mask.fill_diagonal_(0)
    mask[0] = 0
    return mask.to(like.device)


class DenseClip(ABC):
    """A CLIP model with a class token.

    Attributes:
        name: what results call it.
        size: height and width of its input in pixels.
        grid: height and width of its patch grid.
        mean, std: of RGB values in [0, 1], taken off and divided by.
        context_length: most tokens of a text, with its start and end.
        logit_scale: factor of the cosine in the model's own softmax.
        statistics_fixed: whether the model's code alone gives ``mean`` and ``std``, so that its
            name stands for them too.
    """

    name: str
    size: tuple[int, int]
    grid: tuple[int, int]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    context_length: int
    logit_scale: float
    statistics_fixed = False

    def __init__(
        self,
        model: torch.nn.Module,
        *,
        name: str,
        mean: Sequence[float] | None,
        std: Sequence[float] | None,
    ) -> None:
        self.model: Any = model.eval()
        self.name = name
        self.mean = checked_rgb(mean, f"CLIP model {name}: mean") or OPENAI_MEAN
        self.std = checked_rgb(std, f"CLIP model {name}: std", positive=True) or OPENAI_STD
        formats = {str(p.dtype) for p in model.parameters() if p.is_floating_point()}
        if len(formats) > 1:
            raise UserError(
                f"CLIP model {name}: weights in several number formats "
                f"({', '.join(sorted(formats))}); expected one: convert it with model.float()"
            )
        # a forward pass swaps parts of the model: one at a time
        self._pass = threading.Lock()
        self._sha256: str | None = None

    @property
    def patches(self) -> int:
        """P, the number of patches."""
        return self.grid[0] * self.grid[1]

    @property
    def weights_sha256(self) -> str:
        """Hex SHA-256 over the names, types, shapes and bytes of all weights, in name order."""
        if self._sha256 is None:
            digest = hashlib.sha256()
            for key, tensor in sorted(self.model.state_dict().items()):
                whole = tensor.detach().cpu().contiguous()
                digest.update(f"{key}:{whole.dtype}:{tuple(whole.shape)}\n".encode())
                digest.update(whole.reshape(-1).view(torch.uint8).numpy().tobytes())
            self._sha256 = digest.hexdigest()
        return self._sha256

    @cached_property
    def settings_sha256(self) -> str:
        """Hex SHA-256 over what decides a score beside weights and texts.

        That is the statistics of pixels, and of every part of the model its class and its plain
        settings: activation, epsilon of a norm, kind of pooling.
        """
        return settings_sha256(self.model, self.mean, self.std)

    @property
    def runtime(self) -> str:
        """Device and versions, which may change the last bits."""
        return runtime_of(self.model, self.device)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        device: torch.device = next(self.model.parameters()).device
        return device

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights."""
        dtype: torch.dtype = next(self.model.parameters()).dtype
        return dtype

    @abstractmethod
    def token_ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """What the text tower is given of each text, padding included."""

    @abstractmethod
    def fits(self, text: str) -> bool:
        """Whether the text has no more than ``context_length`` tokens, start and end counted."""

    @abstractmethod
    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """Unit embeddings of texts, float32 (len(texts), D)."""

    @abstractmethod
    def encode_image(self, pixels: Tensor) -> Tensor:
        """The model's own embedding of normalised pixels (B, 3, height, width): unit, (B, D)."""

    @abstractmethod
    def _project(self, hidden: Tensor) -> Tensor:
        """The final norm and the projection of hidden states (B, P + 1, width)."""

    @abstractmethod
    def _hidden(self, pixels: Tensor, attention: AttentionMean, mask: Tensor) -> Tensor:
        """Output (B, P + 1, width) of the last block, whose attention has ``mask`` added.

        ``attention`` is given the weights of every block but the last.
        """

    @property
    @abstractmethod
    def blocks(self) -> Sequence[torch.nn.Module]:
        """The blocks, first to last; each is called with hidden states (B, P + 1, width)."""

    @property
    def layers(self) -> int:
        """L, the number of blocks."""
        return len(self.blocks)

    def pixels(self, images: np.ndarray) -> Tensor:
        """RGB images uint8 (B, height, width, 3) as the model takes them: (B, 3, height, width)."""
        values = torch.from_numpy(images).to(self.device).permute(0, 3, 1, 2).float() / 255
        mean, std = (
            torch.tensor(rgb, device=self.device)[:, None, None] for rgb in (self.mean, self.std)
        )
        return ((values - mean) / std).to(self.dtype)

    @torch.inference_mode()
    def dense(self, pixels: Tensor, *, renormalize: bool = True) -> Tokens:
        """Embeddings of all tokens, and the attention between patches, in one forward pass.

        Args:
            pixels: as ``pixels`` gives them.
            renormalize: as ``AttentionMean``.
        """
        attention = AttentionMean(self.layers - 1, self.patches, renormalize=renormalize)
        with self._pass:
            hidden = self._hidden(pixels, attention, last_block_mask(self.patches, pixels))
        tokens = functional.normalize(self._project(hidden).float(), dim=-1)
        return Tokens(tokens[:, 0], tokens[:, 1:], attention.mean())

    def _checked(self) -> None:
        """Prove on one image that ``dense`` is what RA-CLIPScore takes it for.

        Its class token is the model's own embedding, and a patch of the last block sees itself
        alone: whatever the other tokens are, it comes out the same.

        Raises:
            UserError: too few blocks, or a model that is put together in another way.
        """
        if self.layers < LEAST_LAYERS:
            raise UserError(
                f"CLIP model {self.name}: {self.layers} block; refining patches needs at least "
                f"{LEAST_LAYERS}"
            )
        seeded = np.random.default_rng(0).integers(0, 256, (1, *self.size, 3), dtype=np.uint8)
        pixels = self.pixels(seeded)
        own = self.encode_image(pixels)
        most = 1e-4 if self.dtype == torch.float32 else 3e-2
        hook = self.blocks[-1].register_forward_pre_hook(_others_turned, with_kwargs=True)
        try:
            tokens = self.dense(torch.cat([pixels, pixels]))
        finally:
            hook.remove()
        gap = float((tokens.cls[:1] - own).abs().max())
        if not gap <= most:
            raise UserError(
                f"CLIP model {self.name}: its image embedding is not its class token after the "
                f"final norm and projection (they differ by {gap:.2g}); it cannot be used here"
            )
        gap = float((tokens.patches[0, 0] - tokens.patches[1, 0]).abs().max())
        # here both are made in one way: nothing but the place in the batch is in the gap
        if not gap <= (2e-5 if self.dtype == torch.float32 else 3e-2):
            raise UserError(
                f"CLIP model {self.name}: the attention of its last block ignores the mask that "
                f"lets a patch see itself alone (other tokens move it by {gap:.2g}); it cannot be "
                "used here"
            )


def _others_turned(_module: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """Hook that turns the sign of all tokens of the second image but its first patch."""
    hidden = (arguments[0] if arguments else options["hidden_states"]).clone()
    hidden[1, 0] *= -1
    hidden[1, 2:] *= -1
    if arguments:
        return (hidden, *arguments[1:]), options
    return arguments, {**options, "hidden_states": hidden}


def checked_rgb(
    given: Any, what: str, *, positive: bool = False
) -> tuple[float, float, float] | None:
    """Three finite numbers, for R, G, B; None as it is, ``UserError`` for anything else."""
    if given is None:
        return None
    if isinstance(given, np.ndarray | Tensor):
        given = given.tolist()
    numbers = [v for v in given if _is_number(v)] if isinstance(given, list | tuple) else []
    if len(numbers) != 3 or len(given) != 3 or (positive and min(numbers) <= 0):
        above = " above 0" if positive else ""
        raise UserError(
            f"{what} is {str(given)[:60]!r}; expected three finite numbers{above}, one for each of "
            "R, G, B"
        )
    return (float(numbers[0]), float(numbers[1]), float(numbers[2]))


def _is_number(value: Any) -> bool:
    # the comparison holds for no NaN, no infinity and no integer beyond the range of floats
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30
