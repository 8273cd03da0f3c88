"""Agreement with people against scipy, its invariants and its refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark.generative import agreement
from benchmark.metrics import InputError


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_equals_scipy_and_its_invariants(seed):
    generator = np.random.default_rng(seed)
    values, ratings = generator.normal(size=12), np.round(generator.normal(size=12))  # ties
    if np.ptp(ratings) == 0:
        return
    found = agreement(values, ratings, resamples=50)
    assert found.pearson.value == pytest.approx(stats.pearsonr(values, ratings).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(values, ratings).statistic)
    low, high = found.pearson.ci95
    assert -1 <= low <= high <= 1
    turned = agreement(-3 * values + 1, ratings, resamples=50)
    assert turned.pearson.value == pytest.approx(-found.pearson.value)
    order = generator.permutation(12)
    moved = agreement(values[order], ratings[order], resamples=50)
    assert moved.pearson.value == pytest.approx(found.pearson.value)
    # any increasing change keeps the ranks
    assert agreement(np.exp(values), ratings).spearman.value == found.spearman.value


def test_interval_equals_redrawing_classes_by_hand():
    generator = np.random.default_rng(0)
    values, ratings = generator.normal(size=8), generator.normal(size=8)
    found = agreement(values, ratings, resamples=40, seed=4)
    chosen = np.random.default_rng(4).integers(0, 8, size=(40, 8))
    expected = [stats.spearmanr(values[row], ratings[row]).statistic for row in chosen]
    np.testing.assert_allclose(found.spearman.samples, expected, atol=1e-12)
    assert found.spearman.ci95 == pytest.approx(np.percentile(expected, [2.5, 97.5]))


def test_classes_without_a_value_are_counted():
    found = agreement([1.0, np.nan, 2.0, 4.0], [1.0, 9.0, 2.0, 3.0])
    assert found.spearman.value == 1
    assert found.spearman.n == 3
    assert found.spearman.not_applicable == {"class without a value of the metric": 1}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1.0, 2.0], "fewer than 3 classes"),
        ([2.0, 2.0, 2.0], "the same number for every class"),
    ],
)
def test_not_applicable(values, reason):
    found = agreement(values, np.arange(len(values)))
    assert found.pearson.value is None
    assert found.pearson.not_applicable == {reason: 1}


@pytest.mark.parametrize(
    ("values", "ratings", "message"),
    [
        ([1.0, 2.0], [1.0], "2 values but 1 ratings"),
        ([[1.0]], [1.0], "values: expected a row of numbers"),
        ([1.0], ["good"], "ratings: expected a row of numbers"),
        ([1.0, 2.0], [1.0, np.nan], "ratings: class 1 has no number"),
    ],
)
def test_wrong_input_is_named(values, ratings, message):
    with pytest.raises(InputError, match=message):
        agreement(values, ratings)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-200, 1e300])
def test_numbers_of_any_size_correlate_alike(scale: float) -> None:
    values, people = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, -9.0, 5.0, 6.0])
    own = agreement(values, people, resamples=40)
    other = agreement(values * scale, people * scale, resamples=40)
    assert other.pearson.value == pytest.approx(own.pearson.value, rel=1e-12)
    assert other.pearson.ci95 == pytest.approx(own.pearson.ci95, rel=1e-12)
    assert other.spearman.value == own.spearman.value
