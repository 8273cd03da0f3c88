"""Non-negative orthogonal matching pursuit: the matcher that keeps magnitudes."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import BoolArray, Codes, FloatArray


@dataclass(frozen=True)
class NnOmpFit:
    """One concept's fit: presence ≈ Σ weight · code / norm, predicted where it exceeds ½."""

    latents: tuple[int, ...]
    weights: FloatArray
    norms: FloatArray

    def predict(self, values: Codes) -> BoolArray:
        """Predicted presence on the rows of ``values`` (N, d), bool (N,)."""
        if not self.latents:
            return np.zeros(values.shape[0], bool)
        columns = _columns(values, list(self.latents))
        return columns @ (self.weights / self.norms) > 0.5


def _columns(values: Codes, latents: list[int]) -> FloatArray:
    part = values[:, latents]
    return (part.toarray() if sp.issparse(part) else part).astype(np.float64)


def fit_nn_omp(values: Codes, present: BoolArray, max_latents: int) -> list[NnOmpFit]:
    """Fit every concept: greedily the largest correlation with the residual, then NNLS refit.

    Stops at ``max_latents``, at a correlation that is not positive beyond rounding, or when a
    latent is chosen again.

    Args:
        values: codes (N, d), float32, not negative.
        present: presence (N, A).
        max_latents: largest support.
    """
    if sp.issparse(values):
        by_latent = values.astype(np.float64).tocsc()
        norms = np.sqrt(np.asarray(by_latent.multiply(by_latent).sum(axis=0)).ravel())
    else:
        by_latent = values.astype(np.float64)
        norms = np.sqrt((by_latent**2).sum(axis=0))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return [
        _fit_one(by_latent, norms, scale, present[:, concept].astype(np.float64), max_latents)
        for concept in range(present.shape[1])
    ]


def _fit_one(
    by_latent: Codes, norms: FloatArray, scale: FloatArray, target: FloatArray, max_latents: int
) -> NnOmpFit:
    from scipy.optimize import nnls

    support: list[int] = []
    weights = np.zeros(0)
    residual = target
    rounding = 1e-12 * np.linalg.norm(target)
    for _ in range(min(max_latents, len(norms))):
        correlation = scale * (by_latent.T @ residual)
        choice = int(correlation.argmax())
        if correlation[choice] <= rounding or choice in support:
            break
        support.append(choice)
        columns = _columns(by_latent, support) * scale[support]
        weights, _ = nnls(columns, target)
        residual = target - columns @ weights
    return NnOmpFit(tuple(support), weights, norms[support])
