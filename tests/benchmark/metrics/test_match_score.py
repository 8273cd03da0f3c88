"""MATCHScore of given coalitions: brute force, what is left out, intervals."""

from __future__ import annotations

import json
import math
from typing import Any

import metric_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, FEW, MATCHERS, Case, coalition_lists, hold, match_cases

from benchmark.metrics import Score, match_concepts, match_score


def check_score(score: Score, f1: list[float | None]) -> None:
    want = ref.mean(f1)
    assert score.n == sum(value is not None for value in f1)
    assert score.n + sum(score.not_applicable.values()) == len(f1)
    assert all(count > 0 for count in score.not_applicable.values())
    if want is None:
        assert score.value is None
        assert score.ci95 is None
        return
    assert type(score.value) is float
    assert score.value == pytest.approx(want, abs=1e-12)
    assert score.ci95 is not None
    low, high = score.ci95
    assert 0.0 <= low <= high <= 1.0


@given(match_cases(), st.data(), st.sampled_from(sorted(CONTAINERS)))
@CASES
def test_given_coalitions_are_brute_force(case: Case, data: st.DataObject, container: str) -> None:
    coalitions = data.draw(coalition_lists(case.concepts.shape[1], case.values.shape[1]))
    held = hold(case.values, container)
    score = match_score(held.codes, case.concepts, coalitions, resamples=20)
    check_score(score, ref.concept_f1(held.values, case.concepts, coalitions))


@given(match_cases(), match_cases(), st.sampled_from(MATCHERS), st.data())
@CASES
def test_held_out_scores_are_brute_force(
    case: Case, other: Case, matcher: str, data: st.DataObject
) -> None:
    """Coalitions from one set of rows, F_1 on another, concepts paired by column."""
    d = min(case.values.shape[1], other.values.shape[1])
    a = min(case.concepts.shape[1], other.concepts.shape[1])
    fit_codes, fit_concepts = case.values[:, :d], case.concepts[:, :a]
    codes, concepts = other.values[:, :d], other.concepts[:, :a]
    container = data.draw(st.sampled_from(["float32", "float64", "csr", "coo", "csc"]))
    matching = match_concepts(hold(fit_codes, container).codes, fit_concepts, matcher=matcher)
    score = match_score(hold(codes, container).codes, concepts, matching, resamples=20)
    if matcher == "nn_omp":
        expected = ref.match(fit_codes, fit_concepts, matcher, 0.5, 3)
        if any(fit is not None and not fit.decided(codes) for fit in expected.fits):
            return
        f1: list[float | None] = []
        for fit, y in zip(expected.fits, concepts.T.tolist(), strict=True):
            usable = fit is not None and any(y)
            f1.append(float(ref.f_score(fit.predict(codes), y)) if fit and usable else None)
    else:
        f1 = ref.concept_f1(codes, concepts, matching.coalitions)
        plain = match_score(codes, concepts, matching.coalitions, resamples=20)
        assert (plain.value, plain.ci95) == (score.value, score.ci95)
    check_score(score, f1)


@given(match_cases(), st.sampled_from(MATCHERS))
@FEW
def test_in_sample_score_is_the_mean_of_the_matching(case: Case, matcher: str) -> None:
    matching = match_concepts(case.values, case.concepts, matcher=matcher)
    score = match_score(case.values, case.concepts, matching, resamples=10)
    check_score(score, [None if math.isnan(v) else float(v) for v in matching.f1])


def test_null_and_empty_coalitions_differ() -> None:
    latents = np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
    concepts = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    score = match_score(latents, concepts, [(0,), (), (0,)])
    assert score.value == pytest.approx(0.5)  # 1 and 0; the third has no positives here
    assert score.n == 2
    assert sum(score.not_applicable.values()) == 1
    without = match_score(latents, concepts, [(0,), None, None])
    assert without.value == 1.0
    assert without.n == 1
    assert sum(without.not_applicable.values()) == 2


def test_nothing_applicable_is_null() -> None:
    score = match_score(np.ones((4, 1)), np.zeros((4, 2), dtype=bool), [(0,), None])
    assert score.value is None
    assert score.ci95 is None
    assert score.n == 0
    assert sum(score.not_applicable.values()) == 2
    json.dumps(score.not_applicable, allow_nan=False)


def test_coalitions_may_be_lists_in_any_order() -> None:
    latents = np.array([[1, 0], [0, 1], [0, 0]], dtype=bool)
    concepts = np.array([[1], [1], [0]], dtype=bool)
    expected = match_score(latents, concepts, ((0, 1),))
    others: list[Any] = [[[1, 0]], [(np.int64(0), np.int64(1))], [np.array([0, 1])]]
    for coalitions in others:
        assert match_score(latents, concepts, coalitions).value == expected.value == 1.0


@given(match_cases(max_n=10), st.data(), st.randoms(use_true_random=False))
@FEW
def test_row_order_never_moves_the_value(case: Case, data: st.DataObject, random: Any) -> None:
    coalitions = data.draw(coalition_lists(case.concepts.shape[1], case.values.shape[1]))
    order = list(range(len(case.values)))
    random.shuffle(order)
    before = match_score(case.values, case.concepts, coalitions, resamples=10)
    after = match_score(case.values[order], case.concepts[order], coalitions, resamples=10)
    assert before.value == after.value
    assert (before.n, before.not_applicable) == (after.n, after.not_applicable)


@given(match_cases(), st.data())
@FEW
def test_container_and_dtype_change_nothing(case: Case, data: st.DataObject) -> None:
    coalitions = data.draw(coalition_lists(case.concepts.shape[1], case.values.shape[1]))
    first = match_score(case.values, case.concepts, coalitions, resamples=50)
    for container in CONTAINERS:
        codes = hold(case.values, container).codes
        other = match_score(codes, case.concepts, coalitions, resamples=50)
        assert other.value == first.value, container
        assert other.ci95 == first.ci95, container
        if first.samples is None or other.samples is None:
            assert first.samples is other.samples is None
        else:
            assert other.samples.tobytes() == first.samples.tobytes(), container


@pytest.mark.parametrize("container", ["float16", "int8", "csr_bool", "csr"])
def test_large_counts_are_exact(container: str) -> None:
    rows = 70001
    values = np.ones((rows, 1))
    values[-1] = 0.0
    codes = CONTAINERS[container](values, np.random.default_rng(0))
    score = match_score(codes, np.ones((rows, 1), dtype=bool), [(0,)], resamples=5)
    assert score.value == pytest.approx(2 * (rows - 1) / (2 * rows - 1), abs=1e-15)


def test_vanishing_values_are_inactive() -> None:
    codes = np.array([[1.0], [1e-50]])
    concepts = np.array([[True], [False]])
    assert match_score(codes, concepts, [(0,)]).value == 1.0
    assert match_score(sp.csr_array(codes), concepts, [(0,)]).value == 1.0


def test_random_labels_score_at_chance_held_out_and_above_in_sample() -> None:
    """Why the headline is held out: many latents fit anything on the rows they are picked on."""
    rng = np.random.default_rng(0)
    fit, fresh = rng.random((40, 4096)) < 0.2, rng.random((40, 4096)) < 0.2
    labels, fresh_labels = rng.random((40, 10)) < 0.3, rng.random((40, 10)) < 0.3
    matching = match_concepts(fit, labels)
    inside = match_score(fit, labels, matching, resamples=10).value
    outside = match_score(fresh, fresh_labels, matching, resamples=10).value
    assert inside is not None
    assert outside is not None
    assert inside > 0.65
    assert outside < 0.45
