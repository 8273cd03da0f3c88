"""Prompts as the transformer reads them: encoded once, kept for a while, or read from a file.

A file lets a machine without room for the text encoder, or a model folder without one, edit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark import files
from benchmark.errors import UserError

if TYPE_CHECKING:
    import torch

_KEPT = 128


def key_of(prompt: str) -> str:
    """Name of a prompt's tensor in a file."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def remembering(encode: Callable[[str], torch.Tensor]) -> Callable[[str], torch.Tensor]:
    """``encode`` that keeps the latest prompts, off the graphics card."""

    @lru_cache(maxsize=_KEPT)
    def kept(prompt: str) -> torch.Tensor:
        return encode(prompt).cpu()

    return kept


def from_file(path: Path, model_revision: str | None, width: int) -> Callable[[str], torch.Tensor]:
    """Prompts of a file that ``write_prompts`` made.

    Args:
        model_revision: of the model that must have encoded them; None for a folder without a text
            encoder, which cannot tell.
        width: numbers of a token.

    Raises:
        UserError: no such file or one of another model; on use, a prompt that is not there or has
            another width.
    """
    from safetensors import SafetensorError, safe_open

    try:
        stream = safe_open(path, framework="pt")
    except (OSError, SafetensorError) as error:
        raise UserError(f"cannot read {path}: {error}; expected encoded prompts") from None
    made_by = (stream.metadata() or {}).get("model_revision")
    if model_revision is not None and made_by != model_revision:
        raise UserError(
            f"{path}: prompts encoded by model revision {made_by}, the model is {model_revision}"
        )
    there = set(stream.keys())

    def read(prompt: str) -> torch.Tensor:
        if key_of(prompt) not in there:
            raise UserError(f"{path}: the prompt {prompt[:60]!r} is not in it; encode them anew")
        tensor: torch.Tensor = stream.get_tensor(key_of(prompt))
        if tensor.ndim != 3 or tensor.shape[-1] != width:
            raise UserError(
                f"{path}: prompts of shape {tuple(tensor.shape)}; the model wants {width} numbers "
                "a token"
            )
        return tensor

    return read


def write_prompts(
    path: Path,
    prompts: Iterable[str],
    encode: Callable[[str], torch.Tensor],
    model_revision: str,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Encode every prompt once into a file; how many there were."""
    from safetensors.torch import save_file

    distinct = sorted(set(prompts))
    tensors = {}
    for number, prompt in enumerate(distinct, start=1):
        tensors[key_of(prompt)] = encode(prompt).cpu().contiguous()
        if progress is not None:
            progress(number, len(distinct))
    with files.replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"model_revision": model_revision})
    return len(distinct)
