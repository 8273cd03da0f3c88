"""Untrained twins and random codes keep what they should keep."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from small_saes import build, rules

from benchmark.saes.activations import Threshold, TopK
from benchmark.saes.baselines import kth_largest, random_codes, threshold_for, untrained_twin


@pytest.fixture
def features(rng):
    return (rng.standard_normal((333, 12)) + 1).astype(np.float32)


def test_twin_weights(features):
    sae = build(rules()["relu"])
    twin = untrained_twin(sae, features, target_l0=10, seed=3)
    assert np.array_equal(twin.encoder, twin.decoder)
    np.testing.assert_allclose(np.linalg.norm(twin.encoder, axis=1), 1, rtol=1e-6)
    assert not twin.encoder_bias.any()
    x = features.astype(np.float64)
    x = (x - x.mean(1, keepdims=True)) / (x.std(1, ddof=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(twin.decoder_bias, x.mean(0), atol=1e-5)
    again = untrained_twin(sae, features, target_l0=10, seed=3)
    assert np.array_equal(again.encoder, twin.encoder)
    other = untrained_twin(sae, features, target_l0=10, seed=4)
    assert not np.array_equal(other.encoder, twin.encoder)


@pytest.mark.parametrize("name", ["relu", "threshold", "gated"])
@pytest.mark.parametrize("target", [0.5, 3.3, 17.0, 31.0])
def test_twin_has_the_closest_attainable_l0(features, name, target):
    twin = untrained_twin(build(rules()[name]), features, target_l0=target, seed=0)
    assert isinstance(twin.activation, Threshold)
    found = twin.encode(features).nnz
    assert found == round(target * len(features))


def test_topk_twin_keeps_its_k(features):
    twin = untrained_twin(build(rules()["topk"]), features, target_l0=2, seed=0)
    assert twin.activation == TopK(5)


def test_threshold_for_ties_takes_the_nearer_side(features):
    twin = untrained_twin(build(rules()["relu"]), features, target_l0=4, seed=0)
    x = np.tile(features[:1], (9, 1))  # every value nine times over
    for wanted, found in ((36, 36), (38, 36), (41, 45)):
        limit = threshold_for(twin, x, wanted)
        assert sum(int((part > limit).sum()) for part in twin.iter_pre_activations(x)) == found


def test_kth_largest_of_a_stream(rng):
    values = rng.standard_normal(5000).astype(np.float32)
    values[100:200] = 0.25
    parts = [torch.from_numpy(part.copy()) for part in np.array_split(values, 13)]
    ordered = np.sort(values)[::-1]
    for k in (1, 2, 777, 5000):
        assert kth_largest(parts, k) == ordered[k - 1]
    assert kth_largest(parts, 5001) is None


def test_random_codes_keep_each_latents_rate_and_values(rng):
    dense = rng.random((200, 30)) * (rng.random((200, 30)) < rng.random(30))
    codes = sp.csr_array(dense.astype(np.float32))
    shuffled = random_codes(codes, seed=1)
    assert shuffled.shape == codes.shape
    assert not np.array_equal(shuffled.toarray(), codes.toarray())
    sort = lambda z: np.sort(z.toarray(), axis=0)  # noqa: E731
    assert np.array_equal(sort(shuffled), sort(codes))
    assert np.array_equal(random_codes(codes, seed=1).toarray(), shuffled.toarray())
    assert not np.array_equal(random_codes(codes, seed=2).toarray(), shuffled.toarray())
