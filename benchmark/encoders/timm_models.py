"""Models of the library timm: any id (``timm:vit_small_patch14_dinov2.lvd142m``) or folder.

``pooled`` is what ``forward_head(…, pre_logits=True)`` gives: the input of the classifier. A model
without a sequence of tokens (a convolutional one, Swin) has nothing else.
"""

from typing import TYPE_CHECKING, Any

from benchmark.encoders.choice import Token
from benchmark.encoders.preprocessing import Preprocessing
from benchmark.encoders.vision import Blueprint
from benchmark.encoders.weights import Pin, Place, find, is_folder
from benchmark.errors import UserError

if TYPE_CHECKING:
    from torch import nn

    from benchmark.encoders.network import Network

CONFIG, STEM = "config.json", "model"
FILES = (CONFIG, f"{STEM}.safetensors")


def read(model: str, pin: Pin | None = None) -> Blueprint:
    """What timm and the model's folder say of ``model``; see ``benchmark.encoders.vision``."""
    import timm

    place = _place(model, pin)
    config = place.read_json(CONFIG)
    architecture = config.get("architecture")
    if not isinstance(architecture, str) or not timm.is_model(architecture):
        raise UserError(f"{place.label}: {CONFIG} names no architecture of timm: {architecture!r}")
    _check_activation(place, architecture, config)
    files = place.weights(STEM)
    if len(files) > 1:
        raise UserError(f"{place.label}: weights in {len(files)} parts; timm reads {FILES[1]}")

    def make(pretrained: bool) -> "Network":
        made = timm.create_model(f"local-dir:{place.folder}", pretrained=pretrained, num_classes=0)
        return network(made)

    return Blueprint(
        library="timm",
        place=place,
        weights=files,
        config=config,
        preprocessing=_preprocessing(place, config),
        build=lambda: make(False),
        load=lambda: make(True),
        label=model.partition("@")[0] if "/" not in model and not is_folder(model) else "",
    )


def network(model: "nn.Module") -> "Network":
    """A timm model without classifier, as features see it."""
    from torch import Tensor

    from benchmark.encoders.network import Network

    def run(pixels: Tensor) -> Tensor:
        pooled: Tensor = model.forward_head(model.forward_features(pixels), pre_logits=True)  # type: ignore[operator]
        return pooled

    return Network(model, run, *parts(model))


def parts(model: "nn.Module") -> tuple[Any, ...]:
    """Tokens on offer, blocks, final norm and number of tokens before the patches."""
    prefix = getattr(model, "num_prefix_tokens", None)
    blocks = getattr(model, "blocks", None)
    if prefix is None or blocks is None:
        return (("pooled",),)
    tokens: tuple[Token, ...] = ("pooled", "mean", "patches")
    if getattr(model, "cls_token", None) is not None:
        tokens = ("pooled", "cls", "mean", "patches")
    return tokens, list(blocks), getattr(model, "norm", None), prefix


def _place(model: str, pin: Pin | None) -> Place:
    if is_folder(model) or "/" in model:
        return find(model, FILES, pin=pin)
    import timm

    known, _, revision = model.partition("@")
    config = _listed(known)
    if config is None or not config.hf_hub_id:
        close = ", ".join(timm.list_models(f"*{known.partition('.')[0]}*", pretrained=True)[:5])
        raise UserError(
            f"timm knows no weights called {known!r}; expected an id that timm.list_models lists"
            f"{': ' + close if close else ''}, owner/name, or a folder's path"
        )
    return find(f"{config.hf_hub_id}@{revision}" if revision else config.hf_hub_id, FILES, pin=pin)


def _listed(name: str) -> Any:
    """What timm's own list says of an id; None where it has no such weights."""
    import timm

    try:
        return timm.get_pretrained_cfg(name) if timm.is_model(name) else None
    except RuntimeError:  # the architecture is known, the tag is not
        return None


def _check_activation(place: Place, architecture: str, config: dict[str, Any]) -> None:
    tag = _settings(config).get("tag")
    known = _listed(f"{architecture}.{tag}" if tag else architecture)
    notes = " ".join(known.notes) if known is not None and known.notes else ""
    if "QuickGELU" in notes and "quickgelu" not in architecture:
        raise UserError(
            f"{place.label}: its weights were trained with QuickGELU and architecture "
            f"{architecture} has GELU; use a quickgelu architecture"
        )


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    inner = config.get("pretrained_cfg")
    return inner if isinstance(inner, dict) else config


def _preprocessing(place: Place, config: dict[str, Any]) -> Preprocessing:
    from timm.data.config import resolve_data_config

    data = resolve_data_config({}, pretrained_cfg=_settings(config))
    channels, height, width = data["input_size"]
    mode = data["crop_mode"]
    if (channels, height) != (3, width) or mode not in ("center", "squash"):
        raise UserError(
            f"{place.label}: input {data['input_size']}, crop mode {mode}; expected a square of "
            "three channels, center or squash"
        )
    try:
        return Preprocessing(
            resize="shortest" if mode == "center" else "squash",
            side=int(height / data["crop_pct"]),
            crop=height,
            interpolation=data["interpolation"],
            mean=tuple(data["mean"]),
            std=tuple(data["std"]),
            odd="half-even",
        )
    except ValueError as error:
        raise UserError(f"{place.label}: {CONFIG}: {error}") from None
