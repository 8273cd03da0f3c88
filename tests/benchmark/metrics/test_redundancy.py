"""Decoder redundancy: exact pairs, quartile shares, sharding."""

from __future__ import annotations

import itertools
from typing import Any

import metric_reference as ref
import metric_reference_latents as latents_ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from metric_cases import CASES, FEW

from benchmark.metrics import (
    decoder_redundancy,
    enrichment_q1_score,
    quartiles,
    redundant_fraction_score,
)


@st.composite
def decoders(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small integer rows (many equal directions, opposites, zeros), shares, who is alive."""
    d = draw(st.integers(1, 14))
    width = draw(st.integers(1, 4))
    row = st.lists(st.integers(-2, 2), min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=d, max_size=d))
    rho = draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=d, max_size=d))
    living = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=d, max_size=d))
    return np.array(rows, dtype=np.float64), np.array(rho), np.array(living)


def check(result: Any, want: latents_ref.Redundant) -> None:
    assert result.n_pairs == len(want.pairs)
    assert len(result.pairs) == len(want.pairs)
    cosines = [pair[2] for pair in result.pairs]
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(cosines))
    got = {(i, j): cosine for i, j, cosine in result.pairs}
    assert set(got) == {(i, j) for i, j, _ in want.pairs}
    for i, j, cosine in want.pairs:
        assert got[i, j] == pytest.approx(cosine, abs=1e-12)
    assert list(result.within_quartile) == want.within_quartile
    assert result.zero_rows == want.zero_rows
    if want.enrichment_q1 is None:
        assert result.enrichment_q1 is None
    elif want.zero_rows == 0:
        assert result.enrichment_q1 == pytest.approx(want.enrichment_q1, abs=1e-12)


@given(decoders(), st.sampled_from([0.7, 0.5, 0.9, 0.3]), st.sampled_from([np.float64, np.float32]))
@CASES
def test_brute_force(
    case: tuple[np.ndarray, np.ndarray, np.ndarray], threshold: float, dtype: type
) -> None:
    decoder, rho, living = case
    want = latents_ref.redundancy(decoder, rho.tolist(), living.tolist(), threshold)
    assume(want.nearest > 1e-9)
    result = decoder_redundancy(decoder.astype(dtype), rho, living, threshold=threshold)
    check(result, want)
    if want.zero_rows == 0:
        if want.redundant_fraction is None:
            assert result.redundant_fraction is None
        else:
            assert result.redundant_fraction == pytest.approx(want.redundant_fraction, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_on_random_directions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 60
    decoder = rng.normal(size=(d, 3)) * np.exp(rng.normal(0, 3, (d, 1)))
    rho, living = rng.random(d), rng.random(d) < 0.8
    want = latents_ref.redundancy(decoder, rho.tolist(), living.tolist(), 0.7)
    check(decoder_redundancy(decoder, rho, living), want)
    check(decoder_redundancy(decoder * 1e-3, rho, living), want)


def test_default_threshold_is_reached_not_passed() -> None:
    """(1, 0, 0, 0) and (7, 7, 1, 1)/10 have cosine 0.7 exactly: a pair."""
    exact = np.array([[1, 0, 0, 0], [7, 7, 1, 1]], dtype=np.float64)
    for decoder in (exact, exact * 3, exact / 8, exact.astype(np.float32)):
        result = decoder_redundancy(decoder, np.array([0.5, 0.5]), np.array([True, True]))
        assert result.n_pairs == 1
    under = np.array([[1.0, 0, 0, 0], [6.999999, 7, 1, 1]])
    assert decoder_redundancy(under, np.array([0.5, 0.5]), np.array([True, True])).n_pairs == 0


def test_opposite_directions_are_no_pair() -> None:
    decoder = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert decoder_redundancy(decoder, np.array([0.5, 0.5]), np.array([True, True])).n_pairs == 0


def test_dead_latents_are_left_out() -> None:
    decoder = np.ones((3, 2))
    result = decoder_redundancy(decoder, np.array([0.0, 0.5, 0.5]), np.array([False, True, True]))
    assert result.n_pairs == 1
    assert tuple(result.pairs[0][:2]) == (1, 2)
    assert result.redundant_fraction == 1.0


def test_zero_rows_are_counted_and_no_pairs() -> None:
    decoder = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    result = decoder_redundancy(decoder, np.full(5, 0.2), np.ones(5, dtype=bool))
    assert result.zero_rows == 2
    assert result.n_pairs == 1
    assert np.isfinite([pair[2] for pair in result.pairs]).all()


def test_redundant_fraction_is_over_applicable_latents() -> None:
    """A zero-norm row is not applicable: it does not dilute the fraction."""
    decoder = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    result = decoder_redundancy(decoder, np.full(5, 0.2), np.ones(5, dtype=bool))
    assert result.redundant_fraction == pytest.approx(2 / 3)


@given(decoders())
@FEW
def test_no_number_is_nan(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    result = decoder_redundancy(*case)
    for value in (result.enrichment_q1, result.redundant_fraction):
        assert value is None or np.isfinite(value)
    for score in (
        enrichment_q1_score(result, resamples=20),
        redundant_fraction_score(result, resamples=20),
    ):
        assert score.value is None or np.isfinite(score.value)
        assert score.ci95 is None or np.isfinite(score.ci95).all()
    assert enrichment_q1_score(result, resamples=20).value == result.enrichment_q1
    assert redundant_fraction_score(result, resamples=20).value == result.redundant_fraction


def test_enrichment_is_against_the_alive_latents() -> None:
    """All of Q1 has zero rows: no endpoint of three pairs is there, and that is no NaN."""
    decoder = np.array([[0.0], [1.0], [1.0], [1.0]])
    result = decoder_redundancy(decoder, np.array([0.4, 0.3, 0.2, 0.1]), np.ones(4, dtype=bool))
    assert result.n_pairs == 3
    assert result.enrichment_q1 == 0.0


def test_exact_cosines_at_the_threshold_are_pairs() -> None:
    """49·|a|²·|b|² = 100·(a·b)² in integers: the cosine is 0.7, which is enough."""
    for a, b in (
        ((2, 3, 6, 1), (2, 7, 3, 6)),
        ((1, 2, 6, 3), (5, 0, 3, 4)),
        ((2, 4, 1, 2), (1, 3, 5, 1)),
        ((2, 6, 1, 3), (2, 1, 2, 3)),
        ((2, 1, 2, 3), (1, 6, 2, 3)),
    ):
        decoder = np.array([a, b], dtype=np.float64)
        result = decoder_redundancy(decoder, np.array([0.5, 0.5]), np.array([True, True]))
        assert result.n_pairs == 1, (a, b)


def test_no_pairs_is_null_where_a_share_is_asked() -> None:
    result = decoder_redundancy(np.eye(4), np.full(4, 0.25), np.ones(4, dtype=bool))
    assert result.n_pairs == 0
    assert list(result.pairs) == []
    assert list(result.within_quartile) == [0, 0, 0, 0]
    assert result.enrichment_q1 is None
    assert result.redundant_fraction == 0.0


def test_no_living_latent_is_null() -> None:
    result = decoder_redundancy(np.eye(3), np.zeros(3), np.zeros(3, dtype=bool))
    assert result.n_pairs == 0
    assert result.redundant_fraction is None
    assert result.enrichment_q1 is None


def test_enrichment_by_hand() -> None:
    """Q1 = latents 0, 1; pairs 0-1, 0-2, 1-2: 4 of 6 endpoints against 2 of 8 latents."""
    decoder = np.zeros((8, 8))
    decoder[[0, 1, 2], 0] = 1.0
    decoder[[3, 4, 5, 6, 7], [1, 2, 3, 4, 5]] = 1.0
    rho = np.linspace(0.8, 0.1, 8)
    result = decoder_redundancy(decoder, rho, np.ones(8, dtype=bool))
    assert result.n_pairs == 3
    assert list(result.within_quartile) == [1, 0, 0, 0]
    assert result.enrichment_q1 == pytest.approx((4 / 6) / (2 / 8))


def test_all_alike_has_every_pair() -> None:
    d = 700
    decoder = np.tile(np.array([[0.6, 0.8]]), (d, 1)) * np.arange(1, d + 1)[:, None]
    rho = np.linspace(1, 0.1, d)
    result = decoder_redundancy(decoder, rho, np.ones(d, dtype=bool))
    assert result.n_pairs == d * (d - 1) // 2
    sizes = [int((quartiles(rho, np.ones(d, dtype=bool)) == q).sum()) for q in (1, 2, 3, 4)]
    assert list(result.within_quartile) == [s * (s - 1) // 2 for s in sizes]
    assert result.enrichment_q1 == pytest.approx(1.0)


def test_large_dictionaries_are_searched_whole() -> None:
    """Copies planted far apart, so that they meet only across any blocks of the search."""
    rng = np.random.default_rng(0)
    d = 9001
    decoder = rng.normal(size=(d, 40)).astype(np.float32)
    for i, j in ((0, 9000), (1, 4096), (4095, 4096), (5000, 8200), (8191, 8192)):
        decoder[j] = 3 * decoder[i] + 0.1 * rng.normal(size=40)
    rho, living = rng.random(d), rng.random(d) < 0.9
    living[[0, 1, 4095, 4096, 5000, 8191, 8192, 8200, 9000]] = True
    unit = decoder.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    want = set()
    for start in range(0, d, 1000):
        near = np.argwhere(unit[start : start + 1000] @ unit.T >= 0.7)
        want |= {(int(i) + start, int(j)) for i, j in near}
    want = {(i, j) for i, j in want if i < j and living[i] and living[j]}
    result = decoder_redundancy(decoder, rho, living)
    assert {pair[:2] for pair in result.pairs} == want
    assert result.n_pairs == len(want) >= 5
    labels = quartiles(rho, living)
    within = [sum(labels[i] == labels[j] == q for i, j in want) for q in (1, 2, 3, 4)]
    assert list(result.within_quartile) == within


def test_pair_count_is_exact_where_the_list_is_cut() -> None:
    """1,500 equal rows have 1,124,250 pairs; the list keeps the strongest million."""
    d = 1500
    decoder = np.ones((d, 2))
    decoder[0] = [1.0, 0.9]
    result = decoder_redundancy(decoder, np.linspace(1, 0.1, d), np.ones(d, dtype=bool))
    assert result.n_pairs == d * (d - 1) // 2
    assert len(result.pairs) == 1_000_000
    weak = latents_ref.cosine([1.0, 0.9], [1.0, 1.0])
    assert weak is not None
    assert min(pair[2] for pair in result.pairs) > weak
    assert sum(result.within_quartile) == 4 * (375 * 374 // 2)


@given(decoders(), st.randoms(use_true_random=False))
@FEW
def test_scaling_rows_changes_nothing(
    case: tuple[np.ndarray, np.ndarray, np.ndarray], random: Any
) -> None:
    decoder, rho, living = case
    assume(latents_ref.redundancy(decoder, rho.tolist(), living.tolist(), 0.7).nearest > 1e-9)
    scale = np.array([random.choice([1e-6, 0.5, 3.0, 1e6]) for _ in rho])[:, None]
    before = decoder_redundancy(decoder, rho, living)
    after = decoder_redundancy(decoder * scale, rho, living)
    assert before.n_pairs == after.n_pairs
    assert list(before.within_quartile) == list(after.within_quartile)
    assert before.enrichment_q1 == after.enrichment_q1


def sharded_case() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four latents with one decoder direction; only 0-2 differ in encoder and activity."""
    decoder = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [1.0, 0.3]])
    encoder = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    codes = np.zeros((40, 4))
    codes[0:20, 0] = 1.0
    codes[0:20, 1] = 2.0
    codes[20:40, 2] = 3.0
    codes[0:40, 3] = 1.0
    return decoder, encoder, codes


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_array])
def test_sharded_pairs_need_both_differences(wrap: Any) -> None:
    decoder, encoder, codes = sharded_case()
    result = decoder_redundancy(
        decoder, np.full(4, 0.25), np.ones(4, dtype=bool), encoder=encoder, codes=wrap(codes)
    )
    assert result.n_pairs == 6
    want = {}
    for i, j, cosine in latents_ref.redundancy(decoder, [0.25] * 4, [True] * 4, 0.7).pairs:
        e = latents_ref.cosine(encoder[i].tolist(), encoder[j].tolist())
        z = ref.binary(codes)
        share = latents_ref.jaccard(ref.column(z, i), ref.column(z, j))
        assert e is not None
        assert share is not None
        if e < 0.3 and share < 0.1:
            want[i, j] = (cosine, e, share)
    assert set(want) == {(0, 2), (1, 2)}
    got = {s.pair: (s.decoder_cosine, s.encoder_cosine, s.jaccard) for s in result.sharded or ()}
    assert set(got) == set(want)
    for pair, numbers in want.items():
        assert got[pair] == pytest.approx(numbers, abs=1e-12)


def test_sharding_without_encoder_or_codes_is_null() -> None:
    decoder, encoder, codes = sharded_case()
    rho, living = np.full(4, 0.25), np.ones(4, dtype=bool)
    assert decoder_redundancy(decoder, rho, living).sharded is None
    assert decoder_redundancy(decoder, rho, living, encoder=encoder).sharded is None
    assert decoder_redundancy(decoder, rho, living, codes=codes).sharded is None
