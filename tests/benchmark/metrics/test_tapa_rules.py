"""TAPAScore under the general rules: order, containers, precision, memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import FEW, PairCase, hold, pair_cases

from benchmark.metrics import tapa_score

BASE, EDITED = np.array([[1, 0, 0]]), np.array([[0, 0, 1]])


@given(pair_cases(), st.randoms(use_true_random=False))
@FEW
def test_pair_order_never_moves_a_value(case: PairCase, random: Any) -> None:
    order = list(range(len(case.added)))
    random.shuffle(order)

    def run(rows: list[int]) -> Any:
        return tapa_score(
            case.base[rows],
            case.edited[rows],
            case.coalitions,
            added=[case.added[i] for i in rows],
            removed=[case.removed[i] for i in rows],
            present=case.present[rows],
            resamples=10,
        )

    before, after = run(sorted(order)), run(order)
    names = ("value", "delta_add", "delta_rem", "delta_stay", "empty_add", "empty_removed")
    assert [getattr(before, n) for n in names] == [getattr(after, n) for n in names]


@given(pair_cases())
@FEW
def test_swapping_base_and_edited_flips_the_sign(case: PairCase) -> None:
    edits: Any = {"added": case.added, "removed": case.removed, "present": case.present}
    there = tapa_score(case.base, case.edited, case.coalitions, **edits, resamples=10)
    back = tapa_score(case.edited, case.base, case.coalitions, **edits, resamples=10)
    assert (there.value is None) == (back.value is None)
    if there.value is not None and back.value is not None:
        assert there.value == pytest.approx(-back.value, abs=1e-12)
    assert there.delta_stay == back.delta_stay


@given(pair_cases())
@FEW
def test_container_changes_nothing(case: PairCase) -> None:
    edits: Any = {"added": case.added, "removed": case.removed, "present": case.present}
    first = tapa_score(case.base, case.edited, case.coalitions, **edits, resamples=30)
    for container in ("csr", "csc", "coo", "csr_raw", "bool", "float16", "int8"):
        base, edited = hold(case.base, container).codes, hold(case.edited, container).codes
        other = tapa_score(base, edited, case.coalitions, **edits, resamples=30)
        assert other.value == first.value
        assert other.ci95 == first.ci95
        assert other.stay.ci95 == first.stay.ci95


def test_edits_may_be_numpy_integers_and_lists() -> None:
    coalitions: Any = [[0], [1, 2]]
    edits: Any = {"added": np.array([1]), "removed": (np.int32(0),)}
    assert tapa_score(BASE, EDITED, coalitions, **edits).value == 2.0


def test_vanishing_values_are_inactive() -> None:
    base, edited = np.array([[1e-50]]), np.array([[1.0]])
    assert tapa_score(base, edited, ((0,),), added=[0], removed=[None]).value == 1.0
    sparse = tapa_score(
        sp.csr_array(base), sp.csr_array(edited), ((0,),), added=[0], removed=[None]
    )
    assert sparse.value == 1.0


def test_sparse_pairs_are_never_made_dense() -> None:
    rng = np.random.default_rng(0)
    p, d = 10_000, 20_000
    base = sp.random_array((p, d), density=4 / d, format="csr", rng=rng, dtype=np.float32)
    edited = sp.random_array((p, d), density=4 / d, format="csr", rng=rng, dtype=np.float32)
    tracemalloc.start()
    try:
        tapa_score(
            base,
            edited,
            [(1, 2), (3,)],
            added=[0] * p,
            removed=[1] * p,
            present=np.ones((p, 2), dtype=bool),
            resamples=10,
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # a dense boolean copy alone would be 200 MB
