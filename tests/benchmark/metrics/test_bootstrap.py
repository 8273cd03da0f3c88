"""Bootstrap intervals: against a plain loop, known variances, pairing and strata."""

from __future__ import annotations

import math
from typing import Any

import metric_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.metrics import (
    Score,
    dead_fraction,
    explained_variance,
    l0,
    match_concepts,
    match_score,
    tapa_score,
)


def width(score: Score) -> float:
    assert score.ci95 is not None
    return score.ci95[1] - score.ci95[0]


def samples(score: Any) -> np.ndarray:
    assert score.samples is not None
    return np.asarray(score.samples)


def scene(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    concepts = rng.random((n, 5)) < np.array([0.05, 0.2, 0.3, 0.5, 0.8])
    noise = rng.random((n, 5)) < 0.25
    return (concepts ^ noise).astype(np.float64), concepts


SINGLES = [(0,), (1,), (2,), (3,), (4,)]


@pytest.mark.parametrize("seed", range(3))
def test_match_score_resamples_like_a_plain_loop(seed: int) -> None:
    codes, concepts = scene(seed)
    ours = samples(match_score(codes, concepts, SINGLES, resamples=2000, seed=seed))
    loop = np.array(ref.bootstrap_match_score(codes, concepts, SINGLES, 400, 99))
    assert ours.shape == (2000,)
    assert ours.dtype == np.float64
    spread = loop.std()
    assert ours.std() == pytest.approx(spread, rel=0.15)
    assert ours.mean() == pytest.approx(loop.mean(), abs=5 * spread / math.sqrt(400))
    for q in (2.5, 50, 97.5):
        assert np.percentile(ours, q) == pytest.approx(np.percentile(loop, q), abs=0.35 * spread)


def test_interval_is_the_percentiles_of_the_samples() -> None:
    codes, concepts = scene()
    score = match_score(codes, concepts, SINGLES)
    assert samples(score).shape == (1000,)
    assert score.ci95 == pytest.approx(tuple(np.percentile(samples(score), [2.5, 97.5])), abs=1e-12)
    assert all(type(bound) is float for bound in score.ci95 or ())


def test_rows_are_resampled_and_not_concepts() -> None:
    """One perfect and one unmatched concept: resampling concepts would widen this."""
    codes = np.tile(np.array([[1.0, 0.0], [0.0, 0.0]]), (20, 1))
    concepts = np.tile(np.array([[True, True], [False, False]]), (20, 1))
    score = match_score(codes, concepts, [(0,), (1,)])
    assert score.value == 0.5
    assert score.ci95 == (0.5, 0.5)


def test_concept_without_positives_in_a_resample_is_left_out() -> None:
    codes = np.zeros((30, 2))
    codes[:15, 0], codes[0, 1] = 1.0, 1.0
    score = match_score(codes, codes > 0, [(0,), (1,)])
    assert score.value == 1.0
    assert score.ci95 == (1.0, 1.0)
    assert (samples(score) == 1.0).all()
    missed = match_score(codes, codes > 0, [(0,), ()])
    assert missed.value == 0.5
    found = samples(missed)
    assert set(np.unique(found)) == {0.5, 1.0}
    assert (found == 1.0).mean() == pytest.approx((1 - 1 / 30) ** 30, abs=0.08)


def test_rare_only_concept_leaves_no_nan_in_the_interval() -> None:
    """Some resamples have no applicable concept at all: they are no zeros."""
    codes = np.zeros((30, 1))
    codes[0] = 1.0
    score = match_score(codes, codes > 0, [(0,)])
    assert score.value == 1.0
    assert score.ci95 == (1.0, 1.0)


def test_l0_width_is_the_normal_approximation() -> None:
    rng = np.random.default_rng(0)
    codes = (rng.random((500, 40)) < 0.2).astype(np.float32)
    counts = codes.sum(axis=1)
    for given in (codes, sp.csr_array(codes)):
        score = l0(given)
        assert width(score) == pytest.approx(2 * 1.96 * counts.std() / math.sqrt(500), rel=0.12)


def test_explained_variance_interval() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    guess = x + 0.5 * rng.normal(size=x.shape)
    score = explained_variance(x, guess, resamples=1000, seed=0)
    loop = []
    for _ in range(300):
        rows = rng.integers(0, 400, 400)
        error = ((x[rows] - guess[rows]) ** 2).sum()
        total = ((x[rows] - x[rows].mean(axis=0)) ** 2).sum()
        loop.append(1 - error / total)
    assert score.ci95 is not None
    assert score.value is not None
    assert score.ci95[0] < score.value < score.ci95[1]
    assert width(score) == pytest.approx(4 * np.std(loop), rel=0.25)
    assert explained_variance(x, x, resamples=50, seed=0).ci95 == (1.0, 1.0)


def runs(seed: int, resamples: int = 200) -> list[Any]:
    codes, concepts = scene()
    rng = np.random.default_rng(5)
    edited = (rng.random(codes.shape) < 0.4).astype(np.float64)
    x = rng.normal(size=(60, 3))
    guess = x + rng.normal(size=x.shape)
    added = [i % 5 if i % 3 else None for i in range(60)]
    removed = [(i + 1) % 5 if i % 3 != 1 else None for i in range(60)]
    tapa = tapa_score(
        codes,
        edited,
        SINGLES,
        added=added,
        removed=removed,
        present=concepts,
        resamples=resamples,
        seed=seed,
    )
    return [
        match_score(codes, concepts, SINGLES, resamples=resamples, seed=seed),
        match_score(
            codes,
            concepts,
            match_concepts(codes, concepts, matcher="nn_omp"),
            resamples=resamples,
            seed=seed,
        ),
        tapa,
        tapa.stay,
        explained_variance(x, guess, resamples=resamples, seed=seed),
    ]


def test_same_seed_same_bytes() -> None:
    for first, second in zip(runs(7), runs(7), strict=True):
        assert first.value == second.value
        assert first.ci95 == second.ci95
        assert samples(first).tobytes() == samples(second).tobytes()


def test_seed_moves_the_interval_and_never_the_value() -> None:
    for first, second in zip(runs(0), runs(1), strict=True):
        assert first.value == second.value
        assert samples(first).tobytes() != samples(second).tobytes()


def test_number_of_resamples_never_moves_the_value() -> None:
    for first, second in zip(runs(0, 50), runs(0, 333), strict=True):
        assert first.value == second.value
        assert samples(first).shape == (50,)
        assert samples(second).shape == (333,)


def test_default_is_a_thousand_resamples_of_seed_zero() -> None:
    codes, concepts = scene()
    default = match_score(codes, concepts, SINGLES)
    spelt = match_score(codes, concepts, SINGLES, resamples=1000, seed=0)
    assert samples(default).tobytes() == samples(spelt).tobytes()


def test_paired_difference_of_identical_things_is_exactly_zero() -> None:
    """The same predictions from different latents share every resample."""
    codes, concepts = scene()
    wide = np.repeat(codes, 3, axis=1) * 2.5
    other = [(3 * j + 1, 3 * j) for j in range(5)]
    first = match_score(codes, concepts, SINGLES)
    second = match_score(sp.csr_array(wide), concepts, other)
    difference = samples(first) - samples(second)
    assert not difference.any()
    edits: Any = {"added": [j % 5 for j in range(60)], "removed": [None] * 60}
    edited = np.roll(codes, 7, axis=0)
    third = tapa_score(codes, edited, SINGLES, **edits)
    fourth = tapa_score(wide, np.roll(wide, 7, axis=0), other, **edits)
    assert not (samples(third) - samples(fourth)).any()


def test_both_sides_of_a_difference_see_the_same_rows() -> None:
    """Two near-equal codes: the spread of the difference is that of the rows that differ."""
    codes, concepts = scene(1, 300)
    near = codes.copy()
    near[0, 3] = 1 - near[0, 3]
    first, second = (samples(match_score(c, concepts, SINGLES)) for c in (codes, near))
    assert np.corrcoef(first, second)[0, 1] > 0.99
    assert (first - second).std() < 0.1 * first.std()
    edits: Any = {"added": [j % 5 for j in range(300)], "removed": [None] * 300}
    edited = np.roll(codes, 7, axis=0)
    third, fourth = (samples(tapa_score(c, edited, SINGLES, **edits)) for c in (codes, near))
    assert np.corrcoef(third, fourth)[0, 1] > 0.98


def test_intervals_shrink_with_the_number_of_rows() -> None:
    few, many = scene(2, 100), scene(2, 1600)
    ratio = width(match_score(*few, SINGLES)) / width(match_score(*many, SINGLES))
    assert 2.5 < ratio < 6


def test_permuting_rows_moves_only_resampling_noise() -> None:
    codes, concepts = scene(0, 200)
    order = np.random.default_rng(0).permutation(200)
    before = match_score(codes, concepts, SINGLES)
    after = match_score(codes[order], concepts[order], SINGLES)
    assert before.value == after.value
    assert width(before) == pytest.approx(width(after), rel=0.15)


def test_one_row_has_an_interval_of_no_width() -> None:
    score = match_score(np.ones((1, 1)), np.ones((1, 1), dtype=bool), [(0,)])
    assert (score.value, score.ci95) == (1.0, (1.0, 1.0))


def test_dead_fraction_has_a_finite_interval_or_none() -> None:
    rng = np.random.default_rng(0)
    score = dead_fraction((rng.random((50, 30)) < 0.02).astype(np.float32))
    if score.ci95 is not None:
        low, high = score.ci95
        assert 0.0 <= low <= high <= 1.0
