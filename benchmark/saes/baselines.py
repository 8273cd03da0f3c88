"""What a score is read against: untrained twins and random codes, metrics §1.3."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from benchmark.errors import UserError
from benchmark.saes.activations import Threshold, TopK
from benchmark.saes.sae import Sae, check_features


def untrained_twin(sae: Sae, match_features: Any, *, target_l0: float, seed: int) -> Sae:
    """The same SAE with fresh weights and, unless it is a TopK, the same mean L0.

    Encoder rows are uniform on the unit sphere, decoder rows equal them, and the mean of the
    normalised match features is taken off before encoding and put back after decoding.

    Args:
        sae: the trained SAE.
        match_features: float (N, d_in), rows of the match split.
        target_l0: mean number of active latents a row of ``sae`` on the match split; one global
            threshold gives the twin the closest attainable L0. A TopK keeps its k instead.
        seed: of the weights.
    """
    features = check_features(match_features, sae.d_in)
    rows = np.random.default_rng(seed).standard_normal((sae.d_sae, sae.d_in))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    total = np.zeros(sae.d_in)
    for start in range(0, len(features), 4096):
        part = torch.from_numpy(features[start : start + 4096].copy())
        total += sae.normalise(part).numpy().sum(axis=0, dtype=np.float64)
    twin = Sae(
        architecture=sae.architecture,
        encoder=rows,
        encoder_bias=np.zeros(sae.d_sae, np.float32),
        decoder=rows,
        decoder_bias=(total / len(features)).astype(np.float32),
        activation=sae.activation,
        normalisation=sae.normalisation,
        metadata={"untrained_twin_seed": seed},
    )
    if isinstance(sae.activation, TopK):
        return twin
    wanted = round(target_l0 * len(features))
    threshold = threshold_for(twin, features, wanted)
    return _with_threshold(twin, threshold)


def _with_threshold(sae: Sae, threshold: float) -> Sae:
    rule = Threshold(torch.tensor(threshold, dtype=torch.float32), shift=True)
    return Sae(**{**_fields(sae), "activation": rule})


def _fields(sae: Sae) -> dict[str, Any]:
    return {name: getattr(sae, name) for name in sae.__dataclass_fields__}


def threshold_for(sae: Sae, features: Any, wanted: int) -> float:
    """Threshold above which the number of pre-activations over all rows is nearest ``wanted``.

    Exact; holds no more than the ``wanted`` largest values and one chunk.
    """
    if wanted < 0:
        raise UserError(
            f"a threshold for {wanted} active entries was asked for; expected 0 or more"
        )
    first_left_out = kth_largest(sae.iter_pre_activations(features), wanted + 1)
    if first_left_out is None:  # all are wanted: just below the smallest
        lowest = min(float(part.min()) for part in sae.iter_pre_activations(features))
        return float(np.nextafter(np.float32(lowest), np.float32(-np.inf)))
    below = float(np.nextafter(np.float32(first_left_out), np.float32(-np.inf)))
    counts = [
        sum(int((part > limit).sum()) for part in sae.iter_pre_activations(features))
        for limit in (first_left_out, below)
    ]
    return first_left_out if wanted - counts[0] <= counts[1] - wanted else below


def kth_largest(parts: Iterable[torch.Tensor], k: int) -> float | None:
    """The k-th largest value (k ≥ 1) of a stream of tensors; None where there are fewer."""
    held, size = [torch.empty(0)], 0
    for part in parts:
        held.append(part.flatten())
        size += part.numel()
        if size > 2 * k + (1 << 20):
            held = [torch.cat(held).topk(k, sorted=False).values]
            size = k
    if size < k:
        return None
    return float(torch.cat(held).topk(k, sorted=False).values.min())


def random_codes(
    codes: sp.csr_array, *, seed: int, order: np.ndarray | None = None
) -> sp.csr_array:
    """Each latent's codes on rows of its own, drawn without regard to the image.

    Every latent keeps its firing rate and its values; rows are permuted independently.

    Args:
        codes: float32 csr (N, d).
        seed: of the permutations.
        order: rows in an order of their own (by name, say), so that the order they happen to be
            in decides nothing; None takes them as they are.
    """
    if order is not None:
        back = np.argsort(order, kind="stable")
        return random_codes(codes[order], seed=seed)[back]
    generator = np.random.default_rng(seed)
    columns = codes.tocsc()
    columns.sort_indices()
    rows = np.empty(columns.nnz, np.int64)
    for latent in range(columns.shape[1]):
        start, stop = columns.indptr[latent], columns.indptr[latent + 1]
        if start < stop:
            rows[start:stop] = generator.choice(columns.shape[0], stop - start, replace=False)
    shuffled = sp.csc_array((columns.data, rows, columns.indptr), shape=columns.shape)
    shuffled.sort_indices()
    return shuffled.tocsr()
