"""Many L2-regularised logistic regressions on the same features at once."""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.metrics.arrays import BoolArray, FloatArray

_ITERATIONS = 1000
_GRADIENT = 1e-5


def fit_logistic(features: FloatArray, present: BoolArray, penalty: float) -> FloatArray:
    """Weights of one logistic regression per concept.

    Minimises, for every concept, the log-loss summed over rows plus ``penalty / 2 · ‖w‖²``; the
    intercept is free. The problems do not touch each other, but are solved together, so that one
    matrix product serves all concepts.

    Args:
        features: float64 (N, D).
        present: bool (N, A).
        penalty: > 0; scikit-learn's ``C`` is its inverse.

    Returns:
        float64 (D + 1, A), the intercepts in the last row.
    """
    # Hundreds of short products: on a busy machine threads wait longer for each other than they
    # save, and how a product is split among them moves its last digits.
    with threadpool_limits(1, user_api="blas"):
        return _fit(features, present.astype(np.float64), penalty)


def _fit(features: FloatArray, target: FloatArray, penalty: float) -> FloatArray:
    from scipy.optimize import minimize  # a fifth of a second for whoever fits nothing

    n, width = features.shape
    # In the features' principal axes, each scaled by the most it can curve the loss, all
    # directions are about equally steep, and a few dozen steps do instead of thousands.
    spread, axes = np.linalg.eigh(features.T @ features / (4 * n))
    scale = 1 / np.sqrt(np.maximum(spread, 0) + penalty / n)
    turned = features @ (axes * scale)
    pull = (penalty / n * scale**2)[:, None]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(width + 1, -1)
        margin = turned @ weights[:-1] + weights[-1]
        away = np.exp(-np.abs(margin))
        value = np.log1p(away) + np.maximum(margin, 0) - target * margin
        miss = np.where(margin >= 0, 1.0, away) / (1 + away) - target
        slope = np.empty_like(weights)
        slope[:-1] = turned.T @ miss / n + pull * weights[:-1]
        slope[-1] = miss.mean(axis=0)
        large = float((pull * weights[:-1] ** 2).sum())
        return float(value.sum()) / n + large / 2, slope.ravel()

    found = minimize(
        loss,
        np.zeros((width + 1) * target.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS, "gtol": _GRADIENT, "ftol": 0.0, "maxcor": 10},
    )
    weights: FloatArray = found.x.reshape(width + 1, -1)
    weights[:-1] = axes @ (scale[:, None] * weights[:-1])
    return weights
