"""dictionary_learning: ``ae.pt`` beside ``config.json``; also its backup checkpoints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.sae_names import DICTIONARY_LEARNING
from benchmark.saes.activations import Activation, Gated, Relu, Threshold, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae

_NEVER_SET = (
    "the threshold is -1, which means it was never set: every positive pre-activation is active, "
    "as dictionary_learning does"
)


class DictionaryLearningFormat:
    """Reads the state dict of a dictionary, plain or in a backup."""

    looks_like = "dictionary_learning (ae.pt and config.json)"

    def matches(self, files: SaeFiles) -> bool:
        names = set(_state(files))
        if "step" in files.plain and any(name.startswith("ae.") for name in files.tensors):
            return True
        if isinstance(files.config.get("trainer"), Mapping):
            return "dict_class" in files.config["trainer"]
        linear = {"encoder.weight", "decoder.weight"} <= names
        return linear and bool(names & {"bias", "decoder.bias", "decoder_bias", "b_dec"})

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        trainer = _trainer(files)
        kind = _class(files, trainer)
        reader = Reader(files, f"dictionary_learning {kind}", _state(files))
        reader.ignore("group_sizes")
        sae = _BUILDERS[kind](reader, files, kind, trainer)
        reader.agree("activation_dim", trainer.get("activation_dim"), sae.d_in)
        reader.agree("dict_size", trainer.get("dict_size"), sae.d_sae)
        reader.finish()
        return sae


FORMAT = DictionaryLearningFormat()


def _state(files: SaeFiles) -> dict[str, np.ndarray]:
    """Tensors of the dictionary; a backup keeps them under ``ae`` and others beside."""
    inside = {
        name.removeprefix("ae."): tensor
        for name, tensor in files.tensors.items()
        if name.startswith("ae.")
    }
    return inside or dict(files.tensors)


def _trainer(files: SaeFiles) -> dict[str, Any]:
    given = files.config.get("trainer")
    found = dict(given) if isinstance(given, Mapping) else {}
    backup = {
        name.removeprefix("config."): value
        for name, value in files.plain.items()
        if name.startswith("config.")
    }
    return {**backup, **found}


def _class(files: SaeFiles, trainer: dict[str, Any]) -> str:
    names = set(_state(files))
    named = trainer.get("dict_class")
    if named is not None and named not in DICTIONARY_LEARNING:
        raise UserError(
            f"{files.where}: dict_class {named!r}; expected {', '.join(DICTIONARY_LEARNING)}"
        )
    shown = _class_of(names)
    if named is None:
        if shown is None or len(shown) > 1:
            options = " or ".join(shown) if shown else "none known"
            raise UserError(
                f"{files.weights}: its tensors fit {options}; expected config.json beside it "
                "with trainer.dict_class"
            )
        return shown[0]
    if shown is not None and named not in shown:
        raise UserError(
            f"{files.where}: dict_class is {named!r}, but the tensors are of {' or '.join(shown)}"
        )
    return str(named)


def _class_of(names: set[str]) -> tuple[str, ...] | None:
    """Classes whose state dict has these tensors; None where no class's own mark is there."""
    if "r_mag" in names:
        return ("GatedAutoEncoder",)
    if "group_sizes" in names:
        return ("MatryoshkaBatchTopKSAE",)
    if {"W_enc", "threshold"} <= names:
        return ("JumpReluAutoEncoder",)
    if "k" in names:
        return ("AutoEncoderTopK", "BatchTopKSAE")
    if "decoder.bias" in names:
        return ("AutoEncoderNew",)
    if "bias" in names:
        return ("AutoEncoder",)
    return None


def _unfolded(files: SaeFiles) -> float:
    """What a backup's activations were divided by and its biases do not yet hold; else 1."""
    factor = files.plain.get("norm_factor")
    if factor is None:
        return 1.0
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not factor > 0:
        raise UserError(f"{files.weights}: norm_factor is {factor!r}; expected a number above 0")
    return float(factor)


def _sae(
    files: SaeFiles,
    trainer: dict[str, Any],
    kind: str,
    weights: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    activation: Activation,
    subtract: bool = True,
    notes: tuple[str, ...] = (),
) -> Sae:
    encoder, encoder_bias, decoder, decoder_bias = weights
    factor = np.float32(_unfolded(files))
    return Sae(
        architecture=_trained_as(kind, trainer),
        encoder=encoder,
        encoder_bias=encoder_bias * factor,
        decoder=decoder,
        decoder_bias=decoder_bias * factor,
        activation=activation,
        normalisation="none",
        subtract_decoder_bias=subtract,
        metadata=trainer,
        notes=notes,
    )


def _trained_as(kind: str, trainer: dict[str, Any]) -> str:
    if str(trainer.get("trainer_class", "")).startswith("PAnneal"):
        return "p_anneal"
    return DICTIONARY_LEARNING[kind]


def _linear(reader: Reader) -> tuple[int, int, np.ndarray, np.ndarray]:
    d_sae, d_in = reader.shape("encoder.weight")
    encoder = reader.take("encoder.weight", (d_sae, d_in))
    decoder = reader.take_columns("decoder.weight", (d_in, d_sae))
    return d_sae, d_in, encoder, decoder


def _standard(reader: Reader, files: SaeFiles, kind: str, trainer: dict[str, Any]) -> Sae:
    d_sae, d_in, encoder, decoder = _linear(reader)
    new = kind == "AutoEncoderNew"
    bias = reader.take("decoder.bias" if new else "bias", (d_in,))
    weights = (encoder, reader.take("encoder.bias", (d_sae,)), decoder, bias)
    return _sae(files, trainer, kind, weights, Relu(), subtract=not new)


def _gated(reader: Reader, files: SaeFiles, kind: str, trainer: dict[str, Any]) -> Sae:
    d_sae, d_in, encoder, decoder = _linear(reader)
    factor = np.float32(_unfolded(files))
    rule = Gated(
        torch.from_numpy(reader.take("gate_bias", (d_sae,)) * factor),
        torch.from_numpy(reader.take("r_mag", (d_sae,))),
        torch.from_numpy(reader.take("mag_bias", (d_sae,)) * factor),
    )
    zeros = np.zeros(d_sae, np.float32)
    weights = (encoder, zeros, decoder, reader.take("decoder_bias", (d_in,)))
    return _sae(files, trainer, kind, weights, rule)


def _topk(reader: Reader, files: SaeFiles, kind: str, trainer: dict[str, Any]) -> Sae:
    d_sae, d_in, encoder, decoder = _linear(reader)
    weights = (
        encoder,
        reader.take("encoder.bias", (d_sae,)),
        decoder,
        reader.take("b_dec", (d_in,)),
    )
    k = _checked_k(reader, files, trainer, d_sae)
    if kind == "AutoEncoderTopK":
        reader.ignore("threshold")
        return _sae(files, trainer, kind, weights, TopK(k))
    rule, notes = _batch_threshold(reader, files)
    return _sae(files, trainer, kind, weights, rule, notes=notes)


def _matryoshka(reader: Reader, files: SaeFiles, kind: str, trainer: dict[str, Any]) -> Sae:
    weights, d_sae = _columns(reader)
    _checked_k(reader, files, trainer, d_sae)
    rule, notes = _batch_threshold(reader, files)
    return _sae(files, trainer, kind, weights, rule, notes=notes)


def _jumprelu(reader: Reader, files: SaeFiles, kind: str, trainer: dict[str, Any]) -> Sae:
    weights, d_sae = _columns(reader)
    threshold = reader.take("threshold", (d_sae,)) * np.float32(_unfolded(files))
    rule = Threshold(torch.from_numpy(threshold))
    return _sae(files, trainer, kind, weights, rule, subtract=False)


def _columns(
    reader: Reader,
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], int]:
    d_sae, d_in = reader.shape("W_dec")
    weights = (
        reader.take_columns("W_enc", (d_in, d_sae)),
        reader.take("b_enc", (d_sae,)),
        reader.take("W_dec", (d_sae, d_in)),
        reader.take("b_dec", (d_in,)),
    )
    return weights, d_sae


def _checked_k(reader: Reader, files: SaeFiles, trainer: dict[str, Any], d_sae: int) -> int:
    k = positive_k(reader.number("k"), d_sae, files)
    reader.agree("k", trainer.get("k"), k)
    return k


def _batch_threshold(reader: Reader, files: SaeFiles) -> tuple[Activation, tuple[str, ...]]:
    threshold = reader.number("threshold")
    if threshold < 0:
        return Relu(), (_NEVER_SET,)
    return Threshold(torch.tensor(threshold * _unfolded(files), dtype=torch.float32)), ()


_BUILDERS = {
    "AutoEncoder": _standard,
    "AutoEncoderNew": _standard,
    "GatedAutoEncoder": _gated,
    "AutoEncoderTopK": _topk,
    "BatchTopKSAE": _topk,
    "MatryoshkaBatchTopKSAE": _matryoshka,
    "JumpReluAutoEncoder": _jumprelu,
}
