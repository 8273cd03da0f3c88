"""Dominance, quartiles and the one rule for what is active."""

from __future__ import annotations

from typing import Any

import metric_reference as ref
import metric_reference_latents as latents_ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, FEW, MAGNITUDES, VANISHING, Case, hold, match_cases

from benchmark.metrics import active, alive, dominance, quartiles


def dense(mask: Any) -> np.ndarray:
    return np.asarray(mask.toarray() if sp.issparse(mask) else mask)


@given(match_cases(), st.sampled_from(sorted(CONTAINERS)))
@CASES
def test_active_and_alive_are_brute_force(case: Case, container: str) -> None:
    held = hold(case.values, container)
    assert dense(active(held.codes)).astype(bool).tolist() == ref.binary(held.values)
    living = alive(held.codes)
    assert living.dtype == bool
    assert living.tolist() == latents_ref.alive(held.values)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
def test_active_is_decided_in_float32(wrap: Any) -> None:
    row = np.concatenate([VANISHING, [0.0, -0.0, 1e-44, 1e-38, 1.0]])
    expected = [False] * (len(VANISHING) + 2) + [True] * 3
    codes = wrap(row[None, :])
    assert dense(active(codes)).astype(bool)[0].tolist() == expected
    assert alive(codes).tolist() == expected


@given(match_cases(), st.sampled_from(MAGNITUDES))
@CASES
def test_dominance_is_brute_force(case: Case, container: str) -> None:
    held = hold(case.values, container)
    rho = dominance(held.codes)
    assert rho.dtype == np.float64
    np.testing.assert_allclose(rho, latents_ref.dominance(held.values), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_dominance_of_magnitudes_far_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(0, 12, (50, 9))) * (rng.random((50, 9)) < 0.5)
    values = values.astype(np.float32).astype(np.float64)
    for codes in (values, values.astype(np.float32), sp.csr_array(values), sp.csc_array(values)):
        np.testing.assert_allclose(dominance(codes), latents_ref.dominance(values), rtol=1e-12)


def test_dominance_by_hand() -> None:
    codes = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    assert dominance(codes).tolist() == [0.4375, 0.3125, 0.0]


@given(match_cases(), st.sampled_from(MAGNITUDES))
@FEW
def test_dominance_sums_to_the_share_of_busy_rows(case: Case, container: str) -> None:
    held = hold(case.values, container)
    busy = np.mean([any(row) for row in ref.binary(held.values)])
    assert dominance(held.codes).sum() == pytest.approx(busy, abs=1e-12)


def test_vanishing_values_have_no_share() -> None:
    codes = np.array([[1e-50, 0.0], [1e-50, 2.0]])
    assert dominance(codes).tolist() == [0.0, 0.5]
    assert dominance(sp.csr_array(codes)).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(10))
def test_row_order_moves_no_bit(seed: int, wrap: Any) -> None:
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(0, 5, (401, 17))) * (rng.random((401, 17)) < 0.4)
    values = values.astype(np.float32)
    before = dominance(wrap(values))
    for _ in range(3):
        after = dominance(wrap(values[rng.permutation(401)]))
        assert after.tobytes() == before.tobytes()


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_array])
def test_same_terms_in_another_order_tie_exactly(wrap: Any) -> None:
    """Latents 1 and 0 have the same shares on different rows: equal bits, lower index first."""
    rng = np.random.default_rng(1)
    share = rng.integers(1, 1000, 300).astype(np.float64)
    codes = np.zeros((300, 4))
    codes[:, 0], codes[:, 2] = share, 1000 - share
    shuffled = rng.permutation(300)
    both = np.zeros((600, 4))
    both[:300] = codes
    both[300:, 1], both[300:, 3] = share[shuffled], 1000 - share[shuffled]
    rho = dominance(wrap(both))
    assert rho[0] == rho[1]
    assert rho[2] == rho[3]


def test_explicit_zeros_move_no_bit() -> None:
    """Stored zeros would regroup a sum of rounded terms and could break a tie."""
    rng = np.random.default_rng(0)
    values = rng.random((401, 30)) * (rng.random((401, 30)) < 0.3)
    stored = hold(values, "csr_zeros").codes
    assert stored.nnz == values.size
    bare = sp.csr_array(values.astype(np.float32))
    assert dominance(stored).tobytes() == dominance(bare).tobytes()
    assert dominance(values.astype(np.float32)).tobytes() == dominance(bare).tobytes()
    tiny = np.where(values > 0, values.astype(np.float32), 1e-60)
    assert dominance(tiny).tobytes() == dominance(bare).tobytes()


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.5]), st.booleans()), max_size=30).filter(
        len
    )
)
@CASES
def test_quartiles_are_brute_force(latents: list[tuple[float, bool]]) -> None:
    rho = np.array([share for share, _ in latents])
    living = np.array([is_alive for _, is_alive in latents])
    labels = quartiles(rho, living)
    assert np.issubdtype(labels.dtype, np.integer)
    assert labels.tolist() == latents_ref.quartiles(rho.tolist(), living.tolist())


@pytest.mark.parametrize("count", range(13))
def test_larger_groups_come_first(count: int) -> None:
    rho = np.linspace(1, 0.5, count + 2)
    living = np.ones(count + 2, dtype=bool)
    living[[0, -1]] = False
    labels = quartiles(rho, living)
    sizes = [int((labels == q).sum()) for q in (0, 1, 2, 3, 4)]
    assert sizes == [2] + [count // 4 + (q < count % 4) for q in range(4)]


def test_ties_go_to_the_lower_index() -> None:
    labels = quartiles(np.full(8, 0.125), np.ones(8, dtype=bool))
    assert labels.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


def test_alive_decides_and_not_the_share() -> None:
    labels = quartiles(np.array([0.9, 0.1]), np.array([False, True]))
    assert labels.tolist() == [0, 1]


def test_all_dead() -> None:
    assert quartiles(np.zeros(5), np.zeros(5, dtype=bool)).tolist() == [0] * 5
