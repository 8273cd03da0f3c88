"""Gemma Scope: ``params.npz`` with a threshold for each latent."""

import torch

from benchmark.saes.activations import Threshold
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader
from benchmark.saes.sae import Sae


class GemmaScopeFormat:
    """Reads JumpReLU SAEs whose decoder bias is not taken off the input."""

    looks_like = "Gemma Scope (params.npz)"

    def matches(self, files: SaeFiles) -> bool:
        return files.weights.suffix == ".npz"

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        reader = Reader(files, "Gemma Scope")
        d_sae, d_in = reader.shape("W_dec")
        sae = Sae(
            architecture="jumprelu",
            encoder=reader.take_columns("W_enc", (d_in, d_sae)),
            encoder_bias=reader.take("b_enc", (d_sae,)),
            decoder=reader.take("W_dec", (d_sae, d_in)),
            decoder_bias=reader.take("b_dec", (d_in,)),
            activation=Threshold(torch.from_numpy(reader.take("threshold", (d_sae,)))),
            normalisation="none",
            subtract_decoder_bias=False,
        )
        reader.finish()
        return sae


FORMAT = GemmaScopeFormat()
