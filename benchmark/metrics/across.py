"""Statistics over many SAEs: is redundancy a matter of Q1, and does sparsity concentrate, §4."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.metrics.arrays import FloatArray, InputError
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates, resample_weights

LEAST_SAES = 6
"""SAEs that a p-value needs: with five, no two-sided signed-rank test reaches 0.05."""


@dataclass(frozen=True)
class QuartileTest:
    """Q1 against the mean of Q2 to Q4, paired over SAEs.

    Attributes:
        means: mean over SAEs of each quartile's value, Q1 to Q4; None without any SAE.
        difference: mean of Q1 − mean(Q2..Q4), with its interval over SAEs.
        p_value: two-sided Wilcoxon signed-rank test; None below ``LEAST_SAES`` SAEs, or where no
            SAE has a difference.
        cohens_d: mean difference over the standard deviation of the differences (ddof 1); None
            below two SAEs or without spread.
    """

    means: tuple[float, float, float, float] | None
    difference: Score
    p_value: float | None
    cohens_d: float | None


def quartile_test(
    values: Sequence[Sequence[float] | None],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    missing: str = "no redundant pairs inside a quartile",
) -> QuartileTest:
    """Test Q1 against the other quartiles over SAEs.

    Args:
        values: one SAE each: its values in Q1, Q2, Q3, Q4, or None where not applicable.
        resamples, seed: bootstrap over SAEs.
        missing: why an SAE has no values.

    Raises:
        InputError: not four finite values for an SAE.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    known = [list(four) for four in values if four is not None]
    for index, four in enumerate(known):
        if len(four) != 4 or not np.isfinite(four).all():
            raise InputError(f"values: SAE {index} has {four}; expected four finite numbers")
    reasons = {missing: len(values) - len(known)} if len(known) < len(values) else {}
    if not known:
        return QuartileTest(None, make_score(None, 0, None, reasons), None, None)
    table = np.array(known, np.float64)
    apart = table[:, 0] - table[:, 1:].mean(axis=1)
    means = tuple(float(mean) for mean in table.mean(axis=0))
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(apart), resamples, seed):
        samples[rows] = weights.astype(np.float64) @ apart / len(apart)
    spread = np.ptp(_rounded(apart)) > 0
    return QuartileTest(
        (means[0], means[1], means[2], means[3]),
        make_score(float(apart.mean()), len(apart), samples if len(apart) > 1 else None, reasons),
        _signed_rank(apart),
        float(apart.mean() / apart.std(ddof=1)) if spread else None,
    )


def _rounded(differences: FloatArray) -> FloatArray:
    """Equal differences tie, whatever the last bit of a mean."""
    return np.asarray(np.round(differences, 12))


def _signed_rank(differences: FloatArray) -> float | None:
    apart = _rounded(differences)
    if len(apart) < LEAST_SAES or not apart.any():
        return None
    from scipy.stats import wilcoxon

    return float(wilcoxon(apart).pvalue)


@dataclass(frozen=True)
class SparsityTrap:
    """Whether sparser SAEs concentrate their activity on fewer latents.

    Attributes:
        rho: Spearman correlation of mean L0 with concentration over SAEs, in [−1, 1], with its
            interval over SAEs; negative means sparser is more concentrated.
        p_value: two-sided; None where ``rho`` is.
    """

    rho: Score
    p_value: float | None


def sparsity_trap(
    l0: Sequence[float | None],
    concentration: Sequence[float | None],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> SparsityTrap:
    """Spearman correlation of mean L0 with the share that the ten most frequent latents hold.

    Args:
        l0, concentration: one entry an SAE, None where not applicable.
        resamples, seed: bootstrap over SAEs; a resample in which either is constant has no value.

    Raises:
        InputError: sequences of different lengths.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    if len(l0) != len(concentration):
        raise InputError(
            f"l0 has {len(l0)} SAEs and concentration {len(concentration)}; expected one each"
        )
    both = [
        (x, y) for x, y in zip(l0, concentration, strict=True) if x is not None and y is not None
    ]
    reasons = {"L0 or concentration not applicable": len(l0) - len(both)}
    if len(both) < LEAST_SAES:
        reasons[f"fewer than {LEAST_SAES} SAEs"] = max(len(both), 1)
        return SparsityTrap(make_score(None, len(both), None, reasons), None)
    table = np.array(both, np.float64)
    if (table == table[0]).all(axis=0).any():
        reasons["L0 or concentration is the same for all SAEs"] = len(both)
        return SparsityTrap(make_score(None, len(both), None, reasons), None)
    from scipy.stats import spearmanr

    found = spearmanr(table[:, 0], table[:, 1])
    samples = replicates(resamples)
    for rows, weights in resample_weights(len(table), resamples, seed):
        samples[rows] = [_resampled_rho(table, counts) for counts in weights.astype(np.int64)]
    rho = make_score(float(found.statistic), len(table), samples, reasons)
    return SparsityTrap(rho, float(found.pvalue))


def _resampled_rho(table: FloatArray, counts: np.ndarray) -> float:
    from scipy.stats import rankdata

    drawn = np.repeat(table, counts, axis=0)
    ranks = rankdata(drawn, axis=0)
    centred = ranks - ranks.mean(axis=0)
    norms = np.sqrt((centred**2).sum(axis=0))
    if not norms.all():
        return float("nan")
    return float(np.clip(centred[:, 0] @ centred[:, 1] / (norms[0] * norms[1]), -1.0, 1.0))
