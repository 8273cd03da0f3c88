"""How each format says what an SAE is, without the formats themselves, which need torch.

A part here follows its module in ``benchmark/saes/formats``. Where that takes something from the
document, nothing is stated.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.sae_names import BARE, DICTIONARY_LEARNING, SAELENS, SAELENS_LOADED

Tensors = Mapping[str, np.ndarray]
Config = Mapping[str, Any]


@dataclass(frozen=True)
class Stated:
    """What files say; None or () where they leave it open.

    Attributes:
        architectures: those that a document may give.
        d_in, d_sae: sizes.
        k: active latents a row.
    """

    architectures: tuple[str, ...] = ()
    d_in: int | None = None
    d_sae: int | None = None
    k: int | None = None


def _size(tensors: Tensors, name: str) -> tuple[int, int] | tuple[None, None]:
    """d_sae and d_in of a matrix with a row for every latent."""
    matrix = tensors.get(name)
    if matrix is None or matrix.ndim != 2:
        return None, None
    return matrix.shape[0], matrix.shape[1]


def _of(tensors: Tensors, matrix: str, architectures: Any, k: Any = None) -> Stated:
    d_sae, d_in = _size(tensors, matrix)
    known = architectures if isinstance(architectures, tuple) else (architectures,)
    names = tuple(name for name in known if isinstance(name, str))
    return Stated(names, d_in, d_sae, _whole(k))


def _whole(value: Any) -> int | None:
    """A whole number as ``positive_k`` takes it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def _number(tensors: Tensors, name: str) -> float | None:
    tensor = tensors.get(name)
    return float(tensor.reshape(())) if tensor is not None and tensor.size == 1 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _inside(config: Config, key: str) -> Config:
    value = config.get(key)
    return value if isinstance(value, Mapping) else {}


def _within(tensors: Tensors, prefix: str) -> Tensors:
    """The tensors of a state dict that may lie under a prefix."""
    inside = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    return inside or tensors


def _is_assay(_: str, tensors: Tensors, config: Config) -> bool:
    return str(config.get("format", "")).startswith("assay-")


def _assay(tensors: Tensors, config: Config) -> Stated:
    k = config.get("k") if config.get("activation") == "topk" else None
    return _of(tensors, "encoder", config.get("architecture"), k)


def _is_saelens(name: str, tensors: Tensors, config: Config) -> bool:
    version = "sae_lens_version"
    return name == "sae_weights.safetensors" or (
        "d_sae" in config
        and (
            version in config
            or version in _inside(config, "metadata")
            or config.get("architecture") in SAELENS_LOADED
        )
    )


def _saelens(tensors: Tensors, config: Config) -> Stated:
    architecture, k = config.get("architecture", "standard"), config.get("k")
    function = config.get("activation_fn", config.get("activation_fn_str", "relu"))
    own_k = _inside(config, "activation_fn_kwargs").get("k")
    if function == "topk" and own_k is not None:
        architecture, k = "topk", own_k
    usual = SAELENS.get(_text(architecture) or "")
    trained = _text(_inside(config, "metadata").get("training_architecture", architecture))
    name = SAELENS.get(trained or "", usual)
    return _of(tensors, "W_dec", name, k if architecture == "topk" else None)


def _is_dictionary_learning(_: str, tensors: Tensors, config: Config) -> bool:
    if isinstance(config.get("trainer"), Mapping):
        return "dict_class" in config["trainer"]
    names = set(_within(tensors, "ae."))
    biases = {"bias", "decoder.bias", "decoder_bias", "b_dec"}
    return {"encoder.weight", "decoder.weight"} <= names and bool(names & biases)


def _dictionary_learning(tensors: Tensors, config: Config) -> Stated:
    state, trainer = _within(tensors, "ae."), _inside(config, "trainer")
    kind = _text(trainer.get("dict_class")) or _class_of(state)
    name = DICTIONARY_LEARNING.get(kind)
    if str(trainer.get("trainer_class", "")).startswith("PAnneal"):
        name = "p_anneal"
    matrix = "encoder.weight" if "encoder.weight" in state else "W_dec"
    return _of(state, matrix, name, _number(state, "k"))


def _class_of(state: Tensors) -> str:
    for mark, kind in (
        ("r_mag", "GatedAutoEncoder"),
        ("group_sizes", "MatryoshkaBatchTopKSAE"),
        ("k", ""),  # TopK or BatchTopK
        ("decoder.bias", "AutoEncoderNew"),
        ("bias", "AutoEncoder"),
    ):
        if mark in state:
            return kind
    return ""


def _is_sparsify(_: str, tensors: Tensors, config: Config) -> bool:
    return {"encoder.weight", "W_dec"} <= set(tensors)


def _sparsify(tensors: Tensors, config: Config) -> Stated:
    return _of(tensors, "encoder.weight", "topk", config.get("k"))


def _is_openai(_: str, tensors: Tensors, config: Config) -> bool:
    return {"pre_bias", "latent_bias", "encoder.weight"} <= set(tensors)


def _openai(tensors: Tensors, config: Config) -> Stated:
    return _of(tensors, "encoder.weight", "relu")  # another rule is in a .pt file alone


def _is_overcomplete(_: str, tensors: Tensors, config: Config) -> bool:
    return "dictionary._weights" in tensors


def _overcomplete(tensors: Tensors, config: Config) -> Stated:
    named = config.get("architecture")
    known: tuple[str, ...] = ("topk", "relu")
    if "thresholds" in tensors:
        known = ("jumprelu",)
    elif named in ("topk", "relu", "standard"):
        known = ("topk",) if named == "topk" else ("relu",)
    k = config.get("k", config.get("top_k")) if "topk" in known else None
    return _of(tensors, "dictionary._weights", known, k)


_PRISMA = {"hook_point_layer", "activation_fn_str", "expansion_factor"}


def _is_prisma(_: str, tensors: Tensors, config: Config) -> bool:
    return "W_enc" in _within(tensors, "state_dict.") and len(_PRISMA & set(config)) >= 2


def _prisma(tensors: Tensors, config: Config) -> Stated:
    state = _within(tensors, "state_dict.")
    if config.get("architecture") == "gated" or "r_mag" in state:
        return _of(state, "W_dec", "gated")
    if config.get("activation_fn_str", "relu") != "topk":
        return _of(state, "W_dec", "relu")
    return _of(state, "W_dec", "topk", _inside(config, "activation_fn_kwargs").get("k"))


def _is_bare(_: str, tensors: Tensors, config: Config) -> bool:
    return {"W_enc", "W_dec"} <= set(tensors)


def _bare(tensors: Tensors, config: Config) -> Stated:
    rows, columns = _size(tensors, "W_enc")
    bias = tensors["b_enc"].size if "b_enc" in tensors else None
    d_sae = bias if rows != columns and bias in (rows, columns) else None
    d_in = {rows: columns, columns: rows}.get(d_sae)
    named = BARE.get(str(config.get("sae_type") or config.get("architecture")).lower())
    known: tuple[str, ...] = (named,) if named else ("topk", "relu")
    if {"jumprelu.log_threshold", "log_threshold"} & set(tensors):
        known = ("jumprelu",)
    elif "threshold" in tensors and not named:
        one = tensors["threshold"].size == 1
        usual = "matryoshka" if "group_sizes" in tensors else "batchtopk"
        known = (usual if one else "jumprelu", "topk", "relu")
    k = config.get("top_k", config.get("k")) if "topk" in known else None
    return Stated(known, d_in, d_sae, _whole(k))


FORMATS: tuple[
    tuple[Callable[[str, Tensors, Config], bool], Callable[[Tensors, Config], Stated]], ...
] = (
    (_is_assay, _assay),
    (_is_saelens, _saelens),
    (_is_dictionary_learning, _dictionary_learning),
    (_is_sparsify, _sparsify),
    (_is_openai, _openai),
    (_is_overcomplete, _overcomplete),
    (_is_prisma, _prisma),
    (_is_bare, _bare),
)
"""Whether files are of a format, and what they say then; in the order that formats are tried."""
