"""Which pictures the classifier learns from, and which it is validated on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def split_rows(
    ids: Sequence[str], labels: np.ndarray, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split pictures so that every concept, the rare ones above all, has its share on both sides.

    The pictures are dealt one by one. With ``D_a`` the positives of concept a on the validation
    side beyond ``share`` of those dealt, each goes where ``Σ_a D_a² / n_a`` grows least, ``n_a``
    the positives of a among all; all pictures together count as one concept more.

    Args:
        ids: N names; they, not the order of the rows, decide together with the seed.
        labels: bool (N, A).
        share: of the validation side.
        seed: of the order in which pictures are dealt.

    Returns:
        Rows to train on and rows to validate on, int64, ascending; each picture on one side.
    """
    by_name = np.array(sorted(range(len(ids)), key=lambda row: ids[row]), dtype=np.int64)
    order = by_name[np.random.default_rng(seed).permutation(len(ids))]
    has = np.concatenate([labels, np.ones((len(ids), 1), bool)], axis=1)
    weights = 1 / np.maximum(has.sum(axis=0), 1)
    beyond = np.zeros(has.shape[1])
    validating = np.zeros(len(ids), bool)
    for row in order:
        shown = has[row]
        # what the sum grows by on the validation side, less what it grows by on the other
        growth = weights[shown] @ (2 * beyond[shown] + 1 - 2 * share)
        validating[row] = growth < 0
        beyond[shown] += float(validating[row]) - share
    return np.flatnonzero(~validating), np.flatnonzero(validating)
