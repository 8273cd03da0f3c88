"""Dense pass through the vision transformer of open_clip, releases 3.x and 4.x.

In 3.x a block's attention is ``nn.MultiheadAttention``, in 4.x (and in 3.x's custom blocks) a class
of open_clip's own that gives no weights. Both keep one projection for query, key and value, so one
function here stands in for either while a pass runs, and computes query and key once.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmark.errors import UserError
from benchmark.generative.dense.base import AttentionMean, DenseClip


class OpenClipTower(DenseClip):
    """A model of open_clip, or one with the same parts.

    Args:
        model: with ``visual``, ``encode_image``, ``encode_text`` and ``logit_scale``.
        tokenizer: texts and ``context_length`` → ids (len(texts), context_length).
        name, mean, std: as ``dense_clip``.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
    ) -> None:
        self._visual = _checked_tower(getattr(model, "visual", None), name)
        said = getattr(self._visual, "preprocess_cfg", None) or {}
        super().__init__(
            model, name=name, mean=mean or said.get("mean"), std=std or said.get("std")
        )
        self._tokenizer = tokenizer
        self.size = _pair(self._visual.image_size)
        self.grid = _pair(self._visual.grid_size)
        self.context_length = int(model.context_length)
        self.logit_scale = float(model.logit_scale.detach().exp().reshape(-1)[0])
        self._checked()

    @property
    def blocks(self) -> Sequence[nn.Module]:
        found: Sequence[nn.Module] = self._visual.transformer.resblocks
        return found

    def token_ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        ids = self._tokenizer(list(texts), context_length=self.context_length)
        return [tuple(row) for row in ids.tolist()]

    def fits(self, text: str) -> bool:
        longer = self._tokenizer([text], context_length=4 * self.context_length)[0]
        # what lies beyond the limit is all padding, or the text was cut
        rest = longer[self.context_length :]
        return bool((rest == rest[-1]).all())

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> Tensor:
        ids = self._tokenizer(list(texts), context_length=self.context_length)
        return _unit(self.model.encode_text(ids.to(self.device)))

    @torch.inference_mode()
    def encode_image(self, pixels: Tensor) -> Tensor:
        return _unit(self.model.encode_image(pixels))

    def _project(self, hidden: Tensor) -> Tensor:
        normed: Tensor = self._visual.ln_post(hidden)
        return normed if self._visual.proj is None else normed @ self._visual.proj

    def _hidden(self, pixels: Tensor, attention: AttentionMean, mask: Tensor) -> Tensor:
        kept: list[Tensor] = []

        def keep(_module: nn.Module, _inputs: Any, output: Tensor) -> None:
            kept.append(output)

        hook = self._visual.transformer.register_forward_hook(keep)
        try:
            with _standing_in([block.attn for block in self.blocks], attention, mask):
                self._visual(pixels)
        finally:
            hook.remove()
        return kept[0]


def _unit(found: Any) -> Tensor:
    """Unit embeddings; a tower with ``output_tokens`` gives its tokens beside them."""
    embeddings = found[0] if isinstance(found, tuple) else found
    return functional.normalize(embeddings.float(), dim=-1)


def _checked_tower(visual: Any, name: str) -> Any:
    """The image tower where its class token is the image embedding; ``UserError`` otherwise."""
    kind = type(visual).__name__
    blocks = getattr(getattr(visual, "transformer", None), "resblocks", None)
    if getattr(visual, "class_embedding", None) is None or blocks is None:
        raise UserError(
            f"CLIP model {name}: its image tower ({kind}) has no class token beside its patches, "
            "which RA-CLIPScore needs; use a model with a plain vision transformer, such as "
            "ViT-B-16"
        )
    if getattr(visual, "attn_pool", None) is not None or visual.pool_type != "tok":
        raise UserError(
            f"CLIP model {name}: its image embedding is pooled over patches, not taken from the "
            "class token, which RA-CLIPScore needs"
        )
    for block in blocks:
        attn = block.attn
        plain = getattr(attn, "in_proj_weight", None) is not None
        if not plain or getattr(attn, "bias_k", None) is not None or _adds_zero(attn):
            raise UserError(
                f"CLIP model {name}: attention of class {type(attn).__name__} without one "
                "projection for query, key and value is not supported"
            )
    if not getattr(visual.transformer, "batch_first", True):
        raise UserError(f"CLIP model {name}: a transformer that is not batch-first")
    return visual


def _adds_zero(attn: Any) -> bool:
    return bool(getattr(attn, "add_zero_attn", False))


def _pair(value: Any) -> tuple[int, int]:
    return (int(value), int(value)) if isinstance(value, int) else (int(value[0]), int(value[1]))


@contextmanager
def _standing_in(modules: list[Any], attention: AttentionMean, mask: Tensor) -> Iterator[None]:
    """Within it, the attention modules compute here: weights are seen, the last one is masked."""
    before = [module.__dict__.get("forward") for module in modules]
    last = len(modules) - 1
    try:
        for index, module in enumerate(modules):
            if index < last:
                module.forward = _Attention(module, None, attention)
            else:
                module.forward = _Attention(module, mask, None)
        yield
    finally:
        for module, own in zip(modules, before, strict=True):
            if own is None:
                del module.forward
            else:
                module.forward = own


class _Attention:
    """Self-attention with the weights of a module of torch or open_clip."""

    def __init__(self, module: Any, mask: Tensor | None, attention: AttentionMean | None) -> None:
        self.module = module
        self.mask = mask
        self.attention = attention
        # torch's own returns a pair
        self.pair = isinstance(module, nn.MultiheadAttention)

    def __call__(self, x: Tensor, *_others: Any, **_options: Any) -> Any:
        module = self.module
        projected = functional.linear(x, module.in_proj_weight, module.in_proj_bias)
        query, key, value = (
            part.unflatten(-1, (module.num_heads, -1)).transpose(1, 2)
            for part in projected.chunk(3, dim=-1)
        )
        context = self._context(*self._prepared(query, key), value)
        head_scale = getattr(module, "head_scale", None)
        if head_scale is not None:
            context = context * head_scale
        context = context.transpose(1, 2).flatten(2)
        inner = getattr(module, "ln_inner", None)
        out = module.out_proj(context if inner is None else inner(context))
        return (out, None) if self.pair else out

    def _prepared(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """Query and key such that their products are the logits."""
        module = self.module
        if getattr(module, "logit_scale", None) is not None:  # cosine attention
            scale = module.logit_scale.clamp(max=module.logit_scale_max).exp()
            query = functional.normalize(query, dim=-1) * scale
            return query, functional.normalize(key, dim=-1)
        if getattr(module, "ln_q", None) is not None:
            query, key = module.ln_q(query), module.ln_k(key)
        return query * query.shape[-1] ** -0.5, key

    def _context(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if self.attention is None:
            return functional.scaled_dot_product_attention(
                query, key, value, attn_mask=self.mask, scale=1.0
            )
        weights = (query @ key.transpose(-1, -2)).softmax(dim=-1)
        self.attention.add(weights)
        return weights @ value


def load(which: str) -> OpenClipTower:
    """The model of open_clip called ``ARCHITECTURE:WEIGHTS`` or ``local-dir:FOLDER``."""
    try:
        import open_clip
    except ImportError as error:
        raise UserError(
            "CLIP models of open_clip need that package: pip install 'concept-assay[encoders]'"
        ) from error
    kind, _, rest = which.partition(":")
    if not kind or not rest:
        raise UserError(
            f"CLIP model 'open_clip:{which}': expected open_clip:ARCHITECTURE:WEIGHTS or "
            "open_clip:local-dir:FOLDER"
        )
    local = kind == "local-dir"
    if local and not (Path(rest) / "open_clip_config.json").is_file():
        raise UserError(f"{rest}: no folder with an open_clip_config.json")
    if not local and kind not in open_clip.list_models():
        raise UserError(f"open_clip has no architecture {kind!r}; see open_clip.list_models()")
    architecture = f"local-dir:{rest}" if local else kind
    try:
        with _quiet():
            model = open_clip.create_model(
                architecture,
                pretrained=None if local else rest,
                # safetensors and weights-only files: nothing in them is run
                weights_only=True,
            )
            tokenizer = open_clip.get_tokenizer(architecture)
    except (OSError, RuntimeError, ValueError, FileNotFoundError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"CLIP model 'open_clip:{which}': {reason}") from error
    return OpenClipTower(model, tokenizer, name=f"open_clip:{which}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Within it, open_clip logs nothing: what goes wrong is in its error too."""

    def others(record: logging.LogRecord) -> bool:
        return "open_clip" not in record.pathname

    root = logging.getLogger()  # where open_clip writes
    root.addFilter(others)
    try:
        yield
    finally:
        root.removeFilter(others)
