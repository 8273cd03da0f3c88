"""SAEs with a fault made on purpose, on planted truth: what a number must notice, §4.

Each function takes an SAE whose latent i reads and writes direction i (``true_sae``) and returns
another with one fault. They rely on coefficients between ``WEAKEST`` and ``STRONGEST`` and on
directions that are orthonormal; with noise the faults are the same but not exact.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.saes.activations import Activation, Threshold, TopK
from benchmark.saes.sae import Sae

_THRESHOLD = 0.25
"""Between 0 and the least pre-activation of a latent that should fire, both at least 0.25 off."""


def true_sae(dictionary: np.ndarray, *, sparsity: int | None = None) -> Sae:
    """The SAE that holds the planted dictionary itself.

    Args:
        dictionary: float (d, D), unit rows.
        sparsity: features that are on in a row, for a TopK; None gives a JumpReLU, whose latents
            do not compete, so that a fault in one leaves the others alone.
    """
    rows = np.ascontiguousarray(dictionary, np.float32)
    activation: Activation = Threshold(torch.full((len(rows),), _THRESHOLD))
    if sparsity is not None:
        activation = TopK(sparsity)
    return Sae(
        architecture="jumprelu" if sparsity is None else "topk",
        encoder=rows,
        encoder_bias=np.zeros(len(rows), np.float32),
        decoder=rows,
        decoder_bias=np.zeros(rows.shape[1], np.float32),
        activation=activation,
        normalisation="none",
        subtract_decoder_bias=False,
    )


def split(sae: Sae, feature: int, context: int) -> Sae:
    """Feature splitting: two latents share a feature, one where ``context`` is on, one where not.

    The old latent fires without the context, a new last latent with it; they write different
    directions (cosine 0.22). One latent alone finds part of the feature, both find all of it.
    """
    tilt = 0.8 * sae.decoder[context]
    return _contexts(sae, feature, context, sae.decoder[feature] - tilt, tilt * 2)


def shard(sae: Sae, feature: int, context: int) -> Sae:
    """Sharding: as ``split``, but both latents write the same direction: a redundant pair.

    Their encoder rows have cosine −0.32 and they never fire together.
    """
    zero = np.zeros(sae.d_in, np.float32)
    return _contexts(sae, feature, context, sae.decoder[feature], zero)


def _contexts(sae: Sae, feature: int, context: int, alone: np.ndarray, more: np.ndarray) -> Sae:
    """``feature`` without the context writes ``alone``, a new latent with it ``alone + more``."""
    _check(sae, feature, context)
    encoder, decoder, bias = sae.encoder.copy(), sae.decoder.copy(), sae.encoder_bias.copy()
    # on together: 2·(1 + 1) − 3.5 = 0.5 or more; alone: 2·1.5 − 3.5 = −0.5 or less
    both = 2 * (sae.encoder[feature] + sae.encoder[context])
    encoder[feature] -= 2 * sae.encoder[context]
    decoder[feature] = alone
    return _with(
        sae,
        encoder=np.vstack([encoder, both]),
        encoder_bias=np.append(bias, np.float32(-3.5)),
        decoder=np.vstack([decoder, alone + more]),
    )


def absorb(sae: Sae, feature: int, into: int) -> Sae:
    """Absorption: a feature's latent stays silent where ``into`` is on, which writes for both."""
    _check(sae, feature, into)
    encoder, decoder = sae.encoder.copy(), sae.decoder.copy()
    encoder[feature] -= 2 * sae.encoder[into]
    decoder[into] += sae.decoder[feature]
    return _with(sae, encoder=encoder, decoder=decoder)


def merge(sae: Sae, feature: int, other: int) -> Sae:
    """Merging: one latent fires for either of two features; the other's own latent is dead."""
    _check(sae, feature, other)
    encoder, decoder = sae.encoder.copy(), sae.decoder.copy()
    encoder[feature] += sae.encoder[other]
    decoder[feature] = (sae.decoder[feature] + sae.decoder[other]) / np.sqrt(np.float32(2))
    return kill(_with(sae, encoder=encoder, decoder=decoder), [other])


def duplicate(sae: Sae, latents: Sequence[int]) -> Sae:
    """Redundancy: each of these latents once more, at the end."""
    _check(sae, *latents)
    chosen = list(latents)
    return _with(
        sae,
        encoder=np.vstack([sae.encoder, sae.encoder[chosen]]),
        encoder_bias=np.append(sae.encoder_bias, sae.encoder_bias[chosen]),
        decoder=np.vstack([sae.decoder, sae.decoder[chosen]]),
    )


def kill(sae: Sae, latents: Sequence[int]) -> Sae:
    """Dead latents: they read nothing and never fire; their decoder rows stay."""
    _check(sae, *latents)
    encoder, bias = sae.encoder.copy(), sae.encoder_bias.copy()
    encoder[list(latents)] = 0
    bias[list(latents)] = -1
    return _with(sae, encoder=encoder, encoder_bias=bias)


def silence(sae: Sae, latents: Sequence[int]) -> Sae:
    """Zero decoder rows: these latents fire and write nothing."""
    _check(sae, *latents)
    decoder = sae.decoder.copy()
    decoder[list(latents)] = 0
    return _with(sae, decoder=decoder)


def _with(sae: Sae, **changes: Any) -> Sae:
    changed = {name: np.ascontiguousarray(value, np.float32) for name, value in changes.items()}
    activation = sae.activation
    size = len(changed.get("decoder", sae.decoder))
    if isinstance(activation, Threshold) and activation.threshold.ndim:
        activation = replace(activation, threshold=torch.full((size,), _THRESHOLD))
    return replace(sae, activation=activation, **changed)  # type: ignore[arg-type]


def _check(sae: Sae, *latents: int) -> None:
    for latent in latents:
        if not 0 <= latent < sae.d_sae:
            raise UserError(f"latent {latent}; expected 0 to {sae.d_sae - 1}")
    if len(set(latents)) < len(latents):
        raise UserError(f"latents {', '.join(map(str, latents))}: expected different ones")
