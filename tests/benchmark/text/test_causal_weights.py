"""Real causal weights, where there are any: ``ASSAY_CAUSAL_MODEL`` names a folder of a model.

``ASSAY_CAUSAL_HOOK`` names the module, by default a layer of Llama, Gemma and their like.
"""

import os

import numpy as np
import pytest

from benchmark.text.collect import TextRecipe, collect
from benchmark.text.corpus import read_corpus
from benchmark.text.logit_effect import LogitProtocol, effect_on, pair_cosines
from benchmark.text.model import find_model

MODEL = os.environ.get("ASSAY_CAUSAL_MODEL")
HOOK = os.environ.get("ASSAY_CAUSAL_HOOK", "model.layers.5")


@pytest.mark.skipif(MODEL is None, reason="ASSAY_CAUSAL_MODEL names no folder")
def test_a_real_causal_model_has_a_logit_effect(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    recipe = TextRecipe(HOOK, tokens=4000, context_length=64, batch_size=4)
    data = collect(find_model(MODEL), read_corpus("pydoc"), recipe, tmp_path / "out")
    assert np.isfinite(data.activations.images).all()
    assert "«" in data.contexts.marked(100)
    width = data.activations.images.shape[1]
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((3, width)).astype(np.float32)
    rows[2] = rows[0] + 0.5 * rows[1]
    effect = effect_on(data, LogitProtocol(positions=8))
    same, near, apart = pair_cosines(effect, rows, [(0, 0), (0, 2), (0, 1)])
    print(same, near, apart, data.manifest["norm"])
    assert same == pytest.approx(1, abs=1e-6)
    assert 1 > near > apart > -1
