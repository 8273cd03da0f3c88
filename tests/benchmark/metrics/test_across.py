"""Statistics over SAEs, against enumeration and plain restatements."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import FEW

from benchmark.metrics import InputError, quartile_test, sparsity_trap


def signed_rank_p(differences: list[float]) -> float:
    """Exact two-sided p by trying every assignment of signs; no ties, no zeros."""
    order = sorted(range(len(differences)), key=lambda i: abs(differences[i]))
    ranks = {i: rank for rank, i in enumerate(order, start=1)}
    total = sum(ranks.values())

    def smaller(positive: list[bool]) -> int:
        up = sum(ranks[i] for i, plus in enumerate(positive) if plus)
        return min(up, total - up)

    observed = smaller([value > 0 for value in differences])
    signs = list(itertools.product([True, False], repeat=len(differences)))
    return sum(smaller(list(s)) <= observed for s in signs) / len(signs)


@given(st.integers(6, 9), st.integers(0, 10_000))
@FEW
def test_p_is_that_of_every_sign(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((n, 4))
    table[:, 0] += rng.uniform(-0.5, 0.8)
    apart = [row[0] - (row[1] + row[2] + row[3]) / 3 for row in table.tolist()]
    test = quartile_test([*table.tolist(), None], resamples=50)
    assert test.p_value == pytest.approx(signed_rank_p(apart))
    assert test.difference.value == pytest.approx(statistics.mean(apart))
    assert test.difference.n == n
    assert test.difference.not_applicable == {"no redundant pairs inside a quartile": 1}
    assert test.cohens_d == pytest.approx(statistics.mean(apart) / statistics.stdev(apart))
    assert test.means == pytest.approx(tuple(table.mean(axis=0)))


def test_few_saes_have_a_mean_but_no_p() -> None:
    four = [0.7, 0.1, 0.1, 0.1]
    one = quartile_test([four])
    assert one.difference.value == pytest.approx(0.6)
    assert one.difference.ci95 is None
    assert one.p_value is None
    assert one.cohens_d is None
    assert quartile_test([four, [0.5, 0.2, 0.2, 0.1]]).cohens_d is not None
    assert quartile_test([[0.4 + i / 10, 0.1, 0.1, 0.1] for i in range(5)]).p_value is None
    assert quartile_test([[0.4 + i / 10, 0.1, 0.1, 0.1] for i in range(6)]).p_value == 2 / 2**6


def test_equal_differences_have_no_effect_size() -> None:
    # 0.6 away each, but the last bits of the means differ
    rows = [[0.7 + i / 10, 0.1 + i / 10, 0.1 + i / 10, 0.1 + i / 10] for i in range(7)]
    assert quartile_test(rows).cohens_d is None


def test_nothing_to_test_is_null() -> None:
    assert quartile_test([]).difference.value is None
    none = quartile_test([None, None])
    assert none.means is None
    assert none.difference.not_applicable == {"no redundant pairs inside a quartile": 2}
    alike = quartile_test([[0.1, 0.1, 0.1, 0.1]] * 8)
    assert alike.p_value is None
    assert alike.cohens_d is None


@pytest.mark.parametrize("four", [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3, float("nan")]])
def test_quartiles_must_be_four_finite_numbers(four: list[float]) -> None:
    with pytest.raises(InputError, match="SAE 0"):
        quartile_test([four])


def ranks(values: list[float]) -> list[float]:
    return [
        sum(v < value for v in values) + (1 + sum(v == value for v in values)) / 2
        for value in values
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=12))
@FEW
def test_spearman_is_the_correlation_of_ranks(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    trap = sparsity_trap([*x, None, 3.0], [*y, 1.0, None], resamples=30)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert trap.rho.value is None
        assert trap.p_value is None
        return
    assert trap.rho.value == pytest.approx(statistics.correlation(ranks(x), ranks(y)))
    assert trap.rho.n == len(pairs)
    assert trap.rho.not_applicable == {"L0 or concentration not applicable": 2}
    assert trap.rho.ci95 is None or -1 <= trap.rho.ci95[0] <= trap.rho.ci95[1] <= 1


def test_sparser_and_more_concentrated_is_below_zero() -> None:
    l0 = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0]
    trap = sparsity_trap(l0, [1 / value for value in l0])
    assert trap.rho.value == pytest.approx(-1)
    assert trap.p_value is not None
    assert trap.p_value < 1e-3


def test_too_few_saes_have_no_correlation() -> None:
    trap = sparsity_trap([1.0, 2.0, None], [0.1, 0.2, 0.3])
    assert trap.rho.value is None
    assert trap.rho.not_applicable == {
        "fewer than 6 SAEs": 2,
        "L0 or concentration not applicable": 1,
    }
    with pytest.raises(InputError, match="expected one each"):
        sparsity_trap([1.0], [])
