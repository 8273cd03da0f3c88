"""overcomplete: the state dict of a linear SAE (TopK, JumpReLU or ReLU)."""

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.saes.activations import Activation, Relu, Threshold, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae

_LINEAR = "encoder.final_block.0"
_NORM = "encoder.final_block.1"
_EPSILON = 1e-5


class OvercompleteFormat:
    """Reads a state dict with a linear encoder, plain or followed by batch normalisation."""

    looks_like = "overcomplete (a state dict with dictionary._weights)"

    def matches(self, files: SaeFiles) -> bool:
        return "dictionary._weights" in files.tensors

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        reader = Reader(files, "overcomplete")
        d_sae, d_in = reader.shape("dictionary._weights")
        scale = np.float32(np.exp(_multiplier(reader)))
        encoder = reader.take(f"{_LINEAR}.weight", (d_sae, d_in))
        bias = np.zeros(d_sae, np.float32)
        if f"{_LINEAR}.bias" in reader:
            bias = reader.take(f"{_LINEAR}.bias", (d_sae,))
        if f"{_NORM}.running_var" in reader:
            encoder, bias = _fold_norm(reader, encoder, bias)
        architecture, rule, notes = _activation(reader, files, hints, d_sae)
        sae = Sae(
            architecture=architecture,
            encoder=encoder,
            encoder_bias=bias,
            decoder=reader.take("dictionary._weights", (d_sae, d_in)) * scale,
            decoder_bias=np.zeros(d_in, np.float32),
            activation=rule,
            normalisation="none",
            subtract_decoder_bias=False,
            metadata=dict(files.config),
            notes=notes,
        )
        reader.finish()
        return sae


FORMAT = OvercompleteFormat()


def _multiplier(reader: Reader) -> float:
    return reader.number("dictionary.multiplier") if "dictionary.multiplier" in reader else 0.0


def _fold_norm(
    reader: Reader, encoder: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Batch normalisation at inference is a scale and a shift of each latent."""
    size = (len(bias),)
    mean, variance, weight, shift = (
        reader.take(f"{_NORM}.{name}", size)
        for name in ("running_mean", "running_var", "weight", "bias")
    )
    reader.ignore(f"{_NORM}.num_batches_tracked")
    factor = weight / np.sqrt(variance + np.float32(_EPSILON))
    return encoder * factor[:, None], (bias - mean) * factor + shift


def _activation(
    reader: Reader, files: SaeFiles, hints: Hints, d_sae: int
) -> tuple[str, Activation, tuple[str, ...]]:
    if "thresholds" in reader:
        threshold = np.exp(reader.take("thresholds", (d_sae,)))
        # the library keeps what equals the threshold, too
        below = np.nextafter(threshold, np.float32(-np.inf))
        return "jumprelu", Threshold(torch.from_numpy(below)), ()
    architecture = hints.architecture or files.config.get("architecture") or "topk"
    if architecture in ("relu", "standard"):
        return "relu", Relu(), ()
    if architecture != "topk":
        raise UserError(f"{files.where}: architecture {architecture!r}; expected topk or relu")
    k = hints.k if hints.k is not None else files.config.get("k", files.config.get("top_k"))
    if k is not None:
        return "topk", TopK(positive_k(k, d_sae, files)), ()
    default = max(d_sae // 10, 1)
    note = (
        f"the state dict does not hold its rule: taken as TopK with the library's default k of "
        f"{default} (a tenth of the latents); give k or architecture where that is wrong"
    )
    return "topk", TopK(default), (note,)
