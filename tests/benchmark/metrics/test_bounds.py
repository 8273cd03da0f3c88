"""Prevalence bound, F_1 by coalition size, paired differences and means of scores."""

from __future__ import annotations

import math

import metric_reference as ref
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, FEW, Case, hold, match_cases

from benchmark.metrics import (
    InputError,
    Score,
    average,
    difference,
    f1_by_size,
    match_concepts,
    match_score,
    prevalence_bound,
)


@given(match_cases())
@CASES
def test_prevalence_is_predicting_everything(case: Case) -> None:
    everything = [True] * len(case.values)
    f1 = [float(ref.f_score(everything, y)) if any(y) else None for y in case.concepts.T.tolist()]
    want = ref.mean(f1)
    score = prevalence_bound(case.concepts, resamples=20)
    assert score.n == sum(value is not None for value in f1)
    assert score.n + sum(score.not_applicable.values()) == len(f1)
    if want is None:
        assert score.value is None
        assert score.ci95 is None
    else:
        assert score.value == pytest.approx(want, abs=1e-12)


def test_prevalence_interval_is_that_of_the_constant() -> None:
    """The same number as a latent that is always on, resample by resample."""
    rng = np.random.default_rng(0)
    concepts = rng.random((80, 4)) < np.array([0.02, 0.2, 0.5, 0.9])
    bound = prevalence_bound(concepts)
    constant = match_score(np.ones((80, 1)), concepts, [(0,)] * 4)
    assert bound.samples is not None
    assert constant.samples is not None
    np.testing.assert_allclose(bound.samples, constant.samples, atol=1e-12)


@given(match_cases(), match_cases(), st.sampled_from(["fbmp", "top_k_f1"]), st.data())
@CASES
def test_f1_by_size_is_brute_force(
    case: Case, other: Case, matcher: str, data: st.DataObject
) -> None:
    d = min(case.values.shape[1], other.values.shape[1])
    a = min(case.concepts.shape[1], other.concepts.shape[1])
    k = data.draw(st.integers(1, 4))
    held = hold(other.values[:, :d], data.draw(st.sampled_from(sorted(CONTAINERS))))
    matching = match_concepts(
        case.values[:, :d], case.concepts[:, :a], matcher=matcher, max_latents=k
    )
    curve = f1_by_size(held.codes, other.concepts[:, :a], matching)
    assert curve.shape == (a, k)
    for size in range(1, k + 1):
        first = [None if c is None else c[:size] for c in matching.coalitions]
        want = ref.concept_f1(held.values, other.concepts[:, :a], first)
        for got, value in zip(curve[:, size - 1], want, strict=True):
            if value is None:
                assert np.isnan(got)
            else:
                assert got == pytest.approx(value, abs=1e-12)


@given(match_cases())
@FEW
def test_match_score_gives_f1_of_every_concept(case: Case) -> None:
    matching = match_concepts(case.values, case.concepts)
    score = match_score(case.values, case.concepts, matching, resamples=10)
    np.testing.assert_allclose(score.f1, matching.f1, atol=1e-12)


def scores(seed: int = 0, n: int = 90) -> tuple[Score, Score]:
    rng = np.random.default_rng(seed)
    concepts = rng.random((n, 4)) < 0.3
    better = concepts ^ (rng.random((n, 4)) < 0.1)
    worse = concepts ^ (rng.random((n, 4)) < 0.4)
    singles = [(j,) for j in range(4)]
    return match_score(better, concepts, singles), match_score(worse, concepts, singles)


def test_difference_of_a_score_with_itself_is_exactly_zero() -> None:
    for score in scores():
        zero = difference(score, score)
        assert zero.value == 0.0
        assert zero.ci95 == (0.0, 0.0)


def test_difference_is_paired_replicate_by_replicate() -> None:
    first, second = scores()
    gap = difference(first, second)
    assert first.value is not None
    assert second.value is not None
    assert gap.value == first.value - second.value
    assert first.samples is not None
    assert second.samples is not None
    expected = np.percentile(first.samples - second.samples, [2.5, 97.5])
    assert gap.ci95 == pytest.approx(tuple(expected), abs=1e-12)
    assert gap.n == first.n


def test_difference_with_a_missing_side_is_null() -> None:
    first, _ = scores()
    missing = Score(None, None, 0, {"no pairs": 3})
    for gap in (difference(first, missing), difference(missing, first)):
        assert gap.value is None
        assert gap.ci95 is None
        assert gap.not_applicable == {"no pairs": 3}


def test_average_is_taken_inside_each_resample() -> None:
    """Seeds that err in opposite ways leave a narrower interval than either has."""
    first, second = scores()
    both = average([first, second])
    assert first.value is not None
    assert second.value is not None
    assert both.value == pytest.approx((first.value + second.value) / 2, abs=1e-15)
    assert first.samples is not None
    assert second.samples is not None
    assert both.samples is not None
    np.testing.assert_allclose(both.samples, (first.samples + second.samples) / 2, atol=1e-15)
    expected = np.percentile((first.samples + second.samples) / 2, [2.5, 97.5])
    assert both.ci95 == pytest.approx(tuple(expected), abs=1e-12)
    assert average([first]).value == first.value
    assert difference(average([first, first, first]), first).value == pytest.approx(0, abs=1e-15)


def test_average_never_drops_a_missing_seed() -> None:
    first, second = scores()
    lost = average([first, Score(None, None, 0, {"no pairs": 3}), second])
    assert lost.value is None
    assert lost.not_applicable == {"no pairs": 3}


def test_scores_that_cannot_be_combined() -> None:
    first, _ = scores()
    rng = np.random.default_rng(1)
    short = match_score(rng.random((9, 1)) < 0.5, np.ones((9, 1), dtype=bool), [(0,)], resamples=10)
    for call in (lambda: difference(first, short), lambda: average([first, short])):
        with pytest.raises(InputError):
            call()
    with pytest.raises(InputError):
        average([])


def test_replicates_without_a_value_stay_out_of_a_difference() -> None:
    codes = np.zeros((12, 1))
    codes[0] = 1.0
    rare = match_score(codes, codes > 0, [(0,)])
    assert rare.samples is not None
    assert np.isnan(rare.samples).any()
    gap = difference(rare, rare)
    assert gap.ci95 == (0.0, 0.0)
    assert gap.value is not None
    assert math.isfinite(gap.value)
