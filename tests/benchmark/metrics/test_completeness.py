"""C2: the fraction of concepts found, and C5's fraction of sparse rows."""

from __future__ import annotations

import metric_reference as ref
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, Case, coalition_lists, hold, match_cases

from benchmark.metrics import InputError, completeness, l0_within, match_concepts, match_score


@given(st.data(), match_cases(), st.sampled_from([0.25, 0.5, 2 / 3, 1.0]))
@CASES
def test_it_counts_the_f1_of_match_score(data: st.DataObject, case: Case, least: float) -> None:
    coalitions = data.draw(coalition_lists(case.concepts.shape[1], case.values.shape[1]))
    score = completeness(case.values, case.concepts, coalitions, at_least=least, resamples=30)
    f1 = match_score(case.values, case.concepts, coalitions).f1.tolist()
    known = [value for value in f1 if value == value]
    assert score.n == len(known)
    if not known:
        assert score.value is None
        assert score.not_applicable
        return
    assert score.value == sum(value >= least for value in known) / len(known)
    assert score.ci95 is None or 0 <= score.ci95[0] <= score.ci95[1] <= 1


def test_half_is_enough() -> None:
    """Two of three positives are missed and nothing else is hit: F1 is exactly 0.5."""
    present = np.array([[1], [1], [1], [0]], bool)
    codes = np.array([[1], [0], [0], [0]])
    assert match_score(codes, present, [(0,)]).value == 0.5
    assert completeness(codes, present, [(0,)]).value == 1.0
    assert completeness(codes, present, [(0,)], at_least=0.51).value == 0.0


def test_the_interval_is_that_of_resampled_rows() -> None:
    rng = np.random.default_rng(0)
    codes = rng.random((60, 8)) * (rng.random((60, 8)) < 0.4)
    present = rng.random((60, 5)) < 0.3
    matching = match_concepts(codes, present)
    score = completeness(codes, present, matching, resamples=400)
    predicted = matching.predict(codes)
    draw, values = np.random.default_rng(5), []
    for _ in range(400):
        rows = draw.integers(0, 60, 60)
        found = []
        for concept in range(5):
            guess, truth = predicted[rows, concept], present[rows, concept]
            if truth.any():
                found.append(2 * (guess & truth).sum() / (guess.sum() + truth.sum()) >= 0.5)
        values.append(np.mean(found))
    assert score.ci95 == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])), abs=0.21)
    assert score.samples is not None
    assert score.samples.mean() == pytest.approx(np.mean(values), abs=0.05)


@pytest.mark.parametrize("least", [0, -1, 1.1, float("nan")])
def test_a_threshold_outside_its_range_is_refused(least: float) -> None:
    with pytest.raises(InputError, match="at_least"):
        completeness(np.ones((2, 1)), np.ones((2, 1), bool), [(0,)], at_least=least)


@given(match_cases(), st.sampled_from(sorted(CONTAINERS)), st.integers(0, 6))
@CASES
def test_sparse_rows_are_brute_force(case: Case, container: str, limit: int) -> None:
    held = hold(case.values, container)
    counts = [sum(row) for row in ref.binary(held.values)]
    score = l0_within(held.codes, limit, resamples=20)
    assert score.value == sum(count <= limit for count in counts) / len(counts)
    assert score.n == len(counts)
