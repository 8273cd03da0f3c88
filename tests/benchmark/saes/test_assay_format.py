"""The suite's own format: round trips, same bytes, and faults that name what is wrong."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from small_saes import build, rules

from benchmark.errors import UserError
from benchmark.saes import load_sae
from benchmark.saes.formats.assay import FORMAT


@pytest.fixture
def folder(tmp_path):
    FORMAT.save(build(rules()["threshold"]), tmp_path / "sae", {"seed": 0})
    return tmp_path / "sae"


def test_round_trip(sae, tmp_path, rng):
    FORMAT.save(sae, tmp_path / "a", {"seed": 0})
    x = rng.standard_normal((50, sae.d_in))
    for path in ("a", "a/sae.safetensors", "a/config.json"):
        loaded = load_sae(tmp_path / path)
        assert np.array_equal(loaded.encode(x).toarray(), sae.encode(x).toarray())
        assert np.array_equal(loaded.reconstruct(x), sae.reconstruct(x))
        assert loaded.metadata["training"] == {"seed": 0}


def test_same_sae_same_bytes(sae, tmp_path):
    for name in ("a", "b"):
        FORMAT.save(sae, tmp_path / name, {"seed": 0})
    for file in ("sae.safetensors", "config.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def change_tensor(folder, name, value):
    tensors = load_file(folder / "sae.safetensors")
    if value is None:
        del tensors[name]
    else:
        tensors[name] = value
    save_file(tensors, folder / "sae.safetensors")


def nan_weights():
    weights = np.ones((40, 12), np.float32)
    weights[7, 3] = np.nan
    return weights


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("decoder", None, "'decoder' is missing"),
        ("decoder", np.ones((12, 40), np.float32), r"\(12, 40\); expected \(40, 12\)"),
        ("encoder", nan_weights(), r"'encoder' holds NaN or infinity at \[7, 3\]"),
        ("threshold", np.ones(40, np.int32), "expected floats"),
        ("extra", np.ones(2, np.float32), "unknown tensor 'extra'"),
    ],
)
def test_a_wrong_tensor_is_named(folder, name, value, message):
    change_tensor(folder, name, value)
    with pytest.raises(UserError, match=message):
        load_sae(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_sae": 41}, r"has shape \(40,\); expected \(41,\)"),
        ({"d_in": True}, "d_in is True"),
        ({"d_sae": 0}, "expected at least 1"),
        ({"activation": "swish"}, "'swish'"),
        ({"activation": "topk"}, "k is None"),
        ({"activation": "topk", "k": 41}, "k is 41"),
        ({"normalisation": "whiten"}, "'whiten'"),
        ({"format_version": 2}, "version 2"),
        ({"surprise": 1}, "unknown key 'surprise'"),
    ],
)
def test_a_wrong_config_is_named(folder, change, message):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError, match=message):
        load_sae(folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"short", (10**11).to_bytes(8, "little") + b"x" * 100, b"\x02" + b"\0" * 7 + b"[]"],
    ids=["empty", "short", "claims 100 GB", "not a header"],
)
def test_broken_weights_are_one_line(folder, content):
    (folder / "sae.safetensors").write_bytes(content)
    with pytest.raises(UserError) as caught:
        load_sae(folder)
    assert "sae.safetensors" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_truncated_weights_are_refused(folder):
    path = folder / "sae.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="safetensors"):
        load_sae(folder)


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "[" * 100_000])
def test_broken_config_is_one_line(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(UserError, match=r"config\.json"):
        load_sae(folder)


def test_nothing_there(tmp_path):
    with pytest.raises(UserError, match="no such file or folder"):
        load_sae(tmp_path / "absent")
    with pytest.raises(UserError, match="no weights here; expected one file ending in"):
        load_sae(tmp_path)
