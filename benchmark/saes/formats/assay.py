"""The suite's own format: ``sae.safetensors`` beside ``config.json``."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.files import replacing_dir, write_json
from benchmark.saes.activations import Activation, Gated, Relu, Threshold, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader
from benchmark.saes.normalisation import NORMALISATIONS
from benchmark.saes.sae import Sae
from benchmark.tensors import write_tensors

WEIGHTS = "sae.safetensors"
CONFIG = "config.json"
_KEYS = {
    "format",
    "format_version",
    "architecture",
    "activation",
    "d_in",
    "d_sae",
    "k",
    "normalisation",
    "subtract_decoder_bias",
    "training",
}
_EXTRA_TENSORS = {
    "topk": (),
    "relu": (),
    "threshold": ("threshold",),
    "gated": ("gate_bias", "log_scale", "magnitude_bias"),
}


class AssayFormat:
    """Reads and writes an SAE trained here."""

    looks_like = f"{WEIGHTS} beside {CONFIG} (assay train)"

    def matches(self, files: SaeFiles) -> bool:
        return str(files.config.get("format", "")).startswith("assay-")

    def matches_folder(self, folder: Path) -> bool:
        """Whether ``folder`` is one that ``save`` wrote."""
        return folder.is_dir() and {item.name for item in folder.iterdir()} == {WEIGHTS, CONFIG}

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        config = dict(files.config)
        _check_config(config, files.where)
        reader = Reader(files, config["activation"])
        d_in, d_sae, rule = config["d_in"], config["d_sae"], config["activation"]
        extra = {
            name: torch.from_numpy(reader.take(name, (d_sae,))) for name in _EXTRA_TENSORS[rule]
        }
        sae = Sae(
            architecture=config["architecture"],
            encoder=reader.take("encoder", (d_sae, d_in)),
            encoder_bias=reader.take("encoder_bias", (d_sae,)),
            decoder=reader.take("decoder", (d_sae, d_in)),
            decoder_bias=reader.take("decoder_bias", (d_in,)),
            activation=_activation(rule, config, extra),
            normalisation=config["normalisation"],
            subtract_decoder_bias=config["subtract_decoder_bias"],
            metadata=config,
        )
        reader.finish()
        return sae

    def save(self, sae: Sae, folder: Path, training: dict[str, Any]) -> None:
        """Write ``sae`` as ``folder`` at once; same SAE, same bytes."""
        rule, settings, extra = _describe(sae.activation, sae.d_sae)
        tensors = {
            "encoder": sae.encoder,
            "encoder_bias": sae.encoder_bias,
            "decoder": sae.decoder,
            "decoder_bias": sae.decoder_bias,
            **extra,
        }
        config = {
            "format": "assay-sae",
            "format_version": 1,
            "architecture": sae.architecture,
            "activation": rule,
            "d_in": sae.d_in,
            "d_sae": sae.d_sae,
            "normalisation": sae.normalisation,
            "subtract_decoder_bias": sae.subtract_decoder_bias,
            "training": training,
            **settings,
        }
        with replacing_dir(folder) as temporary:
            write_tensors(temporary / WEIGHTS, tensors, {})
            write_json(temporary / CONFIG, config)


FORMAT = AssayFormat()


def _activation(rule: str, config: dict[str, Any], extra: dict[str, torch.Tensor]) -> Activation:
    if rule == "topk":
        return TopK(config["k"])
    if rule == "threshold":
        return Threshold(extra["threshold"])
    if rule == "gated":
        return Gated(extra["gate_bias"], extra["log_scale"], extra["magnitude_bias"])
    return Relu()


def _describe(
    activation: Activation, d_sae: int
) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    if isinstance(activation, TopK):
        return "topk", {"k": activation.k}, {}
    if isinstance(activation, Threshold) and not activation.shift:
        return "threshold", {}, {"threshold": activation.threshold.expand(d_sae).numpy().copy()}
    if isinstance(activation, Gated):
        names = _EXTRA_TENSORS["gated"]
        return "gated", {}, {name: getattr(activation, name).numpy() for name in names}
    if isinstance(activation, Relu):
        return "relu", {}, {}
    raise TypeError(f"cannot be written: {activation}")


def _check_config(config: dict[str, Any], where: Path) -> None:
    if config.get("format") != "assay-sae" or config.get("format_version") != 1:
        raise UserError(
            f"{where}: format {config.get('format')!r} version {config.get('format_version')!r}; "
            "expected 'assay-sae' version 1"
        )
    if unknown := sorted(set(config) - _KEYS):
        raise UserError(f"{where}: unknown key {unknown[0]!r}; expected {', '.join(sorted(_KEYS))}")
    for name, kind in _TYPES.items():
        if type(config.get(name)) is not kind:
            raise UserError(
                f"{where}: {name} is {config.get(name)!r}; expected a value of type {kind.__name__}"
            )
    if not re.fullmatch(r"[a-z0-9_-]{1,40}", config["architecture"]):
        raise UserError(f"{where}: architecture is {config['architecture']!r:.60}; expected a name")
    for name in ("d_in", "d_sae"):
        if config[name] < 1:
            raise UserError(f"{where}: {name} is {config[name]}; expected at least 1")
    if config["activation"] not in _EXTRA_TENSORS:
        raise UserError(f"{where}: activation {config['activation']!r} is not known")
    if config["normalisation"] not in NORMALISATIONS:
        raise UserError(
            f"{where}: normalisation {config['normalisation']!r}; "
            f"expected one of {', '.join(NORMALISATIONS)}"
        )
    if config["activation"] == "topk":
        k = config.get("k")
        if type(k) is not int or not 1 <= k <= config["d_sae"]:
            raise UserError(f"{where}: k is {k!r}; expected a whole number from 1 to d_sae")


_TYPES = {
    "architecture": str,
    "activation": str,
    "d_in": int,
    "d_sae": int,
    "normalisation": str,
    "subtract_decoder_bias": bool,
}
