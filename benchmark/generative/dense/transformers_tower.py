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
from benchmark.generative.dense.base import AttentionMean, DenseClip, checked_rgb

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
        self.size, self.grid = _sizes(self._vision.config, name)
        self.context_length = _context_length(model, tokenizer)
        self.logit_scale = float(model.logit_scale.detach().exp().reshape(-1)[0])
        self._checked()

    @property
    def blocks(self) -> Sequence[torch.nn.Module]:
        found: Sequence[torch.nn.Module] = self._vision.encoder.layers
        return found

    def token_ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self._batch(texts)["input_ids"].tolist()]

    def fits(self, text: str) -> bool:
        return len(self._tokenizer(text)["input_ids"]) <= self.context_length

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str]) -> Tensor:
        batch = self._batch(texts).to(self.device)
        inputs = {key: batch[key] for key in ("input_ids", "attention_mask") if key in batch}
        return _unit(self.model.get_text_features(**inputs))

    def _batch(self, texts: Sequence[str]) -> Any:
        return self._tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.context_length,
            return_tensors="pt",
        )  # fmt: skip

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
        "features of single images": hasattr(model, "get_image_features"),
        "a text tower": hasattr(model, "get_text_features"),
        "a logit scale": hasattr(model, "logit_scale"),
        "a stack of encoder layers": hasattr(getattr(vision, "encoder", None), "layers"),
        "a final norm": hasattr(vision, "post_layernorm"),
    }
    missing = [part for part, there in parts.items() if not there]
    if missing:
        raise UserError(f"CLIP model {name}: {kind} lacks {', '.join(missing)}")
    return vision


def _sizes(config: Any, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Height and width of the input in pixels, and of the grid of patches."""
    size, patch = config.image_size, config.patch_size
    for value, what in ((size, "image_size"), (patch, "patch_size")):
        if not isinstance(value, int):
            raise UserError(
                f"CLIP model {name}: {what} is {value!r}; expected one number, for square pictures"
            )
    return (size, size), (size // patch, size // patch)


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


def _pixel_statistics(folder: Path) -> tuple[Any, Any]:
    """Mean and standard deviation of pixels as the folder's files state them, None where not.

    ``processor_config.json`` goes before ``preprocessor_config.json``, as in transformers 5.
    """
    whole = _json_object(folder / "processor_config.json")
    said = whole.get("image_processor")
    path = folder / ("preprocessor_config.json" if said is None else "processor_config.json")
    if said is None:
        said = _json_object(path)
    elif not isinstance(said, dict):
        raise UserError(f"{path}: image_processor is no JSON object; save the processor again")
    if said.get("do_normalize") is False:
        return (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    mean, std = said.get("image_mean"), said.get("image_std")
    checked_rgb(mean, f"{path}: image_mean")
    checked_rgb(std, f"{path}: image_std", positive=True)
    return mean, std


def _json_object(path: Path) -> dict[str, Any]:
    """The content of a JSON file; empty where there is no such file."""
    if not path.is_file():
        return {}
    try:
        said = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(said, dict):
        raise UserError(f"{path}: expected a JSON object; save the processor again")
    return said
