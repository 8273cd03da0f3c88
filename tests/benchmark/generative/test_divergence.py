"""SaD and PaD against numerical integration, their invariants, null and interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from benchmark.generative import (
    compare_attributes,
    gaussian_floor,
    pair_attribute_divergence,
    single_attribute_divergence,
)
from benchmark.generative.gaussians import moments, weighted_moments
from benchmark.metrics import InputError


def sets(seed: int, n: int = 40, m: int = 30, attributes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    mix = generator.normal(size=(attributes, attributes)) + np.eye(attributes)
    real = generator.normal(size=(n, attributes)) @ mix
    generated = generator.normal(size=(m, attributes)) @ mix * 1.3 + generator.normal(
        size=attributes
    )
    return real, generated


def test_single_divergence_equals_the_integral():
    real, generated = sets(0)
    found = single_attribute_divergence(real, generated)
    for a in range(3):
        p = stats.norm(generated[:, a].mean(), generated[:, a].std(ddof=1))
        q = stats.norm(real[:, a].mean(), real[:, a].std(ddof=1))

        def integrand(x, p=p, q=q):
            return p.pdf(x) * (p.logpdf(x) - q.logpdf(x))

        low, high = p.mean() - 12 * p.std(), p.mean() + 12 * p.std()
        assert found[a] == pytest.approx(integrate.quad(integrand, low, high)[0], rel=1e-8)


def test_pair_divergence_equals_the_integral():
    real, generated = sets(1, attributes=2)
    p = stats.multivariate_normal(generated.mean(axis=0), np.cov(generated.T))
    q = stats.multivariate_normal(real.mean(axis=0), np.cov(real.T))
    # along the axes of p, where a plain grid of 400² cells reaches six digits
    values, axes = np.linalg.eigh(p.cov_object.covariance)
    line = np.linspace(-9, 9, 401)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    points = p.mean + (grid * np.sqrt(values)) @ axes.T
    cell = (line[1] - line[0]) ** 2 * np.sqrt(values.prod())
    integral = float((p.pdf(points) * (p.logpdf(points) - q.logpdf(points))).sum() * cell)
    found = pair_attribute_divergence(real, generated)
    assert found[0, 1] == pytest.approx(integral, rel=1e-6)
    assert found[1, 0] == found[0, 1]
    assert np.isnan(found.diagonal()).all()


def test_worked_values():
    real = np.array([[-1.0], [1.0]])  # mean 0, variance 2
    assert single_attribute_divergence(real, real)[0] == 0
    assert single_attribute_divergence(real, real + 2)[0] == pytest.approx(1)
    # variance 8 against 2: ½(4 − 1 − ln 4)
    assert single_attribute_divergence(real, 2 * real)[0] == pytest.approx(1.5 - np.log(2))
    # the direction matters: variance 2 against 8
    assert single_attribute_divergence(2 * real, real)[0] == pytest.approx(-0.375 + np.log(2))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(-50, 50),
    flip=st.booleans(),
)
def test_invariants(seed, scale, shift, flip):
    real, generated = sets(seed, n=12, m=9)
    single = single_attribute_divergence(real, generated)
    pair = pair_attribute_divergence(real, generated)
    assert (single >= 0).all()
    order, other = (np.random.default_rng(seed).permutation(k) for k in (12, 9))
    assert (single_attribute_divergence(real[order], generated[other]) == single).all()
    np.testing.assert_array_equal(pair_attribute_divergence(real[order], generated[other]), pair)
    np.testing.assert_array_equal(pair, pair.T)
    # one unit for both sets: a change of scale, origin or sign of an attribute changes nothing
    factor = np.array([scale, -scale if flip else scale, 1.0])
    moved = [side * factor + shift for side in (real, generated)]
    np.testing.assert_allclose(single_attribute_divergence(*moved), single, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(pair_attribute_divergence(*moved), pair, rtol=1e-5, atol=1e-8)
    # a pair tells at least as much as either of its attributes
    off = ~np.eye(3, dtype=bool)
    assert (pair[off] >= np.maximum(single[:, None], single[None])[off] - 1e-9).all()


def test_reordering_attributes_reorders_the_values():
    real, generated = sets(3)
    order = [2, 0, 1]
    np.testing.assert_array_equal(
        pair_attribute_divergence(real[:, order], generated[:, order]),
        pair_attribute_divergence(real, generated)[np.ix_(order, order)],
    )


def test_moments_equal_numpy():
    scores = sets(4)[0]
    found = moments(scores)
    np.testing.assert_allclose(found.mean, scores.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(scores.T), rtol=1e-10)


def test_resampled_moments_equal_those_of_the_drawn_rows():
    scores = sets(5)[0]
    drawn = np.random.default_rng(0).integers(0, 40, size=(5, 40))
    weights = np.stack([np.bincount(row, minlength=40) for row in drawn])
    found = weighted_moments(weights, scores, 40)
    for r, row in enumerate(drawn):
        np.testing.assert_allclose(found.mean[r], scores[row].mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(found.covariance[r], np.cov(scores[row].T), rtol=1e-9)


def test_constant_and_copied_attributes_are_named():
    real, generated = sets(6, attributes=4)
    generated[:, 1] = 0.1  # a mean of copies of 0.1 is not 0.1 in floating point
    real[:, 3] = 2 * real[:, 0]
    names = ["hat", "beard", "smile", "cap"]
    assert np.isnan(single_attribute_divergence(real, generated)).tolist() == [0, 1, 0, 0]
    result = compare_attributes(real, generated, names, resamples=20, permutations=20)
    beard = result.sad[1]
    assert beard.score.value is None
    assert beard.null is None
    assert beard.inside_null is None
    assert beard.score.not_applicable == {"'beard' has no variance in the generated set": 1}
    pairs = {entry.attributes: entry for entry in result.pad}
    assert list(pairs[("hat", "cap")].score.not_applicable) == [
        "'hat' and 'cap' have a singular covariance in the real set"
    ]
    assert result.sad_mean.n == 3
    assert result.sad_mean.not_applicable == {"'beard' has no variance in the generated set": 1}
    assert result.pad_mean.n == 2
    assert sum(result.pad_mean.not_applicable.values()) == 4
    applicable = [e.score.value for e in result.sad if e.score.value is not None]
    assert result.sad_mean.value == pytest.approx(np.mean(applicable))


@pytest.mark.parametrize(("n", "single", "pair"), [(1, False, False), (2, True, False)])
def test_too_few_images_are_not_applicable(n, single, pair):
    real, generated = sets(7, n=n)
    result = compare_attributes(real, generated, resamples=10, permutations=10)
    assert (result.sad[0].score.value is not None) is single
    assert (result.pad[0].score.value is not None) is pair
    reason = f"real set has {n} images; expected at least {2 if n == 1 else 3}"
    assert result.pad_mean.not_applicable[reason if n == 2 else reason.replace("2", "3")] == 3


def test_null_equals_relabelling_rows_by_hand():
    real, generated = sets(8, n=6, m=4, attributes=2)
    result = compare_attributes(real, generated, resamples=2, permutations=400, seed=3)
    pooled = np.concatenate([real, generated])
    generator = np.random.default_rng([3, 2])
    by_hand = []
    for _ in range(400):
        chosen = generator.choice(10, 4, replace=False, shuffle=False)  # the smaller set
        rest = np.setdiff1d(np.arange(10), chosen)
        by_hand.append(single_attribute_divergence(pooled[rest], pooled[chosen]))
    np.testing.assert_allclose(result.sad[0].null.samples, np.array(by_hand)[:, 0], rtol=1e-7)
    assert result.sad[0].null.q95 == pytest.approx(np.percentile(np.array(by_hand)[:, 0], 95))


def test_bootstrap_equals_redrawing_rows_by_hand():
    from benchmark.metrics.score import resample_weights

    real, generated = sets(9, n=7, m=5, attributes=2)
    result = compare_attributes(real, generated, resamples=30, permutations=2, seed=5)
    strata = np.repeat([0, 1], [7, 5])
    ((_, weights),) = resample_weights(12, 30, 5, strata)
    for r, row in enumerate(weights.astype(int)):
        first = np.repeat(real, row[:7], axis=0)
        second = np.repeat(generated, row[7:], axis=0)
        expected = pair_attribute_divergence(first, second)[0, 1]
        assert result.pad[0].score.samples[r] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_floor_is_the_mean_of_the_null_for_gaussian_scores():
    generator = np.random.default_rng(10)
    real, generated = generator.normal(size=(6000, 3)), generator.normal(size=(4000, 3))
    result = compare_attributes(real, generated, resamples=2, permutations=400)
    for entry in (*result.sad, *result.pad):
        assert entry.null.mean == pytest.approx(entry.floor, rel=0.2)
    assert gaussian_floor(300, 200) == pytest.approx(1 / 300 + 1 / 200)
    assert gaussian_floor(300, 200, pair=True) == pytest.approx(2.5 * (1 / 300 + 1 / 200))


def test_halves_of_one_set_lie_inside_the_null_and_a_shift_does_not():
    generator = np.random.default_rng(11)
    scores = generator.beta(0.05, 0.2, size=(400, 20))  # saturated, far from Gaussian
    result = compare_attributes(scores[::2], scores[1::2], pairs=False, resamples=50)
    assert sum(entry.inside_null for entry in result.sad) >= 16  # 19 expected of 20
    moved = scores[1::2].copy()
    moved[:60, 4] = 1
    shifted = compare_attributes(scores[::2], moved, pairs=False, resamples=50)
    assert not shifted.sad[4].inside_null
    assert shifted.sad[4].score.value == max(entry.score.value for entry in shifted.sad)


def test_same_seed_same_bytes():
    real, generated = sets(12)
    first, again = (compare_attributes(real, generated, resamples=20, seed=1) for _ in range(2))
    other = compare_attributes(real, generated, resamples=20, seed=2)
    assert first.sad[0].score.ci95 == again.sad[0].score.ci95 != other.sad[0].score.ci95
    assert first.sad[0].null.q95 == again.sad[0].null.q95 != other.sad[0].null.q95
    assert first.sad[0].score.value == other.sad[0].score.value


@pytest.mark.parametrize(
    ("real", "generated", "message"),
    [
        (np.zeros((3, 2)), np.zeros((3, 3)), "real has 2 attributes but generated has 3"),
        (np.zeros(3), np.zeros((3, 1)), r"real: expected shape \(images, attributes\)"),
        (np.zeros((0, 2)), np.zeros((3, 2)), "real: expected shape"),
        (np.array([["a"]]), np.zeros((1, 1)), "real: expected numbers"),
        (np.zeros((2, 1)), np.array([[0], [np.nan]]), "generated: image 1, attribute 0 is nan"),
    ],
)
def test_wrong_input_is_named(real, generated, message):
    with pytest.raises(InputError, match=message):
        single_attribute_divergence(real, generated)
