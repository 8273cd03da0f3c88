"""DAME: how well judges understand the latents, weighted by what they hold, §4 C3."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmark.metrics.arrays import BoolArray, FloatArray, InputError, whole_number
from benchmark.metrics.dominance import quartiles
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights


@dataclass(frozen=True)
class DameScore(Score):
    """MonoScore_DAME and what it is made of.

    Attributes:
        quartile_means: plain mean score of the scored latents of Q1 to Q4; None without any.
        quartile_n: scored latents of Q1 to Q4.
        q1_deficit: mean of Q1 minus the mean over the scored latents of Q2 to Q4; negative where
            the dominant latents are understood worse. None where either is empty.
    """

    quartile_means: tuple[float | None, ...] = (None,) * 4
    quartile_n: tuple[int, ...] = (0,) * 4
    q1_deficit: float | None = None


def dame_score(
    scores: Mapping[int, float],
    dominance: FloatArray,
    alive: BoolArray,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> DameScore:
    """Dominance-weighted mean of the scores of sampled latents, stratified by quartile.

    Within each quartile the scores are averaged by dominance; the quartiles are averaged by the
    dominance of all their alive latents, sampled or not.

    Args:
        scores: latent index → its score in [0, 1]; only alive latents.
        dominance: float (d,).
        alive: bool (d,).
        resamples, seed: bootstrap over scored latents within quartile.

    Returns:
        Score in [0, 1]; n is the number of scored latents. A quartile without scored latents is
        left out of both sums and counted.

    Raises:
        InputError: shapes that disagree, an index that is no alive latent, a score outside [0, 1].

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".

    >>> import numpy as np
    >>> dame_score({0: 1.0, 3: 0.0}, np.array([0.5, 0.3, 0.1, 0.1]), np.ones(4, bool)).n
    2
    """
    quartile = quartiles(dominance, alive)
    rho = np.asarray(dominance, np.float64)
    latents, values = _check(scores, quartile, (0.0, 1.0))
    score = _stratified(latents, values, rho, quartile, resamples, seed)
    own = quartile[latents]
    means = tuple(float(values[own == q].mean()) if n else None for q, n in _counts(own))
    return DameScore(
        score.value, score.ci95, score.n, score.not_applicable, score.samples,
        quartile_means=means,
        quartile_n=tuple(n for _, n in _counts(own)),
        q1_deficit=_deficit(values, own),
    )  # fmt: skip


def stratified_score(
    scores: Mapping[int, float],
    dominance: FloatArray,
    alive: BoolArray,
    *,
    within: tuple[float, float] = (0.0, 1.0),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Score:
    """The mean that ``dame_score`` takes, of scores of another kind.

    Args:
        scores, dominance, alive, resamples, seed: as ``dame_score``.
        within: least and greatest score of a latent.

    Raises:
        InputError: as ``dame_score``.
    """
    quartile = quartiles(dominance, alive)
    latents, values = _check(scores, quartile, within)
    return _stratified(
        latents, values, np.asarray(dominance, np.float64), quartile, resamples, seed
    )


def q1_deficit_score(
    scores: Mapping[int, float],
    dominance: FloatArray,
    alive: BoolArray,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Score:
    """Plain mean score of Q1 minus that of Q2 to Q4; below 0 where dominant latents do worse.

    Args:
        scores, dominance, alive: as ``dame_score``.
        resamples, seed: bootstrap over scored latents within quartile.

    Returns:
        Score in [-1, 1]; n is the number of scored latents. Not applicable where Q1, or all of Q2
        to Q4, have no scored latents.

    >>> import numpy as np
    >>> q1_deficit_score({0: 0.5, 3: 1.0}, np.array([0.5, 0.3, 0.1, 0.1]), np.ones(4, bool)).value
    -0.5
    """
    quartile = quartiles(dominance, alive)
    latents, values = _check(scores, quartile, (0.0, 1.0))
    own = quartile[latents]
    first, rest = own == 1, own > 1
    missing = {
        "no scored latents in Q1": int(not first.any()),
        "no scored latents in Q2 to Q4": int(not rest.any()),
    }
    deficit = _deficit(values, own)
    if deficit is None:
        return make_score(None, len(latents), None, missing)
    # a sum per side and each side's fixed size: every stratum keeps its size in a resample
    columns = values * (first / first.sum() - rest / rest.sum())
    samples = replicates(resamples)
    for rows, drawn in resample_weights(len(latents), resamples, seed, own):
        samples[rows] = drawn.astype(np.float64) @ columns
    return make_score(deficit, len(latents), samples)


def _stratified(
    latents: np.ndarray,
    values: FloatArray,
    rho: FloatArray,
    quartile: np.ndarray,
    resamples: int,
    seed: int,
) -> Score:
    own = quartile[latents]
    mass = np.array([rho[quartile == q].sum() for q in (1, 2, 3, 4)])
    member = np.stack([own == q for q in (1, 2, 3, 4)], axis=1)
    filled = member.any(axis=0)
    missing = {"quartile without scored latents": int((~filled).sum())}
    if not latents.size:
        return Score(None, None, 0, missing)
    weight = rho[latents][:, None] * member[:, filled]
    columns = np.concatenate([weight * values[:, None], weight], axis=1)
    share = mass[filled] / mass[filled].sum()
    samples = replicates(resamples)
    for rows, drawn in resample_weights(len(latents), resamples, seed, own):
        samples[rows] = _weighted(drawn.astype(np.float64) @ columns, share)
    value = float(_weighted(columns.sum(axis=0)[None], share)[0])
    return make_score(value, len(latents), samples, missing)


def _check(
    scores: Mapping[int, float], quartile: np.ndarray, within: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    low, high = within
    latents: list[int] = []
    for given, score in scores.items():
        latent = whole_number(given)
        if latent is None or not 0 <= latent < len(quartile) or quartile[latent] == 0:
            raise InputError(f"scores: {given!r} is no alive latent of the {len(quartile)}")
        if isinstance(score, bool) or not isinstance(score, int | float | np.number):
            raise InputError(f"scores: latent {latent} has {score!r}; expected a number")
        if not low <= score <= high:
            raise InputError(f"scores: latent {latent} has {score}; expected {low:g} to {high:g}")
        latents.append(latent)
    order = np.argsort(latents)
    values = np.array(list(scores.values()), np.float64)
    return np.array(latents, np.int64)[order], values[order]


def _weighted(sums: FloatArray, share: FloatArray) -> FloatArray:
    """From sums (r, 2q) of ρ̄·s and ρ̄ by quartile: the stratified mean (r,)."""
    count = len(share)
    return np.asarray((sums[:, :count] / sums[:, count:]) @ share)


def _counts(own: np.ndarray) -> list[tuple[int, int]]:
    return [(q, int((own == q).sum())) for q in (1, 2, 3, 4)]


def _deficit(values: FloatArray, own: np.ndarray) -> float | None:
    first, rest = values[own == 1], values[own > 1]
    return float(first.mean() - rest.mean()) if first.size and rest.size else None
