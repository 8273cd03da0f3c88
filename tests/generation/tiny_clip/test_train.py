"""Training of the tiny CLIP learns, is seeded, and its file comes back as it was."""

import json
import sys
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.generative import load_clip, tiny_clip
from benchmark.generative.tiny_clip import load_file, save
from benchmark.generative.tiny_clip.network import ImageTower, Shape, TinyClip
from benchmark.generative.tiny_clip.words import Words
from benchmark.tensors import read_tensors
from generation.tiny_clip import PHRASES
from generation.tiny_clip import __main__ as command
from generation.tiny_clip.data import SIDE, Avatars, _drawn
from generation.tiny_clip.quality import quality, table
from generation.tiny_clip.train import Recipe, train, vocabulary


@pytest.fixture(scope="module")
def few() -> Avatars:
    return Avatars(*_drawn((0, 0, 16)))


@pytest.fixture(scope="module")
def trained(few):
    losses = []
    recipe = Recipe(steps=50, batch=8, warm_up=10)
    model = train(few, recipe, lambda step, whole, local: losses.append((whole, local)))
    return model, losses


def test_patches_learn_within_a_few_steps(trained):
    """The class token takes some hundreds; a coin's loss is ln 2."""
    _, losses = trained
    assert len(losses) == 1
    assert losses[-1][1] < 0.93 * np.log(2)


def test_same_seed_same_bytes(few, tmp_path):
    hashes = []
    for place, seed in enumerate((0, 0, 1)):
        path = tmp_path / f"{place}.safetensors"
        model = train(few, Recipe(steps=3, batch=8, warm_up=2, seed=seed))
        save(path, model, vocabulary(), asdict(Shape()))
        hashes.append(file_sha256(path))
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


def test_the_command_writes_weights_and_their_quality(monkeypatch, tmp_path, capsys):
    out = tmp_path / "own.safetensors"
    given = ["--out", str(out), "--images", "4", "--steps", "2", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", ["tiny_clip", *given])
    monkeypatch.setattr(command, "HELD_OUT", 2)
    threads = torch.get_num_threads()
    try:
        command.main()
    finally:
        torch.set_num_threads(threads)
    rows = json.loads(out.with_suffix(".json").read_text())
    assert rows["images"] == 2
    assert len(rows["attributes"]) == len(PHRASES)
    shown = capsys.readouterr().out
    assert table(rows) in shown
    assert file_sha256(out) in shown
    assert load_clip(f"assay-tiny-clip:{out}").grid == (8, 8)


def test_the_card_shows_the_quality_that_comes_with_the_weights():
    card = (files("benchmark.generative.tiny_clip") / "CARD.md").read_text("utf-8")
    assert table(tiny_clip.quality()) in card
    assert [row["attribute"] for row in tiny_clip.quality()["attributes"]] == [*PHRASES.values()]
    assert set(tiny_clip.trusted(0)) == set(PHRASES.values())


def test_the_published_weights_fit_the_script():
    """Its vocabulary and its network; the weights themselves take minutes to make again."""
    clip = load_clip("assay-tiny-clip")
    assert clip.weights_sha256
    tensors, metadata = read_tensors(Path(str(files(tiny_clip) / tiny_clip.FILE)))
    assert json.loads(metadata["words"]) == vocabulary()
    assert json.loads(metadata["shape"]) == asdict(Shape(side=SIDE))
    assert sum(value.size for value in tensors.values()) < 1.5e6


def test_file_comes_back(trained, few, tmp_path):
    model, _ = trained
    path = tmp_path / "tiny.safetensors"
    save(path, model, vocabulary(), asdict(Shape()))
    assert path.stat().st_size < 4_000_000
    clip = load_file(path, name="tiny")
    assert clip.grid == (8, 8)
    assert clip.size == (96, 96)
    pixels = clip.pixels(few.images[:2])
    with torch.inference_mode():
        torch.testing.assert_close(
            clip.encode_image(pixels), model.encode_image(pixels), atol=5e-3, rtol=0
        )
    rows = quality(clip, few)["attributes"]
    assert [row["attribute"] for row in rows][:2] == ["eyeglasses", "sunglasses"]
    there = few.labels.any(axis=0)
    for row, seen in zip(rows, there, strict=True):
        assert (row["patch_auc"] is not None) == ("auc" in row["ra"]) == seen
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(UserError, match=r"tiny\.safetensors"):
        load_file(path, name="tiny")


def test_published_weights_are_looked_for_and_proven(trained, monkeypatch, tmp_path):
    monkeypatch.setattr(tiny_clip, "FILE", "absent.safetensors")
    with pytest.raises(UserError, match="not in this installation"):
        load_clip("assay-tiny-clip")
    path = tmp_path / "own.safetensors"
    save(path, trained[0], vocabulary(), asdict(Shape()))
    assert load_clip(f"assay-tiny-clip:{path}").name == f"assay-tiny-clip:{path}"
    monkeypatch.setattr(tiny_clip, "FILE", str(path))  # an absolute path stays what it is
    with pytest.raises(UserError, match=r"own\.safetensors: SHA-256 .* expected"):
        load_clip("assay-tiny-clip")
    monkeypatch.setattr(tiny_clip, "WEIGHTS_SHA256", file_sha256(path))
    assert load_clip("assay-tiny-clip").name == "assay-tiny-clip"


def test_image_tower_is_one_of_open_clip():
    """Its weights, stem and all, in open_clip's own class give the same embedding."""
    from open_clip.transformer import VisionTransformer

    torch.manual_seed(0)
    shape = Shape()
    own = ImageTower(shape).eval()
    other = VisionTransformer(
        shape.side, shape.patch, shape.width, shape.layers, shape.heads, 4.0, output_dim=shape.dim
    )
    other.conv1 = torch.nn.Sequential(*own.conv1)
    other.load_state_dict(own.state_dict())
    pixels = torch.randn(2, 3, shape.side, shape.side)
    with torch.inference_mode():
        expected = torch.nn.functional.normalize(other.eval()(pixels), dim=-1)
        torch.testing.assert_close(own(pixels), expected, atol=1e-5, rtol=0)


def test_unknown_words_are_named():
    words = Words(["a", "hat"])
    assert words(["A hat, a hat!", "hat"], 6).tolist() == [[1, 2, 1, 2, 0, 0], [2, 0, 0, 0, 0, 0]]
    with pytest.raises(UserError, match="does not know the word 'dog' in 'a dog'"):
        words(["a dog"], 5)
    with pytest.raises(UserError, match="a text without words"):
        words(["?"], 5)


def test_padding_does_not_move_a_text():
    torch.manual_seed(0)
    model = TinyClip(5).eval()
    alone = model.encode_text(torch.tensor([[1, 2, 0]]))
    beside = model.encode_text(torch.tensor([[1, 2, 0, 0, 0], [1, 2, 3, 4, 5]]))
    torch.testing.assert_close(alone[0], beside[0], atol=1e-5, rtol=0)
