"""Bootstrap over pairs: known variances and strata."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmark.metrics import Score, tapa_score


def width(score: Score) -> float:
    assert score.ci95 is not None
    return score.ci95[1] - score.ci95[0]


def samples(score: Any) -> np.ndarray:
    assert score.samples is not None
    return np.asarray(score.samples)


def test_tapa_width_is_the_normal_approximation() -> None:
    """Additions switch on with probability .3: sd of the mean is √(p(1−p)/n)."""
    p = 400
    edited = np.zeros((p, 1))
    edited[:120] = 1.0
    score = tapa_score(
        np.zeros((p, 1)), edited, ((0,),), added=[0] * p, removed=[None] * p, resamples=4000
    )
    expected = 2 * 1.96 * math.sqrt(0.3 * 0.7 / p)
    assert width(score) == pytest.approx(expected, rel=0.1)
    assert samples(score).std() == pytest.approx(math.sqrt(0.3 * 0.7 / p), rel=0.06)


@pytest.mark.parametrize("pairs", [7, 10, 13, 49, 93])
def test_no_rounding_carries_an_interval_off_its_value_or_range(pairs: int) -> None:
    """Every pair earns the most there is: every replicate does, to the last bit."""
    nothing, everything = np.zeros((pairs, 1)), np.ones((pairs, 1))
    adds: dict[str, Any] = {"added": [0] * pairs, "removed": [None] * pairs}
    score = tapa_score(nothing, everything, ((0,),), **adds)
    assert score.ci95 == (1.0, 1.0)
    assert (samples(score) == 1.0).all()
    first = np.hstack([nothing, everything])
    swaps: dict[str, Any] = {"added": [0] * pairs, "removed": [1] * pairs}
    both = tapa_score(first, 1 - first, ((0,), (1,)), **swaps)
    assert both.ci95 == (2.0, 2.0)
    assert (samples(both) <= 2.0).all()


def test_kinds_of_pair_are_resampled_separately() -> None:
    """All additions +1 and all removals 0: nothing is left to vary."""
    base = np.zeros((30, 2))
    edited = np.zeros((30, 2))
    edited[:10, 0] = 1.0
    added = [0] * 10 + [None] * 20
    removed = [None] * 10 + [1] * 20
    score = tapa_score(base, edited, ((0,), (1,)), added=added, removed=removed)
    assert score.value == 1.0
    assert score.ci95 == (1.0, 1.0)
    assert (samples(score) == 1.0).all()


def test_swaps_are_a_kind_of_their_own() -> None:
    """Lone additions all +1, additions within swaps all 0: their shares are fixed."""
    base = np.zeros((40, 2))
    edited = np.zeros((40, 2))
    edited[:10, 0] = 1.0
    added = [0] * 40
    removed = [None] * 10 + [1] * 30
    score = tapa_score(base, edited, ((0,), (1,)), added=added, removed=removed)
    assert score.value == pytest.approx(0.25)
    assert width(score) == pytest.approx(0.0, abs=1e-12)


def test_both_sides_of_a_swap_move_together() -> None:
    """Each swap earns exactly 1, half by adding and half by removing: no spread."""
    base = np.zeros((40, 2))
    edited = np.zeros((40, 2))
    edited[:20, 0] = 1.0
    base[20:, 1] = 1.0
    score = tapa_score(base, edited, ((0,), (1,)), added=[0] * 40, removed=[1] * 40)
    assert score.value == pytest.approx(1.0)
    assert width(score) == pytest.approx(0.0, abs=1e-12)


def test_swap_spread_is_that_of_the_pairs() -> None:
    """Half the swaps earn 2, half 0: sd of the mean is 1/√n, not 1/√(2n)."""
    base = np.zeros((400, 2))
    edited = np.zeros((400, 2))
    edited[:200, 0] = 1.0
    base[:200, 1] = 1.0
    score = tapa_score(base, edited, ((0,), (1,)), added=[0] * 400, removed=[1] * 400)
    assert samples(score).std() == pytest.approx(1 / math.sqrt(400), rel=0.1)


def test_stay_interval_resamples_pairs() -> None:
    """One pair in four moves both its bystanders: sd √(p(1−p)/pairs), not over entries."""
    p = 200
    base = np.zeros((p, 3))
    edited = np.zeros((p, 3))
    edited[:50, 1:] = 1.0
    score = tapa_score(
        base,
        edited,
        ((0,), (1,), (2,)),
        added=[0] * p,
        removed=[None] * p,
        present=np.ones((p, 3), dtype=bool),
        resamples=3000,
    )
    assert score.delta_stay == 0.25
    assert samples(score.stay).std() == pytest.approx(math.sqrt(0.25 * 0.75 / p), rel=0.08)
    calm = tapa_score(
        base,
        base,
        ((0,), (1,), (2,)),
        added=[0] * p,
        removed=[None] * p,
        present=np.ones((p, 3), dtype=bool),
    )
    assert calm.stay.ci95 == (0.0, 0.0)
