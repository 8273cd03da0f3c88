"""How well a score separates images with an attribute from images without it, §5.3."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.generative.gaussians import scores_checked
from benchmark.metrics.arrays import BoolArray, FloatArray, InputError, annotations

SATURATED = (0.01, 0.99)
"""A score in [0, 1] beyond these counts as saturated."""

MOST_BINS = 50


@dataclass(frozen=True)
class Separation:
    """Separation of every attribute; NaN where it is not applicable.

    Attributes:
        auc: chance that a labelled image scores above an unlabelled one, ties one half; float64
            (A,) in [0, 1].
        cohens_d: difference of the means over the pooled standard deviation (ddof 1). Saturated
            scores vary hardly at all within a class, which inflates it: read it beside ``auc``.
        hellinger: Hellinger distance of the two histograms, in [0, 1].
        one_minus_ovl: one minus the overlap of the two histograms, in [0, 1].
        saturated: fraction of all scores outside ``SATURATED``; NaN for scores beyond [0, 1].
        bins: cells of the histograms, int (A,).
        n_with, n_without: images with and without the label, int (A,).
        not_applicable: reason → number of attributes.
    """

    auc: FloatArray
    cohens_d: FloatArray
    hellinger: FloatArray
    one_minus_ovl: FloatArray
    saturated: FloatArray
    bins: np.ndarray
    n_with: np.ndarray
    n_without: np.ndarray
    not_applicable: Mapping[str, int] = field(default_factory=dict)


def separation(scores: Any, labels: Any) -> Separation:
    """Separation statistics of scores for labelled images.

    The histograms have ``√min(with, without)`` cells, 2 to ``MOST_BINS``, with borders at the
    quantiles of all scores **[choice]**: a monotone change of the scores changes neither distance,
    and no shape is assumed. Both distances lie above 0 for classes that do not differ, the more so
    the fewer images there are.

    Args:
        scores: (N, A), finite.
        labels: bool (N, A).

    Raises:
        InputError: shapes that disagree, values that are not finite, labels other than 0 and 1.

    >>> import numpy as np
    >>> found = separation(np.array([[0.9], [0.8], [0.1]]), np.array([[True], [True], [False]]))
    >>> float(found.auc[0])
    1.0
    """
    values = scores_checked(scores, "scores")
    present = annotations(labels, len(values), "labels")
    if present.shape != values.shape:
        raise InputError(f"scores have shape {values.shape} but labels have {present.shape}")
    rows = [_one(values[:, a], present[:, a]) for a in range(values.shape[1])]
    columns = np.array([row[:6] for row in rows], np.float64).T
    with_it = present.sum(axis=0)
    without = len(present) - with_it
    reasons = {
        "no image with the label": int((with_it == 0).sum()),
        "no image without the label": int((without == 0).sum()),
        "no variance within the classes": sum(row[6] for row in rows),
    }
    return Separation(
        columns[0], columns[1], columns[2], columns[3], columns[4], columns[5].astype(np.int64),
        with_it, without, {reason: count for reason, count in reasons.items() if count},
    )  # fmt: skip


def _one(
    values: FloatArray, present: BoolArray
) -> tuple[float, float, float, float, float, int, bool]:
    inside = values.min() >= 0 and values.max() <= 1
    outer = (values < SATURATED[0]) | (values > SATURATED[1])
    saturated = float(outer.mean()) if inside else np.nan
    yes, no = np.sort(values[present]), np.sort(values[~present])  # no sum depends on their order
    if not yes.size or not no.size:
        return (np.nan, np.nan, np.nan, np.nan, saturated, 0, False)
    hellinger, apart, bins = _histogram_distances(yes, no)
    effect = _cohens_d(yes, no)
    return (_auc(yes, no), effect, hellinger, apart, saturated, bins, bool(np.isnan(effect)))


def _auc(yes: FloatArray, no: FloatArray) -> float:
    """Both sorted."""
    below = np.searchsorted(no, yes, "left") + np.searchsorted(no, yes, "right")
    return float(below.sum() / (2 * len(yes) * len(no)))


def _cohens_d(yes: FloatArray, no: FloatArray) -> float:
    freedom = len(yes) + len(no) - 2
    if freedom < 1:
        return float("nan")
    within = [0.0 if side.min() == side.max() else side.var() * len(side) for side in (yes, no)]
    spread = np.sqrt(sum(within) / freedom)
    return float((yes.mean() - no.mean()) / spread) if spread > 0 else float("nan")


def _histogram_distances(yes: FloatArray, no: FloatArray) -> tuple[float, float, int]:
    wanted = int(np.clip(round(np.sqrt(min(len(yes), len(no)))), 2, MOST_BINS))
    pooled = np.sort(np.concatenate([yes, no]))
    # each border is a score itself, and ties stay in one cell
    places = np.arange(1, wanted) * len(pooled) // wanted
    borders = np.unique(pooled[places])
    cells = [
        np.bincount(np.searchsorted(borders, side, "right"), minlength=len(borders) + 1) / len(side)
        for side in (yes, no)
    ]
    shared = float(np.minimum(cells[0], cells[1]).sum())
    affinity = float(np.sqrt(cells[0] * cells[1]).sum())
    return float(np.sqrt(max(0.0, 1 - affinity))), max(0.0, 1 - shared), len(borders) + 1
