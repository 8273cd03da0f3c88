"""From a model's folder to a pipeline of diffusers on its device."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from generation.devices import out_of_memory
from generation.editing.models import needs_extra
from generation.editing.parts import PARTS, READERS, check_parts

if TYPE_CHECKING:
    import torch

    from generation.editing.pipeline import Settings

_ROOM = 4 * 2**30
"""Bytes of a graphics card that editing a picture of one megapixel is given beside the weights."""


def load(settings: Settings, dtype: str, device: torch.device) -> Any:
    """The pipeline of a model, on its device.

    Raises:
        UserError: a folder that is not whole, parts that do not fit each other, a library that is
            not installed, or not enough memory.
    """
    wanted = [part for part in PARTS if settings.prompts is None or part not in READERS]
    check_parts(settings.model.folder, wanted)
    try:
        pipeline = _read(settings, dtype)
        _place(pipeline, settings, device)
    except UserError:
        raise
    # whatever is wrong with a folder, the libraries say it in errors of every kind
    except Exception as error:
        raise UserError(
            f"cannot load the pipeline in {settings.model.folder}: {reason_of(error)}"
        ) from None
    return pipeline


def reason_of(error: Exception) -> str:
    """An error of a library on one line."""
    text = " ".join(str(error).split()).partition(" If you want to instead ")[0]
    if text.startswith("You set `ignore_mismatched_sizes`"):
        text = "weights of the text encoder have other shapes than its config.json says"
    more = "; try --offload model" if out_of_memory(error) else ""
    return f"{type(error).__name__}: {text[:300]}{more}"


def _read(settings: Settings, dtype: str) -> Any:
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
    pipeline = kind.from_pretrained(
        settings.model.folder, local_files_only=True, use_safetensors=True, **arguments
    )
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


def _place(pipeline: Any, settings: Settings, device: torch.device) -> None:
    """Move the pipeline to its device, or have its parts moved when they are needed."""
    offload = settings.offload
    if offload == "auto":
        offload = "none" if _fits(pipeline, device) else "model"
    if offload == "none":
        pipeline.to(device)
    elif offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    else:
        pipeline.enable_sequential_cpu_offload(device=device)


def _fits(pipeline: Any, device: torch.device) -> bool:
    """Whether all weights and the room to work fit the free memory of a graphics card."""
    import torch

    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    modules = [part for part in pipeline.components.values() if isinstance(part, torch.nn.Module)]
    needed = sum(
        tensor.numel() * tensor.element_size()
        for module in modules
        for tensor in module.parameters()
    )
    return needed + _ROOM <= free
