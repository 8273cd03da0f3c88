"""One sparse autoencoder, whatever library trained it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
import torch

from benchmark.errors import UserError
from benchmark.saes.activations import Activation
from benchmark.saes.normalisation import NORMALISATIONS
from benchmark.torch_threads import one_thread

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

CHUNK_ROWS = 256
"""Rows encoded at once; the last chunk is padded, so that no code depends on the batch."""

_MOST_THREADS = 8
"""Chunks at once: each may hold 256 dense rows of a large dictionary."""

R = TypeVar("R")


class SparseCodes(sp.csr_array):
    """Codes as a ``csr_array`` that numpy reads as the dense array it stands for."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.toarray().astype(dtype or self.dtype, copy=False)


@dataclass(frozen=True)
class Sae:
    """Weights and the rule that turns features into codes; no call keeps state.

    Attributes:
        architecture: ``topk``, ``batchtopk``, ``matryoshka``, ``jumprelu``, ``relu``, ``gated``,
            ``p_anneal``.
        encoder, decoder: float32 (d_sae, d_in), one row a latent.
        encoder_bias: float32 (d_sae,).
        decoder_bias: float32 (d_in,).
        activation: from pre-activations to codes.
        normalisation: what is done to each input before anything else, a name in
            ``benchmark.saes.normalisation.NORMALISATIONS``.
        subtract_decoder_bias: whether the decoder bias is taken off the input before encoding.
        pre_scale: float32 (d_sae,), factor on pre-activations before the activation; None is 1.
        code_scale: float32 (d_sae,), factor on codes before the decoder rows; None is 1.
        metadata: what its file says of it, for people.
        notes: what a reader of its scores should know, one sentence each.
    """

    architecture: str
    encoder: Array
    encoder_bias: Array
    decoder: Array
    decoder_bias: Array
    activation: Activation
    normalisation: str = "standardise"
    subtract_decoder_bias: bool = True
    pre_scale: Array | None = field(default=None, repr=False)
    code_scale: Array | None = field(default=None, repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def d_sae(self) -> int:
        """Dictionary size."""
        return self.decoder.shape[0]

    @property
    def d_in(self) -> int:
        """Width of the features it reads."""
        return self.decoder.shape[1]

    def encode(self, x: Any) -> SparseCodes:
        """Codes of features.

        Args:
            x: float (N, d_in), array or tensor, finite.

        Returns:
            float32 csr (N, d_sae), not negative, no stored zeros.

        Raises:
            UserError: another width than ``d_in``, or a row that is not finite.
        """

        def codes(chunk: torch.Tensor, kept: int) -> sp.csr_array:
            return sp.csr_array(self.activation(self.pre_activations(chunk)).numpy()[:kept])

        parts = list(_mapped(codes, _chunks(check_features(x, self.d_in))))
        if not parts:
            return SparseCodes((0, self.d_sae), dtype=np.float32)
        return SparseCodes(sp.vstack(parts, format="csr"))

    def decode(self, codes: Any) -> Array:
        """Reconstruction in the SAE's normalised space, float32 (N, d_in)."""
        sparse = codes if sp.issparse(codes) else sp.csr_array(np.asarray(codes, np.float32))
        if sparse.ndim != 2 or sparse.shape[1] != self.d_sae:
            raise UserError(f"codes have shape {sparse.shape}; expected (rows, {self.d_sae})")
        sparse = sp.csr_array(sparse, dtype=np.float32)
        if self.code_scale is not None:
            sparse = sparse.copy()
            sparse.data *= self.code_scale[sparse.indices]
        return np.asarray(sparse @ self.decoder + self.decoder_bias, np.float32)

    def reconstruct(self, x: Any) -> Array:
        """Features as the SAE gives them back, in the space of ``x``, float32 (N, d_in)."""
        features = check_features(x, self.d_in)
        decoded = self.decode(self.encode(features))
        _, shift, scale = NORMALISATIONS[self.normalisation](torch.from_numpy(features))
        return decoded * scale.numpy() + shift.numpy()

    def normalise(self, x: torch.Tensor) -> torch.Tensor:
        """Features as the encoder sees them, before the decoder bias is taken off."""
        return NORMALISATIONS[self.normalisation](x)[0]

    @torch.no_grad()
    def pre_activations(self, x: torch.Tensor) -> torch.Tensor:
        """Encoder output before the activation, float32 (n, d_sae), for float32 x (n, d_in)."""
        weight, bias, offset = self._tensors
        centred = self.normalise(x) - offset if self.subtract_decoder_bias else self.normalise(x)
        pre = torch.nn.functional.linear(centred, weight, bias)
        return pre if self.pre_scale is None else pre * torch.from_numpy(self.pre_scale)

    def iter_pre_activations(self, x: Any) -> Iterator[torch.Tensor]:
        """Pre-activations of all rows, chunk by chunk."""

        def rows(chunk: torch.Tensor, kept: int) -> torch.Tensor:
            return self.pre_activations(chunk)[:kept]

        return _mapped(rows, _chunks(check_features(x, self.d_in)))

    @cached_property
    def _tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return (
            torch.from_numpy(self.encoder),
            torch.from_numpy(self.encoder_bias),
            torch.from_numpy(self.decoder_bias),
        )


def check_features(x: Any, d_in: int) -> Array:
    """Features as a contiguous float32 array (N, d_in), or an error that names what is wrong."""
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu().float().numpy()
    if sp.issparse(x):
        x = x.toarray()
    try:
        array = np.asarray(x)
    except ValueError:
        raise UserError(f"features: rows of different lengths; expected (rows, {d_in})") from None
    if array.dtype.kind not in "biuf":
        raise UserError(f"features have dtype {array.dtype}; expected numbers")
    features = np.ascontiguousarray(array, dtype=np.float32)
    if features.ndim != 2:
        raise UserError(f"features have shape {features.shape}; expected (rows, {d_in})")
    if features.shape[1] != d_in:
        raise UserError(
            f"the SAE reads {d_in}-dimensional features, but these have {features.shape[1]}; "
            "score it with the encoder it was trained on"
        )
    finite = np.isfinite(features).all(axis=1)
    if not finite.all():
        raise UserError(f"features: row {int(np.argmin(finite))} holds NaN or infinity")
    return features


def _mapped(
    work: Callable[[torch.Tensor, int], R], chunks: Iterable[tuple[torch.Tensor, int]]
) -> Iterator[R]:
    """Results of all chunks in order; each is worked on by one thread, several at a time.

    How a product is split over threads moves its last bits, so no product is.
    """

    def alone(chunk: torch.Tensor, kept: int) -> R:
        with one_thread():
            return work(chunk, kept)

    threads = min(torch.get_num_threads(), _MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[R]] = deque()
        for chunk, kept in chunks:
            waiting.append(pool.submit(alone, chunk, kept))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _chunks(features: Array) -> Iterator[tuple[torch.Tensor, int]]:
    for start in range(0, len(features), CHUNK_ROWS):
        part = features[start : start + CHUNK_ROWS]
        kept = len(part)
        if kept < CHUNK_ROWS:
            padded = np.zeros((CHUNK_ROWS, features.shape[1]), np.float32)
            padded[:kept] = part
            part = padded
        elif not part.flags.writeable:
            part = part.copy()
        yield torch.from_numpy(part), kept
