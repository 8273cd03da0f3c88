"""SAE files written by their own libraries give those libraries' codes and reconstructions."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from benchmark.errors import UserError
from benchmark.saes import load_sae

CASES = Path(__file__).parents[4] / "shared" / "cases" / "saes"
ARCHITECTURES = {
    "dictionary_learning_batchtopk": "batchtopk",
    "dictionary_learning_standard": "relu",
    "dictionary_learning_topk": "topk",
    "overcomplete_topk": "topk",
    "saelens_batchtopk": "batchtopk",
    "saelens_jumprelu": "jumprelu",
    "saelens_standard": "relu",
    "saelens_topk": "topk",
}
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not beside")


@needs_cases
@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_codes_and_reconstruction_are_the_librarys(name):
    expected = load_file(CASES / name / "expected.safetensors")
    sae = load_sae(CASES / name / "sae")
    assert sae.architecture == ARCHITECTURES[name]
    assert (sae.d_in, sae.d_sae) == (24, 64)
    codes = sae.encode(expected["x"])
    np.testing.assert_allclose(codes.toarray(), expected["codes"], atol=1e-5)
    assert np.array_equal(codes.toarray() > 0, expected["codes"] > 0)
    np.testing.assert_allclose(
        sae.reconstruct(expected["x"]), expected["reconstruction"], atol=1e-5
    )


@needs_cases
def test_every_case_is_tested():
    assert {path.name for path in CASES.iterdir()} == set(ARCHITECTURES)


@needs_cases
def test_an_assumed_k_is_said_and_can_be_replaced():
    place = CASES / "overcomplete_topk" / "sae"
    assert "default k of 6" in load_sae(place).notes[0]
    assert load_sae(place, k=3).activation.k == 3
    assert load_sae(place, k=3).notes == ()
    assert load_sae(place, architecture="relu").architecture == "relu"


@needs_cases
def test_a_pickled_module_is_refused_with_the_line_that_exports_it():
    with pytest.raises(UserError, match=r"torch\.save\(module\.state_dict\(\)") as caught:
        load_sae(CASES / "overcomplete_topk" / "pickled_module")
    assert "\n" not in str(caught.value)
