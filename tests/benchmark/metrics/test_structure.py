"""L0, dead fraction and explained variance."""

from __future__ import annotations

from typing import Any

import metric_reference as ref
import metric_reference_latents as latents_ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, VANISHING, Case, hold, match_cases

from benchmark.metrics import dead_fraction, explained_variance, l0, l0_median


@given(match_cases(), st.sampled_from(sorted(CONTAINERS)))
@CASES
def test_l0_and_dead_fraction_are_brute_force(case: Case, container: str) -> None:
    held = hold(case.values, container)
    z = ref.binary(held.values)
    counts = [sum(row) for row in z]
    score = l0(held.codes)
    assert score.value == pytest.approx(sum(counts) / len(counts), abs=1e-12)
    assert score.n == len(counts)
    assert l0_median(held.codes) == pytest.approx(float(np.median(counts)), abs=1e-12)
    dead = dead_fraction(held.codes)
    living = latents_ref.alive(held.values)
    assert dead.value == pytest.approx(living.count(False) / len(living), abs=1e-12)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.coo_array])
def test_vanishing_values_do_not_count(wrap: Any) -> None:
    codes = wrap(np.concatenate([VANISHING, [1.0, 1e-44]])[None, :])
    assert l0(codes).value == 2.0
    assert dead_fraction(codes).value == pytest.approx(4 / 6)


@pytest.mark.parametrize("container", ["float16", "uint8", "int8", "bool", "csr_bool", "csr"])
def test_wide_rows_do_not_overflow(container: str) -> None:
    codes = CONTAINERS[container](np.ones((3, 4099)), np.random.default_rng(0))
    assert l0(codes).value == 4099.0
    assert l0_median(codes) == 4099.0
    assert dead_fraction(codes).value == 0.0


def test_silent_codes() -> None:
    assert l0(np.zeros((5, 3))).value == 0.0
    assert dead_fraction(np.zeros((5, 3))).value == 1.0


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 10_000), st.sampled_from(["64", "32"]))
@CASES
def test_explained_variance_is_brute_force(n: int, width: int, seed: int, bits: str) -> None:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(f"float{bits}")
    x = rng.integers(-3, 4, (n, width)).astype(dtype)
    if seed % 2:
        x = rng.normal(3, 2, (n, width)).astype(dtype)
    guess = (x + rng.choice([0.0, 0.1, 1.0, 5.0]) * rng.normal(size=x.shape)).astype(dtype)
    want = latents_ref.explained_variance(x, guess)
    score = explained_variance(x, guess, resamples=20, seed=0)
    if want is None:
        assert score.value is None
        assert score.ci95 is None
        assert sum(score.not_applicable.values()) > 0
        return
    assert score.value == pytest.approx(want, rel=1e-9, abs=1e-9)
    assert score.n == n


def test_explained_variance_fixed_points() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(5, 1, (40, 3))
    mean = np.broadcast_to(x.mean(axis=0), x.shape)
    assert explained_variance(x, x, resamples=20, seed=0).value == 1.0
    assert explained_variance(x, mean, resamples=20, seed=0).value == pytest.approx(0, abs=1e-12)
    worse = explained_variance(x, -x, resamples=20, seed=0).value
    assert worse is not None
    assert worse < -10


def test_explained_variance_survives_a_large_offset() -> None:
    """float32 features far from the origin: sums of squares must not cancel."""
    rng = np.random.default_rng(0)
    x = (3000 + rng.normal(size=(500, 8))).astype(np.float32)
    guess = (x + 0.3 * rng.normal(size=x.shape)).astype(np.float32)
    want = latents_ref.explained_variance(x, guess)
    assert want is not None
    score = explained_variance(x, guess, resamples=10, seed=0)
    assert score.value == pytest.approx(want, abs=1e-9)


def test_explained_variance_pools_over_dimensions() -> None:
    """Totals over all dimensions, not a mean of per-dimension ratios."""
    x = np.array([[0.0, 0.0], [10.0, 1.0]])
    guess = np.array([[0.0, 1.0], [10.0, 0.0]])
    score = explained_variance(x, guess, resamples=10, seed=0)
    assert score.value == pytest.approx(1 - 2 / 50.5, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_row_order_never_moves_the_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = (rng.random((53, 7)) < 0.4) * rng.random((53, 7))
    order = rng.permutation(53)
    assert l0(codes).value == l0(codes[order]).value
    assert l0_median(codes) == l0_median(codes[order])
    assert dead_fraction(codes).value == dead_fraction(codes[order]).value
    x = rng.normal(2, 1, (53, 4)).astype(np.float32)
    guess = x + rng.normal(0, 0.2, x.shape).astype(np.float32)
    before = explained_variance(x, guess, resamples=10, seed=0).value
    after = explained_variance(x[order], guess[order], resamples=10, seed=0).value
    assert before == pytest.approx(after, abs=1e-12)
