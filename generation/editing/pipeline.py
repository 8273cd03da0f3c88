"""FLUX.2 pipelines of diffusers, one edit at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from benchmark.errors import UserError
from generation.devices import find_device
from generation.editing.canvas import fit
from generation.editing.loading import load, reason_of
from generation.editing.models import Model
from generation.editing.prompts import from_file, remembering

if TYPE_CHECKING:
    import torch

OFFLOADS = ("auto", "none", "model", "sequential")
QUANTISATIONS = ("none", "4bit")
DTYPES = ("auto", "bfloat16", "float16", "float32")
GUIDANCE = 4.0
STEPS = {True: 4, False: 50}
"""By whether the model is distilled."""

MOST_STEPS = 10_000
MOST_GUIDANCE = 1000
"""What a record holds (schema ``edit-record``)."""


@dataclass(frozen=True)
class Settings:
    """How to edit; a plain value, so that other processes can be told.

    Attributes:
        steps, guidance: None for the model's own; guidance has no effect on a distilled model.
        dtype: number format; bfloat16 on a graphics card and float32 elsewhere for ``"auto"``.
        quantise: ``"4bit"`` keeps transformer and text encoder in four bits (bitsandbytes).
        offload: what waits in main memory: nothing, models not at work, or all but a layer;
            ``"auto"`` is ``"model"`` where the weights do not fit the card.
        device: ``"cuda"``, ``"cpu"``, …; None or ``"auto"`` for a graphics card where there is one.
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
        """``UserError`` where a value is none of those known, or a device not there."""
        for name, value, known in (
            ("dtype", self.dtype, DTYPES),
            ("quantise", self.quantise, QUANTISATIONS),
            ("offload", self.offload, OFFLOADS),
        ):
            if value not in known:
                raise UserError(f"--{name} is {value!r}; expected {', '.join(known)}")
        for name, number, least, most in (
            ("steps", self.steps, 1, MOST_STEPS),
            ("guidance", self.guidance, 0, MOST_GUIDANCE),
        ):
            # so put that it holds for nan too
            if number is not None and not least <= number <= most:
                raise UserError(f"--{name} is {number}; expected {least} to {most:,}")
        if self.guidance is not None and self.model.distilled:
            raise UserError(
                f"--guidance {self.guidance}: {self.model.name} is distilled and ignores guidance"
            )
        if not self.model.text_encoder and self.prompts is None:
            raise UserError(
                f"{self.model.name} has no text encoder; give its prompts encoded: "
                "--prompts FILE, made with --write-prompts FILE and the same model"
            )
        if self.device is not None:
            self.place()

    def place(self) -> torch.device:
        """Where to work; ``UserError`` where it is not there, or not what the settings need."""
        device = find_device(self.device or "auto")
        if device.type != "cpu":
            return device
        if self.quantise != "none":
            raise UserError(f"--quantise {self.quantise} needs a graphics card; here is none")
        if self.offload not in ("auto", "none"):
            raise UserError(
                f"--offload {self.offload} is for a graphics card; here there is none: none"
            )
        return device


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
        self._device = settings.place()
        dtype = settings.dtype
        if dtype == "auto":
            dtype = "bfloat16" if self._device.type == "cuda" else "float32"
        self.precision = dtype + ("" if settings.quantise == "none" else f"+{settings.quantise}")
        self._pipeline = load(settings, dtype, self._device)
        self.scheduler: str = type(self._pipeline.scheduler).__name__
        self.multiple: int = self._pipeline.vae_scale_factor * 2
        width = self._pipeline.transformer.config.joint_attention_dim
        self.encode: Callable[[str], torch.Tensor] = (
            remembering(self._encode)
            if settings.prompts is None
            else from_file(
                settings.prompts,
                settings.model.revision if settings.model.text_encoder else None,
                width,
            )
        )
        if settings.prompts is None:
            self._try_encoding(width)

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

    def _try_encoding(self, width: int) -> None:
        """Read a prompt; ``UserError`` where no prompt could be read, or not by the transformer."""
        folder = self._settings.model.folder
        try:
            found = self.encode("a picture").shape[-1]
        # tokenizer and text encoder may fail in as many ways as there are wrong files
        except Exception as error:
            raise UserError(
                f"the text encoder in {folder} cannot read a prompt: {reason_of(error)}"
            ) from None
        if found != width:
            raise UserError(
                f"the text encoder in {folder} gives {found} numbers a token; its transformer "
                f"wants {width}"
            )

    def _encode(self, prompt: str) -> torch.Tensor:
        import torch

        with torch.inference_mode():
            embedded: torch.Tensor = self._pipeline.encode_prompt(prompt=prompt)[0]
        return embedded
