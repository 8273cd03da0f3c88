"""Models of the library transformers: ``transformers:facebook/dinov2-small``, or a folder.

Only the kinds in ``KINDS``, whose code is in the library itself: code from a model's repository
is never run. ``pooled`` is what ``get_image_features`` gives (CLIP: projected; SigLIP: the
attention head). DINOv2 and ViT have no such embedding: their default is the class token after the
final norm, ``last_hidden_state[:, 0]``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.encoders.choice import Token
from benchmark.encoders.preprocessing import Preprocessing
from benchmark.encoders.vision import Blueprint
from benchmark.encoders.weights import Pin, Place, find
from benchmark.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from benchmark.encoders.network import Network

CONFIG, PROCESSOR, STEM = "config.json", "preprocessor_config.json", "model"
FILES = (CONFIG, PROCESSOR, f"{STEM}.safetensors")
_ALL: tuple[Token, ...] = ("pooled", "cls", "mean", "patches")
_FILTERS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}


@dataclass(frozen=True)
class Kind:
    """Where the parts of one kind of model are, by attribute path."""

    model: str
    blocks: str
    norm: str
    pooled: str | None
    """Field of the output that holds the embedding."""
    tokens: tuple[Token, ...] = _ALL
    prefix: int = 1
    options: tuple[tuple[str, Any], ...] = ()


_DINO = Kind("Dinov2Model", "encoder.layer", "layernorm", None, _ALL[1:])
_CLIP = Kind(
    "CLIPVisionModelWithProjection",
    "vision_model.encoder.layers",
    "vision_model.post_layernorm",
    "image_embeds",
)
_SIGLIP = Kind(
    "SiglipVisionModel",
    "encoder.layers",
    "post_layernorm",
    "pooler_output",
    ("pooled", "mean", "patches"),
    prefix=0,
)
KINDS = {
    "dinov2": _DINO,
    "dinov2_with_registers": Kind(
        "Dinov2WithRegistersModel", "encoder.layer", "layernorm", None, _ALL[1:]
    ),
    "vit": Kind(
        "ViTModel", "layers", "layernorm", None, _ALL[1:], options=(("add_pooling_layer", False),)
    ),
    "clip": _CLIP,
    "clip_vision_model": _CLIP,
    "siglip": _SIGLIP,
    "siglip_vision_model": _SIGLIP,
}


def read(model: str, pin: Pin | None = None) -> Blueprint:
    """What a model's folder says of it; see ``benchmark.encoders.vision``."""
    import transformers

    place = find(model, FILES, pin=pin)
    config = place.read_json(CONFIG)
    kind = KINDS.get(str(config.get("model_type")))
    if kind is None:
        raise UserError(
            f"{place.label}: model_type {config.get('model_type')!r}; expected one of "
            f"{', '.join(KINDS)}"
        )
    maker = getattr(transformers, kind.model)
    options = dict(kind.options)

    def build() -> "Network":
        settings = maker.config_class.from_pretrained(place.folder, local_files_only=True)
        return _network(kind, maker(settings, **options))

    def load() -> "Network":
        return _network(kind, _loaded(place, maker, options))

    return Blueprint(
        library="transformers",
        place=place,
        weights=place.weights(STEM),
        config=config,
        preprocessing=_preprocessing(place),
        build=build,
        load=load,
    )


def _loaded(place: Place, maker: Any, options: dict[str, Any]) -> "nn.Module":
    import torch
    from transformers.utils import logging

    before = logging.get_verbosity()
    shown = logging.is_progress_bar_enabled()
    # It would list the whole text tower, which a vision model leaves out.
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = maker.from_pretrained(
            place.folder,
            # By default the type in the file is kept, which may be 16 bits wide.
            dtype=torch.float32,
            attn_implementation="sdpa",
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
            **options,
        )
    except RuntimeError:  # what it raises for tensors of another shape
        raise UserError(f"{place.label}: weights do not fit {CONFIG}") from None
    finally:
        logging.set_verbosity(before)
        if shown:
            logging.enable_progress_bar()
    # The library fills what is missing with random numbers and goes on.
    if lost := sorted(report["missing_keys"]):
        raise UserError(
            f"{place.label}: weights lack {len(lost)} tensors of the model, {lost[0]} first"
        )
    loaded: nn.Module = model
    return loaded


def _network(kind: Kind, model: "nn.Module") -> "Network":
    from benchmark.encoders.network import Network

    registers = getattr(model.config, "num_register_tokens", 0) or 0

    def run(pixels: "Tensor") -> "Tensor":
        output = model(pixel_values=pixels)
        result: Tensor = output[0] if kind.pooled is None else getattr(output, kind.pooled)
        return result

    norm: Callable[[Tensor], Tensor] = model.get_submodule(kind.norm)
    blocks: Any = model.get_submodule(kind.blocks)
    return Network(model, run, kind.tokens, list(blocks), norm, kind.prefix + registers)


def _preprocessing(place: Place) -> Preprocessing:
    """The image processor's settings, all of which have to be there."""
    document = place.read_json(PROCESSOR)

    def fault(what: str) -> UserError:
        return UserError(f"{place.label}: {PROCESSOR}: {what}")

    for step in ("do_resize", "do_rescale", "do_normalize"):
        if document.get(step) is not True:
            raise fault(f"{step} is {document.get(step)!r}; expected true")
    if abs(document.get("rescale_factor", 0) - 1 / 255) > 1e-9:
        raise fault(f"rescale_factor is {document.get('rescale_factor')}; expected 1/255")
    size, crop = document.get("size"), document.get("crop_size")
    squash = isinstance(size, dict) and "shortest_edge" not in size
    side = _square(size)
    cropped = _square(crop) if document.get("do_center_crop") else side
    if side is None or cropped is None or not (squash or document.get("do_center_crop")):
        raise fault(f"size {size}, crop_size {crop}; expected a square")
    if document.get("resample") not in _FILTERS:
        raise fault(f"resample is {document.get('resample')!r}; expected one of {list(_FILTERS)}")
    try:
        return Preprocessing(
            resize="squash" if squash else "shortest",
            side=side,
            crop=cropped,
            interpolation=_FILTERS[document["resample"]],
            mean=tuple(document["image_mean"]),
            std=tuple(document["image_std"]),
            odd="down",
        )
    except (KeyError, TypeError, ValueError) as error:
        raise fault(f"{error}") from None


def _square(size: Any) -> int | None:
    """The side that ``224``, ``{"shortest_edge": 224}`` or equal height and width give."""
    if isinstance(size, dict):
        sides = {size[key] for key in ("shortest_edge", "height", "width") if key in size}
        size = sides.pop() if len(sides) == 1 else None
    return size if isinstance(size, int) and size > 0 else None
