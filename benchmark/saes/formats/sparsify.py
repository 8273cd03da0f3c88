"""sparsify: ``sae.safetensors`` beside ``cfg.json``, TopK or groupmax."""

from benchmark.errors import UserError
from benchmark.saes.activations import Activation, GroupMax, TopK
from benchmark.saes.formats.base import Hints
from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.formats.reader import Reader, positive_k
from benchmark.saes.sae import Sae


class SparsifyFormat:
    """Reads what ``SparseCoder.save_to_disk`` writes."""

    looks_like = "sparsify (sae.safetensors and cfg.json)"

    def matches(self, files: SaeFiles) -> bool:
        return {"encoder.weight", "W_dec"} <= set(files.tensors)

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        config = files.config
        for key in ("transcode", "skip_connection"):
            if config.get(key):
                raise UserError(f"{files.where}: {key} is set; a transcoder is not an SAE")
        reader = Reader(files, "sparsify")
        d_sae, d_in = reader.shape("encoder.weight")
        reader.agree("d_in", config.get("d_in"), d_in)
        if config.get("num_latents"):
            reader.agree("num_latents", config["num_latents"], d_sae)
        elif isinstance(config.get("expansion_factor"), int):
            reader.agree("expansion_factor × d_in", config["expansion_factor"] * d_in, d_sae)
        k = positive_k(config.get("k", hints.k), d_sae, files)
        sae = Sae(
            architecture="topk",
            encoder=reader.take("encoder.weight", (d_sae, d_in)),
            encoder_bias=reader.take("encoder.bias", (d_sae,)),
            decoder=reader.take("W_dec", (d_sae, d_in)),
            decoder_bias=reader.take("b_dec", (d_in,)),
            activation=_activation(files, k, d_sae),
            normalisation="none",
            metadata=dict(config),
        )
        reader.finish()
        return sae


FORMAT = SparsifyFormat()


def _activation(files: SaeFiles, k: int, d_sae: int) -> Activation:
    name = files.config.get("activation", "topk")
    if name == "topk":
        return TopK(k)
    if name != "groupmax":
        raise UserError(f"{files.where}: activation {name!r}; expected topk or groupmax")
    if d_sae % k:
        raise UserError(f"{files.where}: k is {k}, which does not divide {d_sae} latents")
    return GroupMax(k)
