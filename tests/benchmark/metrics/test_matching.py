"""Matching against its definition: worked examples, brute force, invariances."""

from __future__ import annotations

import metric_reference as ref
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import (
    CASES,
    CONTAINERS,
    FEW,
    MAGNITUDES,
    MATCHERS,
    Case,
    code_arrays,
    hold,
    match_cases,
)

from benchmark.metrics import Matching, match_concepts

BETAS = (0.25, 0.5, 1.0)


def columns(*patterns: str) -> np.ndarray:
    """Boolean columns written as strings of 0 and 1."""
    return np.array([[c == "1" for c in pattern] for pattern in patterns]).T


def check_f1(matching: Matching, expected: list[float | None]) -> None:
    assert matching.f1.dtype == np.float64
    assert matching.f1.shape == (len(expected),)
    for got, want in zip(matching.f1, expected, strict=True):
        if want is None:
            assert np.isnan(got)
        else:
            assert got == pytest.approx(want, abs=1e-12)


def check_binary(case: Case, matcher: str, beta: float, k: int, container: str) -> None:
    held = hold(case.values, container)
    matching = match_concepts(held.codes, case.concepts, matcher=matcher, beta=beta, max_latents=k)
    expected = ref.match(held.values, case.concepts, matcher, beta, k)
    assert matching.coalitions == tuple(expected.coalitions)
    assert all(type(j) is int for c in matching.coalitions if c is not None for j in c)
    check_f1(matching, expected.f1)
    predicted = matching.predict(held.codes)
    assert predicted.dtype == bool
    for a, coalition in enumerate(expected.coalitions):
        union = ref.union(ref.binary(held.values), coalition or ())
        assert predicted[:, a].tolist() == union


def test_worked_example() -> None:
    latents = columns("110000", "001100", "110000")
    concepts = columns("111100")
    one = match_concepts(latents, concepts, max_latents=1)
    assert one.coalitions == ((0,),)
    assert one.f1[0] == pytest.approx(2 / 3, abs=1e-15)
    three = match_concepts(latents, concepts, max_latents=3)
    assert three.coalitions == ((0, 1),)
    assert three.f1[0] == 1.0
    assert match_concepts(latents, concepts).coalitions == ((0, 1),)


def test_defaults_are_fbmp_half_three() -> None:
    rng = np.random.default_rng(3)
    latents, concepts = rng.random((60, 9)) < 0.3, rng.random((60, 5)) < 0.4
    default = match_concepts(latents, concepts)
    spelt = match_concepts(latents, concepts, matcher="fbmp", beta=0.5, max_latents=3)
    assert default.coalitions == spelt.coalitions
    assert default.f1.tobytes() == spelt.f1.tobytes()


@given(
    match_cases(), st.sampled_from(BETAS), st.integers(1, 5), st.sampled_from(sorted(CONTAINERS))
)
@CASES
def test_fbmp_is_brute_force(case: Case, beta: float, k: int, container: str) -> None:
    check_binary(case, "fbmp", beta, k, container)


@given(
    match_cases(), st.sampled_from(BETAS), st.integers(1, 5), st.sampled_from(sorted(CONTAINERS))
)
@CASES
def test_one_to_one_is_brute_force(case: Case, beta: float, k: int, container: str) -> None:
    check_binary(case, "one_to_one", beta, k, container)


@given(
    match_cases(), st.sampled_from(BETAS), st.integers(1, 5), st.sampled_from(sorted(CONTAINERS))
)
@CASES
def test_top_k_f1_is_brute_force(case: Case, beta: float, k: int, container: str) -> None:
    check_binary(case, "top_k_f1", beta, k, container)


@given(match_cases(), st.integers(1, 5), st.sampled_from(MAGNITUDES), st.data())
@CASES
def test_nn_omp_is_brute_force(case: Case, k: int, container: str, data: st.DataObject) -> None:
    held = hold(case.values, container)
    fresh = data.draw(code_arrays(case.concepts, d=case.values.shape[1]))
    matching = match_concepts(held.codes, case.concepts, matcher="nn_omp", max_latents=k)
    expected = ref.match(held.values, case.concepts, "nn_omp", 0.5, k)
    same_rows, new_rows = matching.predict(held.codes), matching.predict(fresh)
    assert same_rows.dtype == bool
    assert new_rows.dtype == bool
    for a, fit in enumerate(expected.fits):
        if fit is None:
            assert matching.coalitions[a] is None
            assert np.isnan(matching.f1[a])
            continue
        if not fit.safe:
            continue
        assert matching.coalitions[a] == tuple(fit.coalition)
        if fit.decided(held.values):
            want = expected.f1[a]
            assert want is not None
            assert matching.f1[a] == pytest.approx(want, abs=1e-12)
            assert same_rows[:, a].tolist() == fit.predict(held.values)
        if fit.decided(fresh):
            assert new_rows[:, a].tolist() == fit.predict(fresh)


@pytest.mark.parametrize("container", sorted(CONTAINERS))
@pytest.mark.parametrize("matcher", ["fbmp", "one_to_one", "top_k_f1"])
def test_every_container(matcher: str, container: str) -> None:
    rng = np.random.default_rng(11)
    concepts = rng.random((37, 6)) < np.array([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])
    values = np.where(rng.random((37, 13)) < 0.3, rng.choice([0.5, 1.0, 2.0], (37, 13)), 0.0)
    values[:, 4], values[:, 5], values[:, 6] = 0.0, values[:, 3], concepts[:, 2]
    check_binary(Case(values, concepts), matcher, 0.5, 4, container)


@pytest.mark.parametrize("matcher", ["fbmp", "one_to_one", "top_k_f1"])
@pytest.mark.parametrize("seed", range(8))
def test_wider_random_input(matcher: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, a = int(rng.integers(20, 60)), int(rng.integers(10, 40)), 6
    concepts = rng.random((n, a)) < rng.random(a)
    values = (rng.random((n, d)) < rng.random(d)) * rng.exponential(size=(n, d))
    values[:, d // 2 :] = values[:, rng.integers(0, d // 2, d - d // 2)]
    values = values.astype(np.float32).astype(np.float64)
    check_binary(Case(values, concepts), matcher, BETAS[seed % 3], 1 + seed % 5, "csr_raw")


@given(match_cases(), st.sampled_from([1e-3, 0.3, 0.7, 2.0, 10.0]), st.integers(1, 4))
@FEW
def test_any_beta(case: Case, beta: float, k: int) -> None:
    check_binary(case, "fbmp", beta, k, "float64")


@given(match_cases(), st.sampled_from(BETAS), st.sampled_from(["fbmp", "top_k_f1"]))
@FEW
def test_smaller_coalitions_are_prefixes(case: Case, beta: float, matcher: str) -> None:
    largest = match_concepts(case.values, case.concepts, matcher=matcher, beta=beta, max_latents=5)
    for k in range(1, 5):
        some = match_concepts(case.values, case.concepts, matcher=matcher, beta=beta, max_latents=k)
        for short, long in zip(some.coalitions, largest.coalitions, strict=True):
            assert short == (None if long is None else long[:k])


@pytest.mark.parametrize("matcher", ["fbmp", "top_k_f1", "nn_omp"])
def test_one_concept_may_have_several_latents(matcher: str) -> None:
    """The cap on coalition size is `max_latents`, not the number of concepts."""
    latents = columns("11000000", "00110000", "00001100", "00000010")
    matching = match_concepts(latents, columns("11111100"), matcher=matcher, max_latents=3)
    coalition = matching.coalitions[0]
    assert coalition is not None
    assert sorted(coalition) == [0, 1, 2]
    assert matching.f1[0] == 1.0
    five = columns(*("".join("1" if i == j else "0" for i in range(8)) for j in range(6)))
    grown = match_concepts(five, columns("11111000"), matcher=matcher, max_latents=5)
    assert grown.coalitions[0] is not None
    assert sorted(grown.coalitions[0]) == [0, 1, 2, 3, 4]


def test_one_to_one_takes_one() -> None:
    latents = columns("1100", "0011")
    matching = match_concepts(latents, columns("1111"), matcher="one_to_one", max_latents=3)
    assert matching.coalitions == ((0,),)


@pytest.mark.parametrize("matcher", MATCHERS)
def test_concept_without_positives_matches_nothing(matcher: str) -> None:
    """Not latent 0, not an F_1 of 0: not applicable."""
    latents = columns("1100", "0011")
    matching = match_concepts(latents, columns("0000", "0011"), matcher=matcher)
    assert matching.coalitions == (None, (1,))
    assert np.isnan(matching.f1[0])
    assert matching.f1[1] == 1.0
    assert not matching.predict(latents)[:, 0].any()


@pytest.mark.parametrize("matcher", MATCHERS)
def test_unmatched_concept_has_an_empty_coalition(matcher: str) -> None:
    latents = columns("0011", "0000")
    matching = match_concepts(latents, columns("1100"), matcher=matcher)
    assert matching.coalitions == ((),)
    assert matching.f1[0] == 0.0
    assert not matching.predict(latents).any()


@pytest.mark.parametrize("matcher", MATCHERS)
def test_all_latents_dead(matcher: str) -> None:
    matching = match_concepts(np.zeros((4, 3)), columns("1010", "0000"), matcher=matcher)
    assert matching.coalitions == ((), None)


def test_greedy_step_uses_the_residual_but_stops_on_the_joint_score() -> None:
    """The second choice has the best residual F, lowers the joint F_1 and ends the search."""
    latents = columns("11100000", "00011110", "00010000")
    concepts = columns("11110000")
    expected = ref.fbmp_one(ref.binary(latents), concepts[:, 0].tolist(), 0.5, 3)
    assert match_concepts(latents, concepts).coalitions == (tuple(expected),)
    stopped = columns("11100000", "00011111")
    assert match_concepts(stopped, concepts).coalitions == ((0,),)


def test_beta_changes_the_first_choice() -> None:
    latents = columns("1100000000", "1111111100")
    concepts = columns("1111110000")
    precise = match_concepts(latents, concepts, beta=0.25, max_latents=1)
    balanced = match_concepts(latents, concepts, beta=1.0, max_latents=1)
    assert precise.coalitions == ((0,),)
    assert balanced.coalitions == ((1,),)


def test_ties_go_to_the_lowest_index() -> None:
    latents = columns("0011", "1100", "1100", "0011")
    for matcher in MATCHERS:
        k1 = match_concepts(latents, columns("1111"), matcher=matcher, max_latents=1)
        assert k1.coalitions == ((0,),), matcher
    both = match_concepts(latents, columns("1111"), matcher="fbmp")
    assert both.coalitions == ((0, 1),)


def test_exact_ties_between_different_counts() -> None:
    """2·1/(2+1) = 2·2/(2+4): equal F_1 from different counts, lowest index first."""
    concept = columns("110000")
    assert match_concepts(
        columns("111100", "100000"), concept, matcher="one_to_one"
    ).coalitions == ((0,),)
    assert match_concepts(
        columns("100000", "111100"), concept, matcher="one_to_one"
    ).coalitions == ((0,),)


def test_nn_omp_keeps_magnitudes() -> None:
    """A weak firing stays under the threshold where the binary union would predict it."""
    codes = np.array([[4.0], [4.0], [4.0], [0.5], [0.0]])
    concept = columns("11100")
    pursuit = match_concepts(codes, concept, matcher="nn_omp")
    assert pursuit.coalitions == ((0,),)
    assert pursuit.f1[0] == 1.0
    assert pursuit.predict(codes)[:, 0].tolist() == [True, True, True, False, False]
    assert match_concepts(codes, concept).f1[0] == pytest.approx(6 / 7)


def test_nn_omp_stops_where_only_rounding_is_left() -> None:
    """Two latents explain the concept exactly; what remains is noise, in any row order."""
    codes = np.array([[1.0, 0, 0, 3, 0], [0.7, 0, 0.7, 0, 0], [0, 0, 0, 1, 1]])
    concept = columns("110")
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        matching = match_concepts(codes[order], concept[order], matcher="nn_omp", max_latents=4)
        assert matching.coalitions == ((0, 2),)


def test_nn_omp_predicts_with_the_weights_of_the_matching_rows() -> None:
    codes = np.array([[2.0], [2.0], [0.0]])
    pursuit = match_concepts(codes, columns("110"), matcher="nn_omp")
    other = np.array([[0.9], [1.1], [8.0], [0.0]])
    assert pursuit.predict(other)[:, 0].tolist() == [False, True, True, False]
