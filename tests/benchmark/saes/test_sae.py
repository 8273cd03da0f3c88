"""Encoding against the formulas written out, and its independence of the batch."""

import numpy as np
import pytest
import torch

from benchmark.errors import UserError
from benchmark.saes import Sae
from benchmark.saes.activations import Gated, Relu, Threshold, TopK


def standardised(x):
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / (x.std(1, ddof=1, keepdims=True) + 1e-5)


def expected_codes(sae: Sae, x):
    pre = (standardised(x) - sae.decoder_bias) @ sae.encoder.T.astype(np.float64)
    pre += sae.encoder_bias
    rule = sae.activation
    if isinstance(rule, TopK):
        codes = np.zeros_like(pre)
        for row, values in enumerate(pre):
            for latent in np.argsort(-values)[: rule.k]:
                codes[row, latent] = max(0.0, values[latent])
        return codes
    if isinstance(rule, Threshold):
        return np.where(pre > rule.threshold.numpy(), np.maximum(pre, 0), 0)
    if isinstance(rule, Gated):
        scale = np.exp(rule.log_scale.numpy().astype(np.float64))
        magnitude = np.maximum(pre * scale + rule.magnitude_bias.numpy(), 0)
        return np.where(pre + rule.gate_bias.numpy() > 0, magnitude, 0)
    assert isinstance(rule, Relu)
    return np.maximum(pre, 0)


def test_codes_and_reconstruction_follow_the_formulas(sae, rng):
    x = (3 * rng.standard_normal((600, sae.d_in)) + 2).astype(np.float32)
    codes = sae.encode(x)
    np.testing.assert_allclose(codes.toarray(), expected_codes(sae, x), atol=2e-5)
    decoded = codes.toarray() @ sae.decoder + sae.decoder_bias
    np.testing.assert_allclose(sae.decode(codes), decoded, atol=2e-5)
    np.testing.assert_allclose(sae.decode(codes.toarray()), decoded, atol=2e-5)
    x64 = x.astype(np.float64)
    own = decoded * (x64.std(1, ddof=1, keepdims=True) + 1e-5) + x64.mean(1, keepdims=True)
    np.testing.assert_allclose(sae.reconstruct(x), own, atol=1e-4)


def test_codes_hold_no_stored_zeros_and_are_not_negative(sae, rng):
    codes = sae.encode(rng.standard_normal((300, sae.d_in)))
    assert codes.dtype == np.float32
    assert (codes.data > 0).all()


def test_a_row_is_encoded_alike_in_any_company(sae, rng):
    x = rng.standard_normal((700, sae.d_in)).astype(np.float32)
    whole = sae.encode(x).toarray()
    order = rng.permutation(700)
    assert np.array_equal(sae.encode(x[order]).toarray(), whole[order])
    for rows in (slice(0, 1), slice(255, 257), slice(690, 700)):
        assert np.array_equal(sae.encode(x[rows]).toarray(), whole[rows])
    assert np.array_equal(sae.encode(torch.from_numpy(x)).toarray(), whole)
    assert sae.encode(x[:0]).shape == (0, sae.d_sae)


def test_other_width_names_both_numbers(sae):
    with pytest.raises(UserError, match=r"12-dimensional features, but these have 7"):
        sae.encode(np.zeros((2, 7)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_name_the_row(sae, bad):
    x = np.zeros((5, sae.d_in))
    x[3, 1] = bad
    with pytest.raises(UserError, match="row 3"):
        sae.encode(x)


def test_a_shifted_threshold_keeps_every_latent_that_passes(rng):
    from benchmark.saes.activations import Threshold

    pre = torch.tensor([[-0.5, -0.2, 0.1, 0.4]])
    below = Threshold(torch.tensor(-0.3), shift=True)(pre)
    assert torch.allclose(below, torch.tensor([[0.0, 0.1, 0.4, 0.7]]))
    above = Threshold(torch.tensor(0.2), shift=True)(pre)
    assert torch.allclose(above, torch.tensor([[0.0, 0.0, 0.0, 0.4]]))
