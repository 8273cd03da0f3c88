"""Concentration with intervals: the same values, and replicates that restate them."""

from __future__ import annotations

import metric_reference_latents as latents_ref
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, FEW, Case, match_cases

from benchmark.metrics import (
    alive,
    concentration,
    concentration_scores,
    dominance,
    quartile_mass,
)
from benchmark.metrics.concentration_scores import weighted_quantile
from benchmark.metrics.dominance import frequent_shares
from benchmark.metrics.score import resample_weights


@given(match_cases(max_d=14))
@CASES
def test_values_are_those_of_concentration(case: Case) -> None:
    found, plain = concentration_scores(case.values, resamples=20), concentration(case.values)
    for name in ("top10_share_median", "top10_share_p90", "gini"):
        score, value = getattr(found, name), getattr(plain, name)
        assert score.value == value
        if value is None:
            assert score.not_applicable
            assert score.ci95 is None
        elif score.ci95 is not None:
            assert -1e-12 <= score.ci95[0] <= score.ci95[1] <= 1 + 1e-12


@given(match_cases(max_n=10, max_d=14))
@FEW
def test_replicates_are_those_of_the_drawn_rows(case: Case) -> None:
    found = concentration_scores(case.values, resamples=12, seed=4)
    held, busy = frequent_shares(case.values)
    if not busy.any():
        return
    (weights,) = [w for _, w in resample_weights(len(held), 12, 4)]
    rho = dominance(case.values)[alive(case.values)]
    (drawn,) = [w for _, w in resample_weights(len(rho), 12, 4)]
    for resample in range(12):
        rows = np.repeat(np.arange(len(held)), weights[resample].astype(int))
        shares = held[rows][busy[rows]]
        for score, q in ((found.top10_share_median, 0.5), (found.top10_share_p90, 0.9)):
            assert score.samples is not None
            if len(shares):
                expected = np.quantile(shares, q)
                assert score.samples[resample] == pytest.approx(expected, abs=1e-12)
            else:
                assert np.isnan(score.samples[resample])
        assert found.gini.samples is not None
        values = np.repeat(rho, drawn[resample].astype(int)).tolist()
        assert found.gini.samples[resample] == pytest.approx(latents_ref.gini(values), abs=1e-12)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
)
@CASES
def test_weighted_quantile_is_that_of_repeated_values(counts: list[int], q: float) -> None:
    ordered = np.arange(len(counts), dtype=np.float64) ** 2
    (found,) = weighted_quantile(ordered, np.array([counts]), q)
    repeated = np.repeat(ordered, counts)
    if len(repeated):
        assert found == pytest.approx(np.quantile(repeated, q), abs=1e-12)
    else:
        assert np.isnan(found)


@pytest.mark.parametrize("latents", [2, 4, 10])
def test_shares_never_pass_their_range(latents: int) -> None:
    """All activity on few latents: rounding must not carry a share beyond 1, nor Gini below 0."""
    values = np.random.default_rng(0).random((400, latents)).astype(np.float32) + 0.01
    raw = (values.astype(np.float64) / values.sum(1, dtype=np.float64)[:, None]).sum(axis=1)
    assert latents == 2 or (raw > 1).any(), "the case no longer rounds above 1"
    everyone = np.ones(latents, np.int64)
    found = concentration_scores(values, resamples=50)
    for score in (found.top10_share_median, found.top10_share_p90, found.gini):
        assert score.value is not None
        assert score.ci95 is not None
        assert 0 <= score.ci95[0] <= score.ci95[1] <= 1
        assert 0 <= score.value <= 1
    mass = quartile_mass(values, everyone, resamples=50)[0]
    assert mass.value is not None
    assert mass.ci95 is not None
    assert mass.ci95[1] <= 1
    assert mass.value <= 1
    equal = concentration_scores(np.full((6, 7), 0.1), resamples=50).gini
    assert equal.ci95 is not None
    assert equal.ci95[0] >= 0
