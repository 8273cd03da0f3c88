"""MS: the closed form against the double loop, what is left out, its interval."""

from __future__ import annotations

from typing import Any

import metric_reference_baselines as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, FEW, MAGNITUDES, Case, hold, match_cases

from benchmark.metrics import InputError, Score, monosemanticity, ms_score


def embeddings(n: int, seed: int, width: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (n, width)).astype(np.float64)
    rows[~rows.any(axis=1), 0] = 1.0
    return rows


def same(got: np.ndarray, want: list[float | None], tolerance: float = 1e-12) -> None:
    assert got.dtype == np.float64
    expected = np.array([np.nan if value is None else value for value in want])
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)


@given(match_cases(), st.sampled_from(MAGNITUDES), st.integers(0, 99))
@CASES
def test_closed_form_is_the_double_loop(case: Case, container: str, seed: int) -> None:
    held = hold(case.values, container)
    vectors = embeddings(len(case.values), seed)
    want = ref.monosemanticity(held.values, vectors)
    same(monosemanticity(held.codes, vectors), want)
    score = ms_score(held.codes, vectors, resamples=10)
    known = [value for value in want if value is not None]
    assert score.n == len(known)
    assert score.n + sum(score.not_applicable.values()) == len(want)
    if known:
        assert score.value == pytest.approx(sum(known) / len(known), abs=1e-12)
    else:
        assert score.value is None
        assert score.ci95 is None


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("small", [1e-30, 1e-12, 1e-7])
def test_one_code_far_above_the_others_does_not_cancel(wrap: Any, small: float) -> None:
    codes = np.array([[1.0], [small], [0.0], [small / 2]])
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.8, -0.6]])
    same(monosemanticity(wrap(codes), vectors), ref.monosemanticity(codes, vectors), 1e-9)


def test_always_active_latents_are_scaled_by_their_minimum() -> None:
    """Sparse codes hold their zeros implicitly: the minimum is 0 unless every row is stored."""
    codes = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 0.0]])
    vectors = np.eye(3) + 0.3
    for given_codes in (codes, sp.csr_array(codes), sp.csc_array(codes)):
        same(monosemanticity(given_codes, vectors), ref.monosemanticity(codes, vectors))


def test_constant_and_single_latents_are_named() -> None:
    codes = np.array([[2.0, 0.0, 1.0, 1.0], [2.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 0.0]])
    for given_codes in (codes, sp.csr_array(codes)):
        score = ms_score(given_codes, np.eye(3) + 1, resamples=20)
        assert score.n == 1
        assert score.not_applicable == {
            "constant over the rows": 2,
            "above its minimum on one row only": 1,
        }
        assert np.isnan(monosemanticity(given_codes, np.eye(3) + 1)).tolist() == [1, 1, 1, 0]


def test_a_pure_latent_scores_one_and_opposites_minus_one() -> None:
    vectors = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, -3.0]])
    codes = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    np.testing.assert_allclose(monosemanticity(codes, vectors), [1.0, -1.0, 0.0], atol=1e-15)


@given(match_cases(max_n=10), st.integers(0, 99), st.randoms(use_true_random=False))
@FEW
def test_order_scale_and_container_change_nothing(case: Case, seed: int, random: Any) -> None:
    vectors = embeddings(len(case.values), seed)
    first = monosemanticity(case.values, vectors)
    order = list(range(len(case.values)))
    random.shuffle(order)
    same_order = monosemanticity(case.values[order], vectors[order])
    np.testing.assert_allclose(same_order, first, atol=1e-12)
    longer = vectors * np.random.default_rng(seed).uniform(1e-3, 1e3, (len(vectors), 1))
    np.testing.assert_allclose(monosemanticity(case.values * 4, longer), first, atol=1e-12)
    for container in set(MAGNITUDES) - {"int8", "uint8", "int64", "csr_int"}:
        other = monosemanticity(hold(case.values, container).codes, vectors)
        np.testing.assert_allclose(other, first, atol=1e-12)


def test_many_rows_stream_in_chunks_with_the_same_result(monkeypatch: Any) -> None:
    import sys

    rng = np.random.default_rng(0)
    codes = (rng.random((500, 7)) < 0.3) * rng.random((500, 7))
    codes[:, 0] += 0.5
    vectors = rng.normal(size=(500, 5)).astype(np.float32)
    whole = monosemanticity(codes, vectors)
    monkeypatch.setattr(sys.modules["benchmark.metrics.monosemanticity"], "_CHUNK_ROWS", 33)
    for given_codes in (codes, sp.csr_array(codes)):
        np.testing.assert_allclose(monosemanticity(given_codes, vectors), whole, atol=1e-12)


def test_embeddings_of_extreme_length() -> None:
    codes = np.array([[1.0], [0.5], [0.0]])
    vectors = np.array([[1e-200, 0.0], [1e200, 1e200], [1.0, 0.0]])
    np.testing.assert_allclose(monosemanticity(codes, vectors), [np.sqrt(0.5)], atol=1e-12)


def loop_samples(codes: np.ndarray, vectors: np.ndarray, count: int) -> list[float]:
    """The interval's definition: pairs of different images, each with its multiplicity."""
    rng = np.random.default_rng(5)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, 0.0)
    high, low = codes.max(axis=0), codes.min(axis=0)
    a = (codes - low) / (high - low)
    result = []
    for _ in range(count):
        times = np.bincount(rng.integers(0, len(a), len(a)), minlength=len(a))
        each = []
        for column in a.T:
            pull = times * column
            weight = np.outer(pull, pull)
            np.fill_diagonal(weight, 0.0)
            if weight.sum() > 0:
                each.append((weight * cosines).sum() / weight.sum())
        result.append(float(np.mean(each)))
    return result


@pytest.mark.parametrize("wide", [3, 200])
def test_interval_resamples_images_like_a_plain_loop(wide: int) -> None:
    rng = np.random.default_rng(1)
    codes = (rng.random((60, 4)) < 0.4) * rng.random((60, 4))
    vectors = rng.normal(size=(60, wide)) + 0.3
    score = ms_score(codes, vectors, resamples=1500)
    assert score.samples is not None
    loop = loop_samples(codes, vectors, 400)
    assert score.samples.std() == pytest.approx(np.std(loop), rel=0.15)
    assert score.samples.mean() == pytest.approx(np.mean(loop), abs=5 * np.std(loop) / 20)
    sparse = ms_score(sp.csr_array(codes), vectors, resamples=1500)
    assert sparse.samples is not None
    np.testing.assert_allclose(sparse.samples, score.samples, atol=1e-12)


def test_copies_make_no_pairs() -> None:
    """Two orthogonal images: a resample holding each twice still scores 0, not more."""
    score = ms_score(np.array([[1.0], [1.0], [0.0]]), np.eye(3), resamples=200)
    assert score.value == 0.0
    assert score.ci95 == (0.0, 0.0)
    assert score.samples is not None
    assert np.isnan(score.samples).any()


def test_same_seed_same_bytes_and_the_seed_moves_no_value() -> None:
    rng = np.random.default_rng(2)
    codes, vectors = rng.random((50, 3)) * (rng.random((50, 3)) < 0.5), rng.normal(size=(50, 4))
    runs = [ms_score(codes, vectors, resamples=50, seed=seed) for seed in (3, 3, 4)]
    bytes_of = [np.asarray(run.samples).tobytes() for run in runs]
    assert bytes_of[0] == bytes_of[1] != bytes_of[2]
    assert runs[0].value == runs[2].value


def test_nothing_applicable_is_null() -> None:
    score: Score = ms_score(np.zeros((4, 2)), np.eye(4))
    assert score.value is None
    assert score.not_applicable == {"constant over the rows": 2}
    assert monosemanticity(np.zeros((4, 0)), np.eye(4)).shape == (0,)


@pytest.mark.parametrize(
    ("codes", "vectors", "part"),
    [
        (np.ones((3, 1)), np.ones((2, 2)), "2 rows but the latents have 3"),
        (np.ones((3, 1)), np.ones(3), "expected shape"),
        (np.ones((3, 1)), np.array([[1.0], [np.nan], [1.0]]), "row 1"),
        (np.ones((3, 1)), np.array([[1.0], [1.0], [0.0]]), "row 2 is zero"),
        (np.ones((3, 1)), np.array([["a"]] * 3), "numbers"),
        (-np.ones((3, 1)), np.ones((3, 1)), "not negative"),
        (np.ones((0, 1)), np.ones((0, 1)), "no rows"),
    ],
)
def test_bad_input(codes: np.ndarray, vectors: np.ndarray, part: str) -> None:
    for function in (monosemanticity, ms_score):
        with pytest.raises(InputError, match=part):
            function(codes, vectors)


def test_every_container_is_taken() -> None:
    codes = np.array([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]])
    for container in CONTAINERS:
        held = hold(codes, container)
        want = ref.monosemanticity(held.values, np.eye(3) + 1)
        same(monosemanticity(held.codes, np.eye(3) + 1), want)
