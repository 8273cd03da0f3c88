"""CLIP models that give an embedding for every patch. A new kind is one module and one line here.

``load_clip`` loads by name; ``dense_clip`` wraps a model that is already in memory.
"""

from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.registry import Registry

if TYPE_CHECKING:
    from benchmark.generative.dense.base import DenseClip

CLIPS = Registry(
    "CLIP model",
    {
        "assay-tiny-clip": "benchmark.generative.tiny_clip:load",
        "open_clip": "benchmark.generative.dense.open_clip_tower:load",
        "transformers": "benchmark.generative.dense.transformers_tower:load",
    },
)
"""Kind → function from the part of a name after the first colon to a ``DenseClip``."""

__all__ = ["CLIPS", "dense_clip", "load_clip"]


def load_clip(name: str) -> "DenseClip":
    """The CLIP model called ``kind`` or ``kind:which``.

    ``assay-tiny-clip`` is the embedded model; with a safetensors file after the colon, one that
    ``generation.tiny_clip`` wrote. ``open_clip:ARCHITECTURE:WEIGHTS`` takes open_clip's own names,
    where WEIGHTS may be a file of safetensors, or ``open_clip:local-dir:FOLDER``.
    ``transformers:FOLDER`` takes a folder that ``save_pretrained`` wrote, with its tokenizer.

    Raises:
        UserError: unknown name, missing package or weights, a model without a class token.
    """
    kind, _, which = name.partition(":")
    model: DenseClip = CLIPS.load(kind)(which)
    return model


def dense_clip(model: Any, tokenizer: Any, *, name: str, **options: Any) -> "DenseClip":
    """Wrap a CLIP model in memory: an open_clip model, or one of transformers.

    The model is set to evaluation mode.

    Args:
        model: with an image tower that has a class token.
        tokenizer: for open_clip the one of ``open_clip.get_tokenizer``: called with texts and
            ``context_length``, it gives ids; for transformers the model's own.
        name: what results call it.
        options: ``mean`` and ``std`` of the pixels, three numbers each, where the model does not
            say.

    Raises:
        UserError: the model has no class token, or pools otherwise; the reason is named.
    """
    if hasattr(model, "visual"):
        from benchmark.generative.dense.open_clip_tower import OpenClipTower

        return OpenClipTower(model, tokenizer, name=name, **options)
    if hasattr(model, "vision_model"):
        from benchmark.generative.dense.transformers_tower import TransformersTower

        return TransformersTower(model, tokenizer, name=name, **options)
    raise UserError(
        f"CLIP model {name}: {type(model).__name__} is neither an open_clip model nor one of "
        "transformers with an image and a text tower"
    )
