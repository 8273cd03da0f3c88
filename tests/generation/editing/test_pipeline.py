"""Tiny pipelines, saved to folders and loaded back, against diffusers' own call."""

import importlib.machinery
import json
import os
import shutil
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from benchmark.errors import UserError
from generation.editing import Editor, Settings, locate
from generation.editing.models import folder_sha256
from generation.editing.pipeline import MOST_GUIDANCE, MOST_STEPS
from generation.editing.prompts import write_prompts
from schemas import load

PROMPT = "Remove every dog from the picture."


def photo(seed: int = 0) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((80, 64), Image.Resampling.BICUBIC)


def settings_of(folder, **more):
    return Settings(locate(str(folder), licence="MIT"), **{"steps": 2, **more})


def same(first, second) -> bool:
    return bool((np.asarray(first) == np.asarray(second)).all())


@pytest.mark.parametrize("kind", ["klein", "base_klein", "dev"])
def test_edits_are_those_of_the_pipeline(kind, request):
    """The prompt's embedding is handed over, and the noise seeded, as if the pipeline did all."""
    import diffusers
    import torch

    folder = request.getfixturevalue(kind)
    settings = settings_of(folder)
    editor = Editor(settings)
    edited = editor.edit([photo(), photo(1)], PROMPT, 7)
    assert edited.size == (80, 64)
    assert same(edited, editor.edit([photo(), photo(1)], PROMPT, 7))
    assert not same(edited, editor.edit([photo(), photo(1)], PROMPT, 8))
    assert not same(edited, editor.edit([photo()], PROMPT, 7))
    assert not same(edited, editor.edit([photo(), photo(1)], "Add a cat to it, red and blue", 7))
    pipeline = getattr(diffusers, settings.model.pipeline).from_pretrained(
        folder, local_files_only=True
    )
    pipeline.set_progress_bar_config(disable=True)
    wanted = pipeline(
        prompt=PROMPT,
        image=[photo(), photo(1)],
        num_inference_steps=2,
        guidance_scale=1.0 if settings.model.distilled else 4.0,
        generator=torch.Generator("cpu").manual_seed(7),
    ).images[0]
    assert same(edited, wanted)
    assert (editor.scheduler, editor.precision) == ("FlowMatchEulerDiscreteScheduler", "float32")


def test_guidance_that_has_an_effect(klein, base_klein, dev):
    assert settings_of(klein).effective_guidance is None
    assert settings_of(dev).effective_guidance == 4.0
    with pytest.raises(UserError, match="ignores guidance"):
        settings_of(klein, guidance=3.0).check()
    for folder in (base_klein, dev):
        assert settings_of(folder, guidance=2.0).effective_guidance == 2.0
        edited = [
            Editor(settings_of(folder, guidance=each)).edit([photo()], PROMPT, 0)
            for each in (2.0, 9.0)
        ]
        assert not same(*edited)


def test_steps_are_the_models_own_unless_given(klein, dev):
    for folder, steps in ((klein, 4), (dev, 50)):
        assert replace(settings_of(folder), steps=None).effective_steps == steps


def test_encoded_prompts_stand_in_for_the_text_encoder(klein, silent_klein, dev, tmp_path):
    speaking = Editor(settings_of(klein))
    wanted = speaking.edit([photo()], PROMPT, 3)
    path = tmp_path / "prompts.safetensors"
    assert write_prompts(path, [PROMPT, PROMPT, ""], speaking.encode, folder_sha256(klein)) == 2
    with pytest.raises(UserError, match="--write-prompts"):
        Editor(settings_of(silent_klein))
    for folder in (klein, silent_klein):
        editor = Editor(settings_of(folder, prompts=path))
        assert editor._pipeline.text_encoder is None
        assert same(editor.edit([photo()], PROMPT, 3), wanted)
    with pytest.raises(UserError, match="'Another' is not in it"):
        editor.edit([photo()], "Another", 3)
    with pytest.raises(UserError, match="prompts encoded by model revision"):
        Editor(settings_of(dev, prompts=path))
    with pytest.raises(UserError, match="expected encoded prompts"):
        Editor(settings_of(silent_klein, prompts=tmp_path / "absent"))
    narrow = tmp_path / "narrow.safetensors"
    write_prompts(narrow, [PROMPT], lambda prompt: speaking.encode(prompt)[..., :5], "x")
    with pytest.raises(UserError, match="wants 24 numbers a token"):
        Editor(settings_of(silent_klein, prompts=narrow)).edit([photo()], PROMPT, 3)


def test_other_number_formats_are_recorded(klein):
    editor = Editor(settings_of(klein, dtype="bfloat16"))
    assert editor.precision == "bfloat16"
    assert editor.edit([photo()], PROMPT, 0).size == (80, 64)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"dtype": "int8"}, "--dtype is 'int8'"),
        ({"offload": "all"}, "--offload is 'all'"),
        ({"quantise": "2bit"}, "--quantise is '2bit'"),
        ({"quantise": "4bit", "device": "cpu"}, "needs a graphics card"),
        ({"offload": "model", "device": "cpu"}, "is for a graphics card"),
        ({"device": "foo"}, "device 'foo' cannot be used"),
        ({"device": "meta"}, "device 'meta' cannot be used"),
        ({"steps": 10**11}, "--steps is 100000000000; expected 1 to 10,000"),
        ({"steps": 0}, "--steps is 0; expected 1 to 10,000"),
        ({"guidance": 1001.0}, "--guidance is 1001.0; expected 0 to 1,000"),
        ({"guidance": float("nan")}, "--guidance is nan; expected 0 to 1,000"),
        ({"guidance": float("inf")}, "--guidance is inf; expected 0 to 1,000"),
    ],
)
def test_what_cannot_be_is_one_line_before_anything_is_loaded(klein, monkeypatch, more, said):
    monkeypatch.setattr("diffusers.Flux2KleinPipeline.from_pretrained", None)
    with pytest.raises(UserError) as raised:
        Editor(settings_of(klein, **more))
    assert said in str(raised.value)


def test_settings_are_bounded_as_their_record_is():
    bounds = load("edit-record")["properties"]
    assert (bounds["steps"]["minimum"], bounds["steps"]["maximum"]) == (1, MOST_STEPS)
    assert (bounds["guidance"]["minimum"], bounds["guidance"]["maximum"]) == (0, MOST_GUIDANCE)


def changed(part, **settings):
    """A fault: other values in a part's config.json."""

    def change(folder):
        path = folder / part / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))

    return change


def lacking(part):
    """A fault: a tensor is not among a part's weights."""

    def change(folder):
        from safetensors.torch import load_file, save_file

        (path,) = (folder / part).glob("*.safetensors")
        tensors = load_file(path)
        tensors.pop(sorted(tensors)[0])
        save_file(tensors, path, metadata={"format": "pt"})

    return change


def emptied(folder):
    for path in (folder / "tokenizer").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda f: shutil.rmtree(f / "tokenizer"), "the folder tokenizer is missing"),
        (emptied, "cannot read a prompt"),
        (
            lambda f: os.truncate(f / "text_encoder" / "model.safetensors", 300),
            "text_encoder/model.safetensors: damaged",
        ),
        (
            lambda f: (f / "scheduler" / "scheduler_config.json").write_text("[]"),
            "scheduler/scheduler_config.json: no JSON object",
        ),
        (lambda f: (f / "vae" / "config.json").write_text("{"), "vae/config.json: not JSON"),
        (changed("text_encoder", hidden_size=16), "other shapes than its config.json says"),
        (changed("text_encoder", num_hidden_layers=3), "cannot load the pipeline"),
        (changed("transformer", attention_head_dim=4), "expected shape"),
        (lacking("transformer"), "cannot load the pipeline"),
    ],
)
def test_a_folder_that_is_not_whole_is_one_line(klein, tmp_path, capfd, break_it, said):
    copy = shutil.copytree(klein, tmp_path / "model")
    break_it(copy)
    with pytest.raises(UserError) as raised:
        Editor(settings_of(copy))
    assert said in str(raised.value)
    assert str(copy) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_text_encoder_must_suit_its_transformer(klein, monkeypatch):
    encode = Editor._encode
    monkeypatch.setattr(Editor, "_encode", lambda self, prompt: encode(self, prompt)[..., :5])
    with pytest.raises(UserError, match="gives 5 numbers a token; its transformer wants 24"):
        Editor(settings_of(klein))


def test_a_device_that_is_full_is_one_line(klein, monkeypatch):
    def full(self, device):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")

    import torch

    monkeypatch.setattr("diffusers.Flux2KleinPipeline.to", full)
    with pytest.raises(UserError, match=r"OutOfMemoryError: CUDA out of memory.*--offload model"):
        Editor(settings_of(klein))


def test_four_bits_are_asked_of_transformer_and_text_encoder(dev, monkeypatch):
    """What is handed to diffusers; that it quantises needs a graphics card and is not tested."""
    import torch
    from diffusers.quantizers import pipe_quant_config  # noqa: F401

    from generation.editing.loading import _four_bits

    settings = settings_of(dev, quantise="4bit")
    if importlib.util.find_spec("bitsandbytes") is None:
        with pytest.raises(UserError, match=r"bitsandbytes: pip install 'concept-assay\[flux\]'"):
            _four_bits(settings, torch.bfloat16)
        module = types.ModuleType("bitsandbytes")
        module.__spec__ = importlib.machinery.ModuleSpec("bitsandbytes", None)
        monkeypatch.setitem(sys.modules, "bitsandbytes", module)
    config = _four_bits(settings, torch.bfloat16)
    assert config.quant_backend == "bitsandbytes_4bit"
    assert config.components_to_quantize == ["transformer", "text_encoder"]
    assert config.quant_kwargs["load_in_4bit"] is True


@pytest.mark.parametrize("missing", ["diffusers", "transformers"])
def test_a_missing_library_is_named_with_its_extra(klein, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UserError, match=rf"editing needs {missing}: pip install .*\[flux\]"):
        Editor(settings_of(klein))


def test_pickled_weights_are_not_loaded(klein, tmp_path):
    import torch

    copy = shutil.copytree(klein, tmp_path / "model")
    weights = copy / "vae" / "diffusion_pytorch_model.safetensors"
    weights.unlink()
    torch.save({}, weights.with_suffix(".bin"))
    with pytest.raises(UserError, match="cannot load the pipeline"):
        Editor(settings_of(copy))
