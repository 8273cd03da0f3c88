"""ViT-Prisma: ``weights.pt`` (a state dict) beside ``config.json``."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.saes.activations import Activation, Gated, Relu, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae

_KEYS = {"hook_point_layer", "activation_fn_str", "expansion_factor"}


class PrismaFormat:
    """Reads standard and gated SAEs; the decoder bias is taken off the normalised input."""

    looks_like = "ViT-Prisma (weights.pt and config.json)"

    def matches(self, files: SaeFiles) -> bool:
        return "W_enc" in _state(files) and len(_KEYS & set(files.config)) >= 2

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        config = files.config
        reader = Reader(files, "ViT-Prisma", _state(files))
        d_sae, d_in = reader.shape("W_dec")
        reader.agree("d_in", config.get("d_in"), d_in)
        reader.agree("d_sae", _claimed_size(config), d_sae)
        rule, bias = _activation(config, reader, files, hints, d_sae)
        sae = Sae(
            architecture={TopK: "topk", Gated: "gated"}.get(type(rule), "relu"),
            encoder=reader.take_columns("W_enc", (d_in, d_sae)),
            encoder_bias=bias,
            decoder=reader.take("W_dec", (d_sae, d_in)),
            decoder_bias=reader.take("b_dec", (d_in,)),
            activation=rule,
            normalisation=_normalisation(files),
            metadata=dict(config),
        )
        reader.finish()
        return sae


FORMAT = PrismaFormat()


def _state(files: SaeFiles) -> dict[str, np.ndarray]:
    prefix = "state_dict."
    inside = {
        name.removeprefix(prefix): tensor
        for name, tensor in files.tensors.items()
        if name.startswith(prefix)
    }
    return inside or dict(files.tensors)


def _claimed_size(config: Mapping[str, Any]) -> Any:
    if config.get("d_sae") is not None:
        return config["d_sae"]
    factor, width = config.get("expansion_factor"), config.get("d_in")
    return factor * width if isinstance(factor, int) and isinstance(width, int) else None


def _normalisation(files: SaeFiles) -> str:
    name = files.config.get("normalize_activations") or "none"
    known = {"none": "none", "layer_norm": "layer_norm"}
    known |= {"constant_norm_rescale": "constant_norm_rescale"}
    if name not in known:
        raise UserError(
            f"{files.where}: normalize_activations is {name!r}; expected {', '.join(known)}"
        )
    return known[name]


def _activation(
    config: Mapping[str, Any], reader: Reader, files: SaeFiles, hints: Hints, d_sae: int
) -> tuple[Activation, np.ndarray]:
    if config.get("architecture") == "gated" or "r_mag" in reader:
        names = ("b_gate", "r_mag", "b_mag")
        parts = [torch.from_numpy(reader.take(name, (d_sae,))) for name in names]
        reader.ignore("b_enc")
        return Gated(*parts), np.zeros(d_sae, np.float32)
    bias = reader.take("b_enc", (d_sae,))
    name = config.get("activation_fn_str", "relu")
    if name == "relu":
        return Relu(), bias
    if name != "topk":
        raise UserError(f"{files.where}: activation_fn_str is {name!r}; expected relu or topk")
    arguments = config.get("activation_fn_kwargs") or {}
    k = arguments.get("k") if isinstance(arguments, Mapping) else None
    return TopK(positive_k(hints.k if k is None else k, d_sae, files)), bias
