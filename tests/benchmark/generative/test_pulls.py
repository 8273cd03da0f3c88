"""Leave-one-out divergences equal leaving one out."""

import numpy as np
import pytest

from benchmark.generative import single_attribute_divergence
from benchmark.generative.pulls import pulls, strongest


def test_every_pull_is_the_difference_without_the_image() -> None:
    rng = np.random.default_rng(0)
    real, generated = rng.random((7, 3)), rng.random((5, 3)) ** 2
    left, right = pulls(real, generated)
    whole = single_attribute_divergence(real, generated)
    for k in range(len(real)):
        without = single_attribute_divergence(np.delete(real, k, axis=0), generated)
        np.testing.assert_allclose(left[k], whole - without, atol=1e-12)
    for k in range(len(generated)):
        without = single_attribute_divergence(real, np.delete(generated, k, axis=0))
        np.testing.assert_allclose(right[k], whole - without, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_images_have_no_pull(count: int) -> None:
    scores = np.random.default_rng(0).random((count, 2))
    left, right = pulls(scores, scores)
    assert np.isnan(left).all()
    assert np.isnan(right).all()


def test_what_would_leave_no_variance_has_no_pull() -> None:
    real = np.array([[0.1], [0.5], [0.9]])
    generated = np.array([[0.2], [0.2], [0.2], [0.7]])
    _, right = pulls(real, generated)
    assert np.isnan(right[3, 0])
    assert np.isfinite(right[:3]).all()


def test_the_strongest_are_distinct_and_above_zero() -> None:
    values = np.array([0.3, np.nan, 0.5, 0.5, -0.1, 0.0, 0.4])
    digests = tuple(bytes([k]) for k in (0, 1, 2, 2, 4, 5, 6))
    assert strongest(values, digests, 5) == [2, 6, 0]
    assert strongest(values, digests, 1) == [2]
