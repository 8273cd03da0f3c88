"""C2 of the AIU report card: the share of concepts that the dictionary finds, §4."""

from collections.abc import Sequence

import numpy as np

from benchmark.metrics.arrays import BoolArray, Codes, InputError
from benchmark.metrics.match_score import judged, resampled_f1
from benchmark.metrics.matching import Coalition, Matching, joint_f1
from benchmark.metrics.score import RESAMPLES, Score, make_score, replicates

COMPLETE_FROM = 0.5
"""Least joint F_1 of a concept that counts as found."""


def completeness(
    latents: Codes,
    concepts: BoolArray,
    coalitions: "Matching | Sequence[Coalition]",
    *,
    at_least: float = COMPLETE_FROM,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Score:
    """Fraction of applicable concepts whose joint F_1 is at least ``at_least``.

    Args:
        latents, concepts, coalitions: as ``match_score``.
        at_least: in (0, 1].
        resamples, seed: bootstrap over rows; a concept without positives in a resample is left
            out of that resample.

    Returns:
        Score in [0, 1] over the applicable concepts.

    Raises:
        InputError: as ``match_score``; ``at_least`` out of range.

    Source: "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework".
    """
    if not 0 < at_least <= 1:
        raise InputError(f"at_least is {at_least}; expected an F_1 above 0 and at most 1")
    predicted, present, keep, reasons = judged(latents, concepts, coalitions)
    if not keep.any():
        return make_score(None, 0, None, reasons)
    predicted, present = predicted[:, keep], present[:, keep]
    value = float((joint_f1(predicted, present) >= at_least).mean())
    samples = replicates(resamples)
    for rows, f1, there in resampled_f1(predicted, present, resamples, seed):
        found, total = ((f1 >= at_least) & there).sum(axis=1), there.sum(axis=1)
        samples[rows] = np.divide(found, total, out=np.full(len(f1), np.nan), where=total > 0)
    return make_score(value, int(keep.sum()), samples, reasons)
