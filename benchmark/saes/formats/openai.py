"""openai/sparse_autoencoder: a ``.pt`` state dict that names its activation."""

import numpy as np

from benchmark.errors import UserError
from benchmark.saes.activations import Activation, Relu, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae


class OpenAiFormat:
    """Reads the state dict of ``Autoencoder``; a TopK one normalises its input."""

    looks_like = "openai/sparse_autoencoder (a .pt state dict with pre_bias and latent_bias)"

    def matches(self, files: SaeFiles) -> bool:
        return {"pre_bias", "latent_bias", "encoder.weight"} <= set(files.tensors)

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        reader = Reader(files, "openai/sparse_autoencoder")
        d_sae, d_in = reader.shape("encoder.weight")
        reader.ignore("stats_last_nonzero", "activation_state_dict.k")
        rule = _activation(files, hints, d_sae)
        encoder = reader.take("encoder.weight", (d_sae, d_in))
        sae = Sae(
            architecture="topk" if isinstance(rule, TopK) else "relu",
            encoder=encoder,
            encoder_bias=reader.take("latent_bias", (d_sae,)),
            decoder=_decoder(reader, encoder),
            decoder_bias=reader.take("pre_bias", (d_in,)),
            activation=rule,
            normalisation="layer_norm" if isinstance(rule, TopK) else "none",
            metadata={key: str(value) for key, value in files.plain.items()},
        )
        reader.finish()
        return sae


FORMAT = OpenAiFormat()


def _decoder(reader: Reader, encoder: np.ndarray) -> np.ndarray:
    if "decoder.weight" in reader:
        return reader.take_columns("decoder.weight", encoder.shape[::-1])
    return reader.take("decoder.encoder.weight", encoder.shape)


def _activation(files: SaeFiles, hints: Hints, d_sae: int) -> Activation:
    name = files.plain.get("activation", "ReLU")
    if name == "ReLU":
        return Relu()
    if name != "TopK":
        raise UserError(f"{files.weights}: activation {name!r}; expected ReLU or TopK")
    k = files.plain.get("activation_state_dict.k")
    if k is None and "activation_state_dict.k" in files.tensors:
        k = files.tensors["activation_state_dict.k"].item()
    post = files.plain.get("activation_state_dict.postact_fn", "ReLU")
    if post != "ReLU":
        raise UserError(f"{files.weights}: postact_fn {post!r}; expected ReLU")
    return TopK(positive_k(hints.k if k is None else k, d_sae, files))
