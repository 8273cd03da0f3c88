"""Models and files of models that cannot be used: the reason in one line."""

import json
import logging

import clip_models
import pytest
import torch
from open_clip import SimpleTokenizer

from benchmark.errors import UserError
from benchmark.generative import dense_clip, load_clip, ra_clip_scores
from benchmark.generative.dense.transformers_tower import _pixel_statistics


def refused(model, words=None):
    with pytest.raises(UserError) as caught:
        dense_clip(model, words or SimpleTokenizer(), name="x")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_attention_that_ignores_the_mask():
    import transformers

    small = {"num_hidden_layers": 3, "hidden_size": 48, "intermediate_size": 96}
    vision = {**small, "num_attention_heads": 3, "image_size": 32, "patch_size": 8}
    text = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2}
    blip = transformers.BlipModel(transformers.BlipConfig(vision_config=vision, text_config=text))
    said = refused(clip_models._shaken(blip), clip_models.Words())
    assert "attention of its last block ignores the mask" in said


def test_several_number_formats():
    from open_clip.model import convert_weights_to_lp

    model = clip_models.open_clip_model()
    convert_weights_to_lp(model, torch.bfloat16)
    assert "several number formats (torch.bfloat16, torch.float32)" in refused(model)


def test_an_image_size_of_two_numbers():
    model = clip_models.transformers_model()
    model.vision_model.config.image_size = (32, 32)
    assert "image_size is (32, 32); expected one number" in refused(model, clip_models.Words())


def test_towers_that_give_their_tokens_too_are_read():
    import numpy as np

    pictures = [np.random.default_rng(k).integers(0, 256, (32, 32, 3), np.uint8) for k in (0, 1)]
    from PIL import Image

    images = [Image.fromarray(one) for one in pictures]
    plain, more = (
        dense_clip(clip_models.open_clip_model(output_tokens=on), SimpleTokenizer(), name="x")
        for on in (False, True)
    )
    found = [ra_clip_scores(images, ["a hat"], model=one).image for one in (plain, more)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("preprocessor_config.json", [], "expected a JSON object"),
        ("preprocessor_config.json", {"image_mean": ["a", "b", "c"]}, "image_mean"),
        ("preprocessor_config.json", {"image_mean": "abc"}, "image_mean"),
        ("preprocessor_config.json", {"image_mean": 0.5}, "image_mean"),
        ("preprocessor_config.json", {"image_mean": [0.5, 0.5]}, "image_mean"),
        ("preprocessor_config.json", {"image_std": [0, 0, 0]}, "image_std.*above 0"),
        ("preprocessor_config.json", {"image_std": [1, 1, float("nan")]}, "image_std"),
        ("preprocessor_config.json", {"image_std": [1, 1, 10**400]}, "image_std"),
        ("processor_config.json", [], "expected a JSON object"),
        ("processor_config.json", {"image_processor": []}, "image_processor is no JSON object"),
        ("processor_config.json", {"image_processor": {"image_mean": 1}}, "image_mean"),
    ],
)
def test_statistics_that_are_none(tmp_path, name, content, message):
    (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(UserError, match=rf"{name}: .*{message}|{name}: {message}") as caught:
        _pixel_statistics(tmp_path)
    assert "\n" not in str(caught.value)


def test_statistics_are_read_from_both_files(tmp_path):
    assert _pixel_statistics(tmp_path) == (None, None)
    own = {"image_mean": [0.1, 0.2, 0.3], "image_std": [1, 1, 1]}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(own))
    assert _pixel_statistics(tmp_path) == ([0.1, 0.2, 0.3], [1, 1, 1])
    whole = {"image_processor": {**own, "image_mean": [0.4, 0.4, 0.4]}}
    (tmp_path / "processor_config.json").write_text(json.dumps(whole))
    assert _pixel_statistics(tmp_path) == ([0.4, 0.4, 0.4], [1, 1, 1])
    (tmp_path / "processor_config.json").write_text("{}")
    assert _pixel_statistics(tmp_path) == ([0.1, 0.2, 0.3], [1, 1, 1])
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**own, "do_normalize": False}))
    assert _pixel_statistics(tmp_path) == ((0, 0, 0), (1, 1, 1))


def test_open_clip_logs_nothing_of_weights_that_are_not_there(monkeypatch, caplog, tmp_path):
    import open_clip

    def create_model(*_names, **_options):
        logging.getLogger().handle(
            logging.LogRecord("root", logging.ERROR, open_clip.__file__, 1, "gone", (), None)
        )
        logging.getLogger().error("of another library")
        raise RuntimeError("weights not found")

    monkeypatch.setattr(open_clip, "create_model", create_model)
    with pytest.raises(UserError, match="weights not found"):
        load_clip("open_clip:ViT-B-32:/nowhere.safetensors")
    assert [record.message for record in caplog.records] == ["of another library"]


def test_a_model_of_films():
    import transformers

    small = {"num_hidden_layers": 2, "hidden_size": 48, "intermediate_size": 96}
    vision = {**small, "num_attention_heads": 3, "image_size": 32, "patch_size": 8}
    text = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2}
    config = transformers.XCLIPConfig(vision_config=vision, text_config=text)
    said = refused(transformers.XCLIPModel(config), clip_models.Words())
    assert "XCLIPModel lacks features of single images" in said
