"""Magnitude TAPA: states between 0 and 1 in place of active or not."""

from __future__ import annotations

from typing import Any

import metric_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, FEW, MAGNITUDES, PairCase, code_arrays, hold, pair_cases
from metric_tapa import check_tapa

from benchmark.metrics import activation_scale, magnitude_tapa_score, tapa_score


@given(pair_cases(), st.data(), st.sampled_from(MAGNITUDES), st.sampled_from(MAGNITUDES))
@CASES
def test_brute_force(case: PairCase, data: st.DataObject, match_in: str, pair_in: str) -> None:
    fit = hold(data.draw(code_arrays(case.present, d=case.base.shape[1])), match_in)
    base, edited = hold(case.base, pair_in), hold(case.edited, pair_in)
    score = magnitude_tapa_score(
        base.codes,
        edited.codes,
        case.coalitions,
        added=case.added,
        removed=case.removed,
        scale=activation_scale(fit.codes),
        present=case.present,
        resamples=20,
    )
    check_tapa(
        score,
        ref.tapa(
            ref.magnitudes(base.values, fit.values),
            ref.magnitudes(edited.values, fit.values),
            case.coalitions,
            case.added,
            case.removed,
            case.present,
        ),
    )


@given(st.integers(0, 1000), st.sampled_from(MAGNITUDES))
@FEW
def test_scale_is_the_quantile_of_the_positive_codes(seed: int, container: str) -> None:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((30, 5)) < 0.4, rng.choice([0.5, 1.0, 2.0, 3.0], (30, 5)), 0.0)
    values[:, 2] = 0.0
    held = hold(values, container, seed)
    scale = activation_scale(held.codes)
    for j in range(5):
        positive = held.values[:, j][held.values[:, j] > 0]
        if len(positive) == 0:
            assert np.isnan(scale[j])
        else:
            assert scale[j] == pytest.approx(np.quantile(positive, 0.99), abs=1e-12)


def test_binary_codes_give_the_binary_score() -> None:
    rng = np.random.default_rng(0)
    base, edited = rng.random((50, 6)) < 0.4, rng.random((50, 6)) < 0.4
    coalitions = ((0, 1), (2,), (3, 4, 5))
    edits: Any = {"added": [i % 3 for i in range(50)], "removed": [(i + 1) % 3 for i in range(50)]}
    plain = tapa_score(base, edited, coalitions, **edits)
    graded = magnitude_tapa_score(base, edited, coalitions, scale=np.ones(6), **edits)
    assert graded.value == pytest.approx(plain.value, abs=1e-12)
    assert graded.ci95 == pytest.approx(plain.ci95, abs=1e-12)


def test_growth_within_active_is_seen_and_clipped() -> None:
    base, edited = np.array([[1.0], [1.0]]), np.array([[2.0], [9.0]])
    edits: Any = {"added": [0, 0], "removed": [None, None]}
    assert tapa_score(base, edited, ((0,),), **edits).value == 0.0
    for wrap in (np.asarray, sp.csr_array):
        graded = magnitude_tapa_score(
            wrap(base), wrap(edited), ((0,),), scale=np.array([4.0]), **edits
        )
        assert graded.value == pytest.approx((0.25 + 0.75) / 2)


def test_latent_never_active_in_the_match_split_is_never_active() -> None:
    graded = magnitude_tapa_score(
        np.array([[0.0]]),
        np.array([[5.0]]),
        ((0,),),
        added=[0],
        removed=[None],
        scale=np.array([np.nan]),
    )
    assert graded.value == 0.0
