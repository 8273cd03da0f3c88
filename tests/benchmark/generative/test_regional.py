"""R-SaD: running sums, null, interval and rankings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.generative import MapSums, compare_regions, ranked, regional_divergence
from benchmark.generative import maps as maps_module
from benchmark.metrics import InputError


def maps(seed: int, n: int, attributes: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).random((n, attributes, 3, 4), dtype=np.float32)


def test_regional_divergence_is_the_difference_of_means():
    real, generated = maps(0, 9), maps(1, 5)
    found = regional_divergence(real, generated)
    expected = real.astype(float).mean(axis=0) - generated.astype(float).mean(axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(regional_divergence(generated, real), -found)
    order = np.random.default_rng(0).permutation(9)
    np.testing.assert_array_equal(regional_divergence(real[order], generated), found)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.lists(st.integers(1, 7), min_size=6, max_size=40), st.integers(0, 99))
def test_sums_do_not_depend_on_batches_or_order(n, batches, seed):
    whole = maps(seed, n)
    sums = MapSums(n, whole.shape[1:])
    start = 0
    for size in [*batches, n]:
        if start < n:
            sums.add(start, whole[start : start + size])
            start += size
    np.testing.assert_array_equal(sums.mean(), MapSums.of(whole).mean())
    order = np.random.default_rng(seed).permutation(n)
    np.testing.assert_array_equal(sums.mean(), MapSums.of(whole[order]).mean())
    np.testing.assert_allclose(sums.mean(), whole.astype(float).mean(axis=0), atol=1e-9)


def test_blocks_bound_the_memory_and_hold_every_image(monkeypatch):
    monkeypatch.setattr(maps_module, "MAX_BLOCKS", 8)
    whole = maps(2, 45)
    sums = MapSums.of(whole)
    assert sums.block_size == 8
    assert len(sums.counts) == 6
    assert sorted(sums.counts.tolist()) == [5, 8, 8, 8, 8, 8]
    assert MapSums.of(maps(2, 8)).block_size == 1
    # the finer of two sets is brought to the blocks of the coarser
    fine = MapSums.of(maps(3, 30))
    assert fine.block_size == 4
    values, counts = fine.blocks(8)
    assert counts.tolist() == [8, 8, 8, 6]
    np.testing.assert_allclose(values.sum(axis=0) / 30, fine.mean(), atol=1e-12)
    result = compare_regions(sums, fine, resamples=10, permutations=10)
    assert (result.block_size, result.n_real, result.n_generated) == (8, 45, 30)


def test_null_and_interval_equal_relabelling_and_redrawing_by_hand():
    from benchmark.metrics.score import resample_weights

    real, generated = maps(4, 7), maps(5, 5)
    sides = [MapSums.of(side) for side in (real, generated)]
    result = compare_regions(*sides, resamples=20, permutations=30, seed=6)
    # a block is one image, in the seeded order of its set
    pairs = zip((real, generated), sides, strict=True)
    rows = np.concatenate([s.astype(float)[np.argsort(m._block)] for s, m in pairs])
    generator = np.random.default_rng([6, 2])
    for r in range(30):
        left = np.zeros(12, bool)
        left[generator.choice(12, 7, replace=False, shuffle=False)] = True
        expected = np.abs(rows[left].mean(axis=0) - rows[~left].mean(axis=0)).mean(axis=(1, 2))
        for a in range(2):
            assert result.magnitude[a].null.samples[r] == pytest.approx(expected[a], abs=1e-8)
    ((_, weights),) = resample_weights(12, 20, 6, np.repeat([0, 1], [7, 5]))
    for r, row in enumerate(weights.astype(int)):
        gap = np.repeat(rows[:7], row[:7], axis=0).mean(axis=0)
        gap = gap - np.repeat(rows[7:], row[7:], axis=0).mean(axis=0)
        assert result.magnitude[1].score.samples[r] == pytest.approx(
            np.abs(gap[1]).mean(), abs=1e-8
        )


def test_halves_of_one_set_lie_inside_the_null_and_a_change_is_found():
    whole = maps(7, 200, attributes=10)
    sides = [MapSums.of(whole[k::2]) for k in (0, 1)]
    result = compare_regions(*sides, permutations=300, resamples=50)
    assert sum(entry.inside_null for entry in result.magnitude) >= 8
    np.testing.assert_allclose(result.over_null, 1, atol=0.6)
    changed = whole[1::2].copy()
    changed[:, 3, 1, 2] *= 0.5
    result = compare_regions(sides[0], MapSums.of(changed), permutations=300, resamples=50)
    assert result.ranking()[0] == result.ranking_over_null()[0] == 3
    assert not result.magnitude[3].inside_null
    # the real set has more there, and only there is the cell beyond its own null
    assert np.unravel_index(np.argmax(result.maps[3]), (3, 4)) == (1, 2)
    assert result.maps[3, 1, 2] > result.cell_null95[3, 1, 2]


def test_ranking_over_the_null_does_not_favour_noise_over_a_small_sure_change():
    noisy, steady = maps(8, 60, 1), np.full((60, 1, 3, 4), 0.5, np.float32)
    steady += np.random.default_rng(9).normal(0, 1e-3, steady.shape).astype(np.float32)
    real = np.concatenate([noisy[:30], steady[:30]], axis=1)
    generated = np.concatenate([noisy[30:], steady[30:] - 0.005], axis=1)
    result = compare_regions(MapSums.of(real), MapSums.of(generated), ["noise", "change"])
    assert result.ranking() == [0, 1]
    assert result.ranking_over_null() == [1, 0]
    assert result.magnitude[0].inside_null
    assert not result.magnitude[1].inside_null


def test_one_image_a_side_has_a_map_but_no_null():
    result = compare_regions(MapSums.of(maps(0, 1)), MapSums.of(maps(1, 1)))
    np.testing.assert_allclose(result.maps, regional_divergence(maps(0, 1), maps(1, 1)), atol=1e-8)
    assert result.cell_null95 is None
    assert result.magnitude[0].null is None
    assert np.isnan(result.over_null).all()


def test_identical_constant_sets_have_no_ratio():
    flat = MapSums.of(np.full((4, 1, 2, 2), 0.25))
    result = compare_regions(flat, flat)
    assert result.magnitude[0].score.value == 0
    assert result.magnitude[0].inside_null
    assert np.isnan(result.over_null[0])


def test_ranked_puts_values_before_none_and_breaks_ties_by_index():
    assert ranked([None, 1.0, 3.0, 1.0, float("nan")]) == [2, 1, 3, 0, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: regional_divergence(maps(0, 2), maps(0, 2, 3)), r"real maps have shape \(2, 3, 4"),
        (lambda: regional_divergence(maps(0, 2)[0], maps(0, 2)), "real: expected shape"),
        (lambda: regional_divergence(maps(0, 2)[:0], maps(0, 2)), "real: expected shape"),
        (
            lambda: regional_divergence(maps(0, 2), np.full((2, 2, 3, 4), np.inf)),
            "generated: image 0 holds a value that is not finite",
        ),
        (lambda: MapSums.of(np.full((2, 1, 1, 1), 7.0)), "outside -1 to 1"),
        (lambda: MapSums(3, (2, 3, 4)).add(2, maps(0, 2)), "do not fit"),
        (
            lambda: compare_regions(MapSums.of(maps(0, 2)), MapSums.of(maps(0, 2)), ["one"]),
            "1 attribute names for maps of 2",
        ),
        (
            lambda: compare_regions(MapSums.of(maps(0, 2)), MapSums(2, (2, 3, 4))),
            "generated set has no images",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
