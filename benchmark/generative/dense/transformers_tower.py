"""Dense pass through the image tower of a transformers model with a class token.

That is CLIP and the models built like it (AltCLIP, Chinese CLIP, MetaCLIP 2). SigLIP has no class
token: it pools its patches by attention, and is refused.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.errors import UserError
from benchmark.generative.dense.base import AttentionMean, DenseClip

MAX_TOKENS = 77
"""Longest text taken of any model: CLIP's own limit, so that attributes fit every model."""


class TransformersTower(DenseClip):
    """A two-tower model of transformers.

    Args:
        model: with ``vision_model``, ``visual_projection``, ``get_image_features`` and
            ``get_text_features``.
        tokenizer: the model's own.
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
        self._vision = _checked_tower(model, name)
        super().__init__(model, name=name, mean=mean, std=std)
        self._tokenizer = tokenizer
        config = self._vision.config
        self.size = (int(config.image_size), int(config.image_size))
        side = int(config.image_size) // int(config.patch_size)
        self.grid = (side, side)
        self.context_length = _context_length(model, tokenizer)
        self.logit_scale = float(model.logit_scale.detach().exp().reshape(-1)[0])
        self._checked()

    @property
    def layers(self) -> int:
        return len(self._vision.encoder.layers)

    def fits(self, text: str) -> bool:
        return len(self._tokenizer(text)["input_ids"]) <= self.context_length

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> Tensor:
        batch = self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.context_length,
            return_tensors="pt",
        ).to(self.device)  # fmt: skip
        inputs = {key: batch[key] for key in ("input_ids", "attention_mask") if key in batch}
        return _unit(self.model.get_text_features(**inputs))

    @torch.inference_mode()
    def encode_image(self, pixels: Tensor) -> Tensor:
        return _unit(self.model.get_image_features(pixel_values=pixels))

    def _project(self, hidden: Tensor) -> Tensor:
        projected: Tensor = self.model.visual_projection(self._vision.post_layernorm(hidden))
        return projected

    def _hidden(self, pixels: Tensor, attention: AttentionMean, mask: Tensor) -> Tensor:
        layers = self._vision.encoder.layers
        hooks = [layer.self_attn.register_forward_hook(_keep(attention)) for layer in layers[:-1]]

        def masked(_module: Any, arguments: Any, options: dict[str, Any]) -> Any:
            return arguments, {**options, "attention_mask": mask[None, None]}

        hooks.append(layers[-1].self_attn.register_forward_pre_hook(masked, with_kwargs=True))
        try:
            with _eager(self._vision):
                hidden: Tensor = self._vision(pixel_values=pixels).last_hidden_state
        finally:
            for hook in hooks:
                hook.remove()
        return hidden


def _keep(attention: AttentionMean) -> Any:
    def hook(_module: Any, _inputs: Any, output: Any) -> None:
        if output[1] is None:
            raise RuntimeError("attention without weights: expected the eager implementation")
        attention.add(output[1])

    return hook


@contextmanager
def _eager(vision: Any) -> Iterator[None]:
    """Within it, the tower computes attention step by step: other ways give no weights."""
    configs = {
        id(layer.self_attn.config): layer.self_attn.config for layer in vision.encoder.layers
    }
    before = {key: config._attn_implementation for key, config in configs.items()}
    try:
        for config in configs.values():
            config._attn_implementation = "eager"
        yield
    finally:
        for key, config in configs.items():
            config._attn_implementation = before[key]


def _checked_tower(model: Any, name: str) -> Any:
    """The image tower where its class token is the image embedding; ``UserError`` otherwise."""
    vision = model.vision_model
    kind = type(model).__name__
    if getattr(getattr(vision, "embeddings", None), "class_embedding", None) is None:
        how = "it pools its patches by attention; " if hasattr(vision, "head") else ""
        raise UserError(
            f"CLIP model {name}: {kind} has no class token in its image tower, which RA-CLIPScore "
            f"needs ({how}SigLIP is such a model)"
        )
    parts = {
        "an image projection": hasattr(model, "visual_projection"),
        "a text tower": hasattr(model, "get_text_features"),
        "a logit scale": hasattr(model, "logit_scale"),
        "a stack of encoder layers": hasattr(getattr(vision, "encoder", None), "layers"),
        "a final norm": hasattr(vision, "post_layernorm"),
    }
    missing = [part for part, there in parts.items() if not there]
    if missing:
        raise UserError(f"CLIP model {name}: {kind} lacks {', '.join(missing)}")
    return vision


def _context_length(model: Any, tokenizer: Any) -> int:
    positions = int(model.config.text_config.max_position_embeddings)
    return min(MAX_TOKENS, positions, int(tokenizer.model_max_length))


def _unit(features: Any) -> Tensor:
    tensor = features if isinstance(features, Tensor) else features.pooler_output
    return functional.normalize(tensor.float(), dim=-1)


def load(which: str) -> TransformersTower:
    """The model in a folder that ``save_pretrained`` wrote; weights as safetensors."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise UserError(
            "CLIP models of transformers need that package: pip install 'concept-assay[encoders]'"
        ) from error
    folder = Path(which)
    if not which or not (folder / "config.json").is_file():
        raise UserError(f"CLIP model 'transformers:{which}': expected a folder with a config.json")
    try:
        model = AutoModel.from_pretrained(
            folder, use_safetensors=True, trust_remote_code=False, local_files_only=True,
            dtype=torch.float32,
        )  # fmt: skip
        tokenizer = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"CLIP model 'transformers:{which}': {reason}") from error
    mean, std = _pixel_statistics(folder)
    if not hasattr(model, "vision_model"):
        raise UserError(
            f"CLIP model 'transformers:{which}': {type(model).__name__} has no image tower"
        )
    return TransformersTower(model, tokenizer, name=f"transformers:{which}", mean=mean, std=std)


def _pixel_statistics(folder: Path) -> tuple[Sequence[float] | None, Sequence[float] | None]:
    """Mean and standard deviation of pixels from ``preprocessor_config.json``, where there."""
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        return None, None
    try:
        said = json.loads(path.read_bytes())
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON: {error}") from error
    return said.get("image_mean"), said.get("image_std")
