"""Bare state dicts, as the concept-annotation paper's code saves them: W_enc, W_dec, b_enc, b_dec.

The rule is read from what is there: ``threshold`` (BatchTopK, Matryoshka), ``log_threshold``
(JumpReLU), or the settings beside it; its inputs are standardised unless the settings say not.
"""

from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.sae_names import BARE
from benchmark.saes.activations import Activation, Relu, Threshold, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae

_LOG_THRESHOLDS = ("jumprelu.log_threshold", "log_threshold")
_STATISTICS = ("num_batches_not_active", "group_sizes", "k")


class BareFormat:
    """Reads plain matrices and biases."""

    looks_like = "a bare state dict (W_enc, W_dec, b_enc, b_dec)"

    def matches(self, files: SaeFiles) -> bool:
        return {"W_enc", "W_dec"} <= set(files.tensors)

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        reader = Reader(files, "bare")
        reader.ignore(*_STATISTICS)
        d_sae, d_in, as_columns = _sizes(reader, files)
        _check_sizes(reader, files, d_in, d_sae)
        stored = (d_in, d_sae) if as_columns else (d_sae, d_in)
        architecture, rule = _activation(reader, files, hints, d_sae)
        encoder = reader.take("W_enc", stored)
        decoder = reader.take("W_dec", stored[::-1])
        sae = Sae(
            architecture=architecture,
            encoder=encoder.T if as_columns else encoder,
            encoder_bias=reader.take("b_enc", (d_sae,)),
            decoder=decoder if as_columns else decoder.T,
            decoder_bias=reader.take("b_dec", (d_in,)),
            activation=rule,
            normalisation="layer_norm" if _standardised(files) else "none",
            metadata=dict(files.config),
            notes=_notes(files),
        )
        reader.finish()
        return sae


FORMAT = BareFormat()


def _sizes(reader: Reader, files: SaeFiles) -> tuple[int, int, bool]:
    """d_sae, d_in, and whether the encoder is stored with one column a latent."""
    rows, columns = reader.shape("W_enc")
    bias = files.tensors.get("b_enc", np.zeros(0)).size
    if rows == columns:
        claimed = files.config.get("dict_size"), files.config.get("act_size")
        if claimed == (columns, rows):
            return columns, rows, True
        raise UserError(
            f"{files.weights}: tensor 'W_enc' is square ({rows} × {columns}), so nothing says "
            "whether its rows or its columns are latents; expected config.json beside it with "
            "act_size and dict_size, which the format stores as (act_size, dict_size)"
        )
    if bias == columns:
        return columns, rows, True
    if bias == rows:
        return rows, columns, False
    raise UserError(
        f"{files.weights}: tensor 'b_enc' has {bias} entries, but 'W_enc' is {rows} × {columns}"
    )


def _check_sizes(reader: Reader, files: SaeFiles, d_in: int, d_sae: int) -> None:
    for key in ("act_size", "d_in", "activation_dim"):
        reader.agree(key, files.config.get(key), d_in)
    for key in ("dict_size", "d_sae"):
        reader.agree(key, files.config.get(key), d_sae)


def _standardised(files: SaeFiles) -> bool:
    value = files.config.get("input_unit_norm", True)
    if not isinstance(value, bool):
        raise UserError(f"{files.where}: input_unit_norm is {value!r}; expected true or false")
    return value


def _activation(
    reader: Reader, files: SaeFiles, hints: Hints, d_sae: int
) -> tuple[str, Activation]:
    named = hints.architecture or files.config.get("sae_type") or files.config.get("architecture")
    architecture = BARE.get(str(named).lower()) if named is not None else None
    if named is not None and architecture is None:
        raise UserError(f"{files.where}: sae_type {named!r}; expected {', '.join(BARE)}")
    for name in _LOG_THRESHOLDS:
        if name in reader:
            threshold = np.exp(reader.take(name, (d_sae,)))
            return "jumprelu", Threshold(torch.from_numpy(threshold))
    if "threshold" in reader and architecture not in ("topk", "relu"):
        return _thresholded(reader, files, architecture, d_sae)
    reader.ignore("threshold")
    k = hints.k if hints.k is not None else files.config.get("top_k", files.config.get("k"))
    if architecture == "relu":
        return "relu", Relu()
    if architecture in (None, "topk") and k is not None:
        return "topk", TopK(positive_k(k, d_sae, files))
    if architecture is None:
        raise UserError(
            f"{files.weights}: nothing says which latents are active; give k (--k K) for TopK, "
            "architecture relu (--architecture relu), or put config.json with sae_type and top_k "
            "beside it"
        )
    missing = "top_k" if architecture == "topk" else "tensor 'threshold'"
    raise UserError(f"{files.where}: a {architecture} SAE without {missing} cannot be used")


def _thresholded(
    reader: Reader, files: SaeFiles, architecture: str | None, d_sae: int
) -> tuple[str, Activation]:
    value: Any = files.tensors["threshold"]
    if value.size == 1:
        threshold = np.full(d_sae, reader.number("threshold"), np.float32)
    else:
        threshold = reader.take("threshold", (d_sae,))
    if architecture is None:
        architecture = "matryoshka" if "group_sizes" in reader else "batchtopk"
        architecture = "jumprelu" if value.size > 1 else architecture
    return architecture, Threshold(torch.from_numpy(threshold))


def _notes(files: SaeFiles) -> tuple[str, ...]:
    if "input_unit_norm" in files.config:
        return ()
    return ("nothing says whether inputs are standardised: taken as the paper does, standardised",)
