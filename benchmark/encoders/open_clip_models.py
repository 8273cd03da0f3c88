"""Models of the library open_clip: ``open_clip:NAME/TAG``, a Hub id, or a folder.

``NAME/TAG`` is a configuration and a set of weights as ``open_clip.list_pretrained`` lists them,
``ViT-L-14-quickgelu/openai`` for one; a folder or Hub repository holds ``open_clip_config.json``.
``pooled`` is what ``encode_image`` gives, not normalised.
"""

from copy import deepcopy
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmark.encoders.choice import Token
from benchmark.encoders.preprocessing import Preprocessing
from benchmark.encoders.vision import Blueprint
from benchmark.encoders.weights import Pin, Place, find, is_folder
from benchmark.errors import UserError

if TYPE_CHECKING:
    from torch import nn

    from benchmark.encoders.network import Network

CONFIG, STEM = "open_clip_config.json", "open_clip_model"
WEIGHTS = f"{STEM}.safetensors"


def read(model: str, pin: Pin | None = None) -> Blueprint:
    """What open_clip and the model's folder say of ``model``; see ``benchmark.encoders.vision``."""
    import open_clip

    name, _, tag = model.partition("/")
    named = not is_folder(model) and name in open_clip.list_models()
    if named:
        place, config, transform = _named(name, tag, pin)
    else:
        place, config, transform = _folder(model, pin)
    files = place.weights(STEM)
    if len(files) > 1:
        raise UserError(f"{place.label}: weights in {len(files)} parts; open_clip reads {WEIGHTS}")

    def load() -> "Network":
        made = _built(config)
        open_clip.load_checkpoint(made, str(files[0]), strict=True, weights_only=True)
        return _network(made)

    return Blueprint(
        library="open_clip_torch",
        place=place,
        weights=files,
        config=config,
        preprocessing=_preprocessing(place, config, transform),
        build=lambda: _network(_built(config)),
        load=load,
        label=model.partition("@")[0] if named else "",
    )


def _named(name: str, tag: str, pin: Pin | None) -> tuple[Place, dict[str, Any], dict[str, Any]]:
    from open_clip import get_model_config, get_pretrained_cfg, list_pretrained_tags_by_model

    tag, _, revision = tag.partition("@")
    known = get_pretrained_cfg(name, tag) if tag else None
    if not known:
        tags = ", ".join(list_pretrained_tags_by_model(name)) or "none"
        raise UserError(
            f"open_clip:{name}/{tag}: no such weights; expected {name}/TAG, tags: {tags}"
        )
    config = get_model_config(name)
    _check_activation(f"open_clip:{name}/{tag}", name, config, known)
    repo, _, file = known.get("hf_hub", "").rpartition("/")
    if not repo or file not in ("", WEIGHTS):
        raise UserError(
            f"open_clip:{name}/{tag}: there are no safetensors weights of it on the Hub"
        )
    return find(f"{repo}@{revision}" if revision else repo, (WEIGHTS,), pin=pin), config, known


def _folder(model: str, pin: Pin | None) -> tuple[Place, dict[str, Any], dict[str, Any]]:
    place = find(model, (CONFIG, WEIGHTS), pin=pin)
    document = place.read_json(CONFIG)
    config, transform = document.get("model_cfg"), document.get("preprocess_cfg", {})
    parts = config if isinstance(config, dict) else {}
    objects = (parts.get("vision_cfg"), parts.get("text_cfg"), transform)
    if not all(isinstance(one, dict) for one in objects):
        raise UserError(
            f"{place.label}: {CONFIG}: expected objects model_cfg (with vision_cfg and text_cfg) "
            "and preprocess_cfg"
        )
    _check_folder(place, parts)
    return place, parts, transform


def _check_activation(label: str, name: str, config: dict[str, Any], known: dict[str, Any]) -> None:
    """QuickGELU weights with a GELU configuration give other features, and no error."""
    has, wants = (bool(one.get("quick_gelu", False)) for one in (config, known))
    if has != wants:
        other = f"{name}-quickgelu" if wants else name.removesuffix("-quickgelu")
        words = {True: "QuickGELU", False: "GELU"}
        raise UserError(
            f"{label}: the weights were trained with {words[wants]} and the configuration has "
            f"{words[has]}; use {other}"
        )


def _check_folder(place: Place, config: dict[str, Any]) -> None:
    """The same check where the folder is a Hub repository that open_clip lists."""
    from open_clip import get_pretrained_cfg, list_pretrained

    for name, tag in list_pretrained():
        known = get_pretrained_cfg(name, tag)
        if known.get("hf_hub", "").rpartition("/")[0] == place.label:
            _check_activation(f"open_clip:{place.label}", CONFIG, config, known)
            return


def _built(config: dict[str, Any]) -> "nn.Module":
    """The model with weights that nobody set; both towers, as the weights file holds both."""
    from open_clip import CLIP, CoCa, CustomTextCLIP

    settings = deepcopy(config)
    custom = settings.pop("custom_text", False) or "hf_model_name" in settings["text_cfg"]
    if "timm_model_name" in settings["vision_cfg"]:
        settings["vision_cfg"]["timm_model_pretrained"] = False
    if "hf_model_name" in settings["text_cfg"]:
        settings["text_cfg"]["hf_model_pretrained"] = False
    made: nn.Module
    if not custom:
        made = CLIP(**settings)
    elif "multimodal_cfg" in settings:
        made = CoCa(**settings)
    else:
        made = CustomTextCLIP(**settings)
    return made


def _network(model: "nn.Module") -> "Network":
    from torch import Tensor

    from benchmark.encoders.network import Network

    visual: Any = model.visual

    def run(pixels: Tensor) -> Tensor:
        pooled: Tensor = model.encode_image(pixels)  # type: ignore[operator]
        return pooled

    if hasattr(visual, "trunk"):
        from benchmark.encoders.timm_models import parts

        return Network(model, run, *parts(visual.trunk))
    blocks = getattr(getattr(visual, "transformer", None), "resblocks", None)
    if blocks is None or not visual.transformer.batch_first:
        return Network(model, run, ("pooled",))
    tokens: tuple[Token, ...] = ("pooled", "cls", "mean", "patches")
    return Network(model, run, tokens, list(blocks), visual.ln_post, 1)


def _preprocessing(
    place: Place, config: dict[str, Any], transform: dict[str, Any]
) -> Preprocessing:
    from open_clip.transform import PreprocessCfg

    known = asdict(PreprocessCfg())
    settings = known | {key: value for key, value in transform.items() if key in known}
    size = config["vision_cfg"].get("image_size", 224)
    if isinstance(size, list | tuple) and len(set(size)) == 1:
        size = size[0]
    mode = settings["resize_mode"]
    if not isinstance(size, int) or mode not in ("shortest", "squash"):
        raise UserError(
            f"{place.label}: image size {size}, resize mode {mode}; expected a square, shortest "
            "or squash"
        )
    try:
        return Preprocessing(
            resize=mode,
            side=size,
            crop=size,
            interpolation=settings["interpolation"],
            mean=tuple(settings["mean"]),
            std=tuple(settings["std"]),
            odd="half-even",
        )
    except (TypeError, ValueError) as error:
        raise UserError(f"{place.label}: {CONFIG}: {error}") from None
