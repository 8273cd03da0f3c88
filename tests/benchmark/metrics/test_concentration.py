"""Concentration of activity: the ten latents that fire most, Gini, mass by quartile."""

from __future__ import annotations

import metric_reference as ref
import metric_reference_latents as latents_ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, MAGNITUDES, Case, hold, match_cases

from benchmark.metrics import alive, concentration, dominance, quartile_mass, quartiles


@given(match_cases(max_d=14), st.sampled_from(MAGNITUDES), st.integers(1, 10))
@CASES
def test_concentration_is_brute_force(case: Case, container: str, top: int) -> None:
    held = hold(case.values, container)
    result = concentration(held.codes, top=top)
    shares = latents_ref.held_shares(held.values, top)
    if not shares:
        assert result.top10_share_median is None
        assert result.top10_share_p90 is None
        assert result.gini is None
        return
    assert result.top10_share_median == pytest.approx(np.median(shares), abs=1e-12)
    assert result.top10_share_p90 == pytest.approx(np.quantile(shares, 0.9), abs=1e-12)
    rho = latents_ref.dominance(held.values)
    living = [r for r, on in zip(rho, latents_ref.alive(held.values), strict=True) if on]
    assert result.gini == pytest.approx(latents_ref.gini(living), abs=1e-12)


@pytest.mark.parametrize("dirty", ["stored zeros", "vanishing values"])
def test_firing_rate_counts_active_entries_only(dirty: str) -> None:
    rng = np.random.default_rng(0)
    values = np.zeros((40, 12))
    values[:, 2:] = rng.random((40, 10)) * (rng.random((40, 10)) < 0.6)
    values[:20, :2] = 5.0
    if dirty == "stored zeros":
        codes = hold(values, "csr_zeros").codes
    else:
        codes = sp.csr_array(np.where(values > 0, values, 1e-60))
    clean = concentration(values)
    assert concentration(codes).top10_share_median == pytest.approx(clean.top10_share_median)
    assert concentration(codes).top10_share_p90 == pytest.approx(clean.top10_share_p90)


def test_extremes_of_gini() -> None:
    assert concentration(np.ones((3, 8))).gini == pytest.approx(0.0, abs=1e-12)
    one = np.full((3, 1000), 1e-6)
    one[:, 0] = 1e6
    gini = concentration(one).gini
    assert gini is not None
    assert 0.99 < gini < 1.0


@given(match_cases(), st.sampled_from(MAGNITUDES))
@CASES
def test_quartile_mass_is_brute_force(case: Case, container: str) -> None:
    held = hold(case.values, container)
    labels = quartiles(dominance(held.codes), alive(held.codes))
    scores = quartile_mass(held.codes, labels, resamples=20)
    rho = latents_ref.dominance(held.values)
    assert len(scores) == 4
    for q, score in enumerate(scores, start=1):
        want = sum(r for r, label in zip(rho, labels, strict=True) if label == q)
        assert score.value == pytest.approx(want, abs=1e-12)
    busy = np.mean([any(row) for row in ref.binary(held.values)])
    assert sum(score.value or 0.0 for score in scores) == pytest.approx(busy, abs=1e-12)
