"""FLUX.2 pipelines of diffusers, one edit at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from benchmark.errors import UserError
from generation.editing.canvas import fit
from generation.editing.models import Model, needs_extra
from generation.editing.prompts import from_file, remembering

if TYPE_CHECKING:
    import torch

OFFLOADS = ("auto", "none", "model", "sequential")
QUANTISATIONS = ("none", "4bit")
DTYPES = ("auto", "bfloat16", "float16", "float32")
GUIDANCE = 4.0
STEPS = {True: 4, False: 50}
"""By whether the model is distilled."""

_ROOM = 4 * 2**30
"""Bytes of a graphics card that editing a picture of one megapixel is given beside the weights."""


@dataclass(frozen=True)
class Settings:
    """How to edit; a plain value, so that other processes can be told.

    Attributes:
        steps, guidance: None for the model's own; guidance has no effect on a distilled model.
        dtype: number format; bfloat16 on a graphics card and float32 elsewhere for ``"auto"``.
        quantise: ``"4bit"`` keeps transformer and text encoder in four bits (bitsandbytes).
        offload: what waits in main memory: nothing, models not at work, or all but a layer;
            ``"auto"`` is ``"model"`` where the weights do not fit the card.
        device: ``"cuda"``, ``"cpu"``, …; None for a graphics card where there is one.
        prompts: file of encoded prompts, in place of the text encoder, which is not loaded.
    """

    model: Model
    steps: int | None = None
    guidance: float | None = None
    dtype: str = "auto"
    quantise: str = "none"
    offload: str = "auto"
    device: str | None = None
    prompts: Path | None = None

    @property
    def effective_steps(self) -> int:
        """Denoising steps."""
        return STEPS[self.model.distilled] if self.steps is None else self.steps

    @property
    def effective_guidance(self) -> float | None:
        """Guidance that has an effect; None for a distilled model."""
        if self.model.distilled:
            return None
        return GUIDANCE if self.guidance is None else self.guidance

    def check(self) -> None:
        """``UserError`` where a value is none of those known."""
        for name, value, known in (
            ("dtype", self.dtype, DTYPES),
            ("quantise", self.quantise, QUANTISATIONS),
            ("offload", self.offload, OFFLOADS),
        ):
            if value not in known:
                raise UserError(f"--{name} is {value!r}; expected {', '.join(known)}")
        if self.guidance is not None and self.model.distilled:
            raise UserError(
                f"--guidance {self.guidance}: {self.model.name} is distilled and ignores guidance"
            )
        if not self.model.text_encoder and self.prompts is None:
            raise UserError(
                f"{self.model.name} has no text encoder; give its prompts encoded: "
                "--prompts FILE, made with --write-prompts FILE and the same model"
            )


class Editor:
    """A pipeline, loaded and placed.

    Attributes:
        scheduler: its class.
        precision: number format of the weights, for records.
        multiple: sides of pictures are multiples of it.
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        self._settings = settings
        self._device = settings.device or _best_device()
        if settings.quantise != "none" and self._device == "cpu":
            raise UserError(f"--quantise {settings.quantise} needs a graphics card; here is none")
        dtype = settings.dtype
        if dtype == "auto":
            dtype = "bfloat16" if self._device.startswith("cuda") else "float32"
        self.precision = dtype + ("" if settings.quantise == "none" else f"+{settings.quantise}")
        self._pipeline = _load(settings, dtype)
        _place(self._pipeline, settings, self._device)
        self.scheduler: str = type(self._pipeline.scheduler).__name__
        self.multiple: int = self._pipeline.vae_scale_factor * 2
        self.encode: Callable[[str], torch.Tensor] = (
            remembering(self._encode)
            if settings.prompts is None
            else from_file(
                settings.prompts,
                settings.model.revision if settings.model.text_encoder else None,
                self._pipeline.transformer.config.joint_attention_dim,
            )
        )

    def edit(self, images: Sequence[Image.Image], prompt: str, seed: int) -> Image.Image:
        """The first picture as the prompt wants it; further ones are references.

        The same pictures, prompt and seed give the same pixels on the same kind of machine. The
        result has the size of the first picture's canvas (``generation.editing.canvas``).

        Raises:
            RuntimeError, ValueError: whatever the model does; a picture that is too thin.
        """
        import torch

        fitted = [fit(image, self.multiple) for image in images]
        width, height = fitted[0].size
        # one edit a call: a list of pictures is several references for every prompt
        arguments: dict[str, Any] = {
            "image": fitted,
            "prompt_embeds": self.encode(prompt).to(self._device),
            "width": width,
            "height": height,
            "num_inference_steps": self._settings.effective_steps,
            "generator": torch.Generator("cpu").manual_seed(seed),
        }
        guidance = self._settings.effective_guidance
        arguments["guidance_scale"] = 1.0 if guidance is None else guidance
        if self._settings.model.pipeline == "Flux2KleinPipeline" and guidance is not None:
            arguments["negative_prompt_embeds"] = self.encode("").to(self._device)
        with torch.inference_mode():
            image: Image.Image = self._pipeline(**arguments).images[0]
        return image

    def _encode(self, prompt: str) -> torch.Tensor:
        import torch

        with torch.inference_mode():
            embedded: torch.Tensor = self._pipeline.encode_prompt(prompt=prompt)[0]
        return embedded


def _best_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _load(settings: Settings, dtype: str) -> Any:
    """The pipeline from its folder, tensors from safetensors only."""
    import torch

    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    try:
        import diffusers
        import transformers
    except ImportError as error:
        raise needs_extra(error) from error
    diffusers.utils.logging.set_verbosity_error()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    diffusers.utils.logging.disable_progress_bar()
    arguments: dict[str, Any] = {"dtype": getattr(torch, dtype)}
    if settings.prompts is not None:
        arguments |= {"text_encoder": None, "tokenizer": None}
    if settings.quantise == "4bit":
        arguments["quantization_config"] = _four_bits(settings, arguments["dtype"])
    kind = getattr(diffusers, settings.model.pipeline)
    try:
        pipeline = kind.from_pretrained(
            settings.model.folder, local_files_only=True, use_safetensors=True, **arguments
        )
    except (OSError, ValueError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"cannot load the pipeline in {settings.model.folder}: {reason}") from None
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def _four_bits(settings: Settings, dtype: torch.dtype) -> Any:
    from diffusers.quantizers.pipe_quant_config import PipelineQuantizationConfig

    if find_spec("bitsandbytes") is None:
        raise needs_extra(ImportError(name="bitsandbytes"))
    parts = ["transformer", *(["text_encoder"] if settings.prompts is None else [])]
    arguments: dict[str, Any] = {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_compute_dtype": dtype,
    }
    return PipelineQuantizationConfig(
        quant_backend="bitsandbytes_4bit", quant_kwargs=arguments, components_to_quantize=parts
    )


def _place(pipeline: Any, settings: Settings, device: str) -> None:
    """Move the pipeline to its device, or have its parts moved when they are needed."""
    offload = settings.offload
    if offload == "auto":
        offload = "none" if _fits(pipeline, device) else "model"
    if offload == "none":
        pipeline.to(device)
    elif device == "cpu":
        raise UserError(f"--offload {offload} is for a graphics card; here there is none: none")
    elif offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    else:
        pipeline.enable_sequential_cpu_offload(device=device)


def _fits(pipeline: Any, device: str) -> bool:
    """Whether all weights and the room to work fit the free memory of a graphics card."""
    import torch

    if not device.startswith("cuda"):
        return True
    free, _ = torch.cuda.mem_get_info(device)
    modules = [part for part in pipeline.components.values() if isinstance(part, torch.nn.Module)]
    needed = sum(
        tensor.numel() * tensor.element_size()
        for module in modules
        for tensor in module.parameters()
    )
    return needed + _ROOM <= free
