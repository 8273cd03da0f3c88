"""CKNNA: brute force, its fixed points, ties, rows that are many, its interval."""

from __future__ import annotations

from typing import Any

import metric_reference_baselines as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, FEW, MAGNITUDES, Case, hold, match_cases

from benchmark.metrics import InputError, cknna


@given(match_cases(max_n=14), st.integers(1, 5), st.sampled_from(MAGNITUDES), st.integers(0, 999))
@CASES
def test_brute_force(case: Case, k: int, container: str, seed: int) -> None:
    held = hold(case.values, container)
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (len(case.values), 3)).astype(np.float32)
    want = ref.cknna(held.values, vectors, k)
    score = cknna(held.codes, vectors, neighbours=k, subsamples=3)
    assert score.n == len(case.values)
    if want is None:
        assert score.value is None
        assert score.not_applicable
    else:
        assert score.value == pytest.approx(want, abs=1e-9, rel=1e-9)


def scene(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 4))
    vectors = hidden @ rng.normal(size=(4, 9))
    codes = np.maximum(hidden @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(n, 12)), 0)
    return codes.astype(np.float32), vectors


def value(*arguments: Any, **options: Any) -> float:
    score = cknna(*arguments, subsamples=2, **options)
    assert score.value is not None
    return score.value


def test_a_kernel_agrees_with_itself() -> None:
    codes, _ = scene()
    assert value(codes, codes) == pytest.approx(1, abs=1e-12)
    assert value(sp.csr_array(codes), codes * 7) == pytest.approx(1, abs=1e-12)


def test_it_is_symmetric_and_blind_to_scale_and_rotation() -> None:
    codes, vectors = scene()
    other = np.abs(vectors).astype(np.float32)
    assert value(codes, other) == pytest.approx(value(other, codes), abs=1e-12)
    assert value(codes * 8, other / 3) == pytest.approx(value(codes, other), abs=1e-9)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))
    assert value(codes, vectors @ turn) == pytest.approx(value(codes, vectors), abs=1e-9)


def test_unrelated_codes_are_near_zero_and_related_ones_between() -> None:
    codes, vectors = scene(300)
    shuffled = codes[np.random.default_rng(1).permutation(300)]
    assert abs(value(shuffled, vectors)) < 0.05 < value(codes, vectors) < 1


def test_all_rows_as_neighbours_is_unbiased_linear_cka() -> None:
    """With every other row a neighbour the masks are full, and CKNNA is CKA (Song et al.)."""
    codes, vectors = scene(20)

    def hsic(k: np.ndarray, s: np.ndarray) -> float:
        m, one = len(k), np.ones(len(k))
        k, s = k - np.diag(np.diag(k)), s - np.diag(np.diag(s))
        middle = (one @ k @ one) * (one @ s @ one) / ((m - 1) * (m - 2))
        return float(np.trace(k @ s) + middle - 2 / (m - 2) * (one @ k @ s @ one))

    k, s = vectors @ vectors.T, codes.astype(np.float64) @ codes.T.astype(np.float64)
    expected = hsic(k, s) / np.sqrt(hsic(k, k) * hsic(s, s))
    assert value(codes, vectors, neighbours=19) == pytest.approx(expected, abs=1e-9)


@given(match_cases(max_n=14), st.integers(0, 99), st.randoms(use_true_random=False))
@FEW
def test_row_order_changes_nothing_not_even_the_interval(
    case: Case, seed: int, random: Any
) -> None:
    vectors = np.random.default_rng(seed).integers(-2, 3, (len(case.values), 3))
    order = list(range(len(case.values)))
    random.shuffle(order)
    for options in ({}, {"max_rows": 9}):
        settings: Any = {"neighbours": 2, "subsamples": 4, **options}
        first = cknna(case.values, vectors, **settings)
        second = cknna(case.values[order], vectors[order], **settings)
        assert first == second


def test_container_changes_nothing() -> None:
    codes, vectors = scene(40)
    codes = np.round(codes * 4) / 4
    want = cknna(codes, vectors, subsamples=3)
    for container in set(MAGNITUDES) - {"int8", "uint8", "int64", "csr_int"}:
        got = cknna(hold(codes, container).codes, vectors.astype(np.float64), subsamples=3)
        assert got.value == pytest.approx(want.value, abs=1e-9), container


def test_more_rows_than_asked_for_are_sampled() -> None:
    codes, vectors = scene(120)
    some = cknna(codes, vectors, max_rows=60, subsamples=5)
    assert some.n == 60
    assert some == cknna(codes, vectors, max_rows=60, subsamples=5)
    assert some.value != cknna(codes, vectors, max_rows=60, subsamples=5, seed=1).value
    assert cknna(codes, vectors, max_rows=120, subsamples=5).value == value(codes, vectors)


def test_interval_is_of_half_size_subsamples_around_the_value() -> None:
    codes, vectors = scene(200)
    score = cknna(codes, vectors, subsamples=60)
    assert score.samples is not None
    assert score.samples.shape == (60,)
    assert score.samples.mean() == pytest.approx(score.value, abs=1e-12)
    assert score.ci95 is not None
    assert score.value is not None
    assert score.ci95[0] < score.value < score.ci95[1]
    moved = cknna(codes, vectors, subsamples=60, seed=1)
    assert moved.value == score.value
    assert moved.ci95 != score.ci95


def test_too_few_rows_or_nothing_to_vary_is_null() -> None:
    codes, vectors = scene(10)
    assert cknna(codes, vectors).value is None
    assert cknna(codes, vectors, neighbours=9).value is not None
    for still in (np.zeros((30, 3)), np.ones((30, 3))):
        score = cknna(still, scene(30)[1])
        assert score.value is None
        assert score.ci95 is None
        assert score.not_applicable == {"a kernel that does not vary": 30}


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"neighbours": 0}, "neighbours is 0"),
        ({"neighbours": 2.5}, "neighbours is 2.5"),
        ({"max_rows": 3}, "max_rows is 3"),
        ({"subsamples": 0}, "expected a whole number"),
        ({"embeddings": np.ones((3, 2))}, "3 rows but the latents have 20"),
        ({"embeddings": np.full((20, 2), np.inf)}, "row 0"),
        ({"codes": -np.ones((20, 2))}, "not negative"),
    ],
)
def test_bad_input(change: dict[str, Any], part: str) -> None:
    codes, vectors = scene(20)
    with pytest.raises(InputError, match=part):
        cknna(**{"codes": codes, "embeddings": vectors, **change})
