"""SAELens, version 6 and older: ``sae_weights.safetensors`` beside ``cfg.json``."""

from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.sae_names import SAELENS, SAELENS_LOADED
from benchmark.saes.activations import Activation, Gated, Relu, Threshold, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae

_NORMALISATION = {
    "none": "none",
    "expected_average_only_in": "none",
    "layer_norm": "layer_norm",
    "constant_norm_rescale": "constant_norm_rescale",
}


class SaeLensFormat:
    """Reads what ``SAE.save_model`` writes."""

    looks_like = "SAELens (sae_weights.safetensors and cfg.json)"

    def matches(self, files: SaeFiles) -> bool:
        if files.weights.name == "sae_weights.safetensors":
            return True
        return "d_sae" in files.config and (
            "sae_lens_version" in files.config
            or "sae_lens_version" in _metadata(files.config)
            or files.config.get("architecture") in SAELENS_LOADED
        )

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        config = _modern(files)
        reader = Reader(files, f"SAELens {config['architecture']}")
        d_sae, d_in = reader.shape("W_dec")
        reader.agree("d_in", files.config.get("d_in"), d_in)
        reader.agree("d_sae", files.config.get("d_sae"), d_sae)
        decoder = reader.take("W_dec", (d_sae, d_in))
        rule, bias = _activation(config, reader, d_sae, files)
        norms = None
        if config["rescale_acts_by_decoder_norm"]:
            norms = np.linalg.norm(decoder, axis=1)
        sae = Sae(
            architecture=_architecture(config),
            encoder=reader.take_columns("W_enc", (d_in, d_sae)),
            encoder_bias=bias,
            decoder=decoder,
            decoder_bias=reader.take("b_dec", (d_in,)),
            activation=rule,
            normalisation=_NORMALISATION[config["normalize_activations"]],
            subtract_decoder_bias=config["apply_b_dec_to_input"],
            pre_scale=norms,
            code_scale=_code_scale(config, reader, norms, d_sae),
            metadata=dict(files.config),
            notes=_notes(config),
        )
        reader.finish()
        return sae


FORMAT = SaeLensFormat()


def _metadata(config: Any) -> dict[str, Any]:
    found = config.get("metadata")
    return found if isinstance(found, dict) else {}


def _modern(files: SaeFiles) -> dict[str, Any]:
    """The settings that matter, with the defaults of the version that wrote them."""
    raw = files.config
    if not raw:
        raise UserError(f"{files.weights}: no cfg.json beside it; expected SAELens settings")
    function = raw.get("activation_fn", raw.get("activation_fn_str", "relu"))
    arguments = raw.get("activation_fn_kwargs") or {}
    architecture = raw.get("architecture", "standard")
    k = raw.get("k")
    if function == "topk" and isinstance(arguments, dict) and arguments.get("k") is not None:
        architecture, k = "topk", arguments["k"]
    elif function not in ("relu", "topk"):
        raise UserError(f"{files.where}: activation {function!r}; expected relu or topk")
    if architecture not in SAELENS_LOADED:
        raise UserError(
            f"{files.where}: architecture {architecture!r}; expected {', '.join(SAELENS_LOADED)}"
        )
    normalise = raw.get("normalize_activations") or "none"
    normalise = "expected_average_only_in" if normalise is True else normalise
    if normalise not in _NORMALISATION:
        raise UserError(
            f"{files.where}: normalize_activations is {normalise!r}; "
            f"expected {', '.join(_NORMALISATION)}"
        )
    return {
        "architecture": architecture,
        "trained_as": _metadata(raw).get("training_architecture", architecture),
        "k": k,
        "normalize_activations": normalise,
        "apply_b_dec_to_input": _flag(files, "apply_b_dec_to_input", True),
        "rescale_acts_by_decoder_norm": _flag(files, "rescale_acts_by_decoder_norm", False)
        and architecture == "topk",
        "finetuning_scaling_factor": _flag(files, "finetuning_scaling_factor", False),
    }


def _flag(files: SaeFiles, key: str, default: bool) -> bool:
    value = files.config.get(key, default)
    if not isinstance(value, bool):
        raise UserError(f"{files.where}: {key} is {value!r}; expected true or false")
    return value


def _architecture(config: dict[str, Any]) -> str:
    return SAELENS.get(config["trained_as"], SAELENS[config["architecture"]])


def _activation(
    config: dict[str, Any], reader: Reader, d_sae: int, files: SaeFiles
) -> tuple[Activation, np.ndarray]:
    architecture = config["architecture"]
    if architecture == "gated":
        rule = Gated(
            torch.from_numpy(reader.take("b_gate", (d_sae,))),
            torch.from_numpy(reader.take("r_mag", (d_sae,))),
            torch.from_numpy(reader.take("b_mag", (d_sae,))),
        )
        reader.ignore("b_enc")
        return rule, np.zeros(d_sae, np.float32)
    bias = reader.take("b_enc", (d_sae,))
    if architecture == "topk":
        return TopK(positive_k(config["k"], d_sae, files)), bias
    if architecture in ("jumprelu", "batchtopk"):
        return Threshold(torch.from_numpy(_threshold(reader, d_sae, architecture))), bias
    return Relu(), bias


def _threshold(reader: Reader, d_sae: int, architecture: str) -> np.ndarray:
    if architecture == "batchtopk" and "topk_threshold" in reader:
        return np.full(d_sae, reader.number("topk_threshold"), np.float32)
    if "log_threshold" in reader:
        return np.exp(reader.take("log_threshold", (d_sae,)))
    return reader.take("threshold", (d_sae,))


def _code_scale(
    config: dict[str, Any], reader: Reader, norms: np.ndarray | None, d_sae: int
) -> np.ndarray | None:
    scale = None
    if norms is not None:
        # a row of norm 0 gives codes of 0, which reconstruct nothing
        scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if "scaling_factor" in reader:
        factor = reader.take("scaling_factor", (d_sae,))
        if config["finetuning_scaling_factor"]:
            scale = factor if scale is None else scale * factor
    return scale


def _notes(config: dict[str, Any]) -> tuple[str, ...]:
    if config["normalize_activations"] != "expected_average_only_in":
        return ()
    return (
        "normalize_activations is expected_average_only_in: the factor is not in the file, and "
        "inputs are used as they are, as SAELens does at inference",
    )
