import json
import os
import shutil

import pytest

from benchmark.errors import UserError
from generation.editing import KNOWN, locate
from generation.editing.models import folder_sha256


@pytest.fixture
def copy(klein, tmp_path):
    return shutil.copytree(klein, tmp_path / "model")


def test_a_folder_is_named_by_its_content(klein, copy):
    first, second = (locate(str(each), licence="MIT") for each in (klein, copy))
    assert first.name == "folder:klein"
    assert first.revision == second.revision
    assert (first.pipeline, first.distilled, first.text_encoder) == (
        "Flux2KleinPipeline",
        True,
        True,
    )
    (copy / "README.md").write_text("more")
    assert locate(str(copy), licence="MIT").revision != first.revision


def test_hash_of_a_folder_sees_every_byte(copy):
    before = folder_sha256(copy)
    assert folder_sha256(copy) == before
    weights = copy / "vae" / "diffusion_pytorch_model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    assert folder_sha256(copy) != before
    (copy / ".cache").mkdir()
    kept = folder_sha256(copy)
    (copy / ".cache" / "x").write_text("x")
    assert folder_sha256(copy) == kept


def test_kinds_of_pipelines(dev, base_klein, silent_klein):
    found = [locate(str(each), licence="MIT") for each in (dev, base_klein, silent_klein)]
    assert [each.pipeline for each in found] == ["Flux2Pipeline"] + ["Flux2KleinPipeline"] * 2
    assert [each.distilled for each in found] == [False, False, True]
    assert [each.text_encoder for each in found] == [True, True, False]


def test_a_licence_is_stated_or_asked_for(copy):
    with pytest.raises(UserError, match="--licence"):
        locate(str(copy))
    assert locate(str(copy), licence=" MIT\t").licence == "MIT"
    (copy / "README.md").write_text("---\nlicense: apache-2.0 # free\n---\n# Hello\nlicense: no\n")
    assert locate(str(copy)).licence == "apache-2.0"
    assert locate(str(copy), licence="Apache 2.0").licence == "apache-2.0"
    (copy / "README.md").write_text("---\nlicense: other\nlicense_name: 'flux-nc'\n---\n")
    assert locate(str(copy)).licence == "flux-nc"


@pytest.mark.parametrize(
    "card",
    [
        "---\nlicense: other\n---\n",
        "---\nlicense: [unknown]\n---\n",
        "---\nlicense: {a: b}\n---\n",
        "---\ntags:\n  license: mit\n---\n",
        "---\nlicense: [mit\n---\n",
        "---\n- license\n---\n",
        "license: mit\n",
        "---",
    ],
)
def test_a_card_may_state_no_licence(copy, card):
    (copy / "README.md").write_text(card)
    with pytest.raises(UserError, match="does not state its licence"):
        locate(str(copy))
    assert locate(str(copy), licence="MIT").licence == "MIT"


def test_what_the_makers_state_cannot_be_overruled(copy, monkeypatch):
    (copy / "README.md").write_text("---\nlicense: other\nlicense_name: flux-nc\n---\n")
    with pytest.raises(UserError, match="is under 'flux-nc', as its makers state; leave --licence"):
        locate(str(copy), licence="Apache-2.0")
    monkeypatch.setattr("diffusers.DiffusionPipeline.download", lambda *_, **__: str(copy))
    named = f"dev@{'a' * 40}"
    other_case = f"Black-Forest-Labs/flux.2-dev@{'a' * 40}"
    assert locate(other_case).licence == KNOWN["dev"].licence
    with pytest.raises(UserError, match="is under 'FLUX Non-Commercial"):
        locate(named, licence="Apache-2.0")
    assert locate(named).licence == locate(named, licence=KNOWN["dev"].licence).licence
    assert locate(named).licence == KNOWN["dev"].licence


def test_a_folder_called_like_a_known_model_is_not_under_its_licence(copy, monkeypatch):
    copy.rename(copy.parent / "klein-4b")
    monkeypatch.chdir(copy.parent)
    with pytest.raises(UserError, match="does not state its licence"):
        locate("klein-4b")
    assert locate("klein-4b", licence="MIT").name == "folder:klein-4b"


def test_a_name_that_no_record_can_hold_is_refused(copy):
    name = os.fsencode(copy.parent / "mod") + b"\xff"
    copy.rename(os.fsdecode(name))
    with pytest.raises(UserError, match="give it one of printable characters"):
        locate(os.fsdecode(name), licence="MIT")


@pytest.mark.parametrize(
    "licence", ["", "  \n", "not stated", "Other", "UNKNOWN", "n/a", "?", "-", "a\0b", "x" * 301]
)
def test_a_licence_that_is_none_is_refused(copy, licence):
    with pytest.raises(UserError, match="names no licence; expected the model's"):
        locate(str(copy), licence=licence)


def test_known_models_carry_their_licence():
    assert KNOWN["klein-4b"].licence == "Apache-2.0"
    assert "on-commercial" in KNOWN["klein-9b"].licence
    assert "on-commercial" in KNOWN["dev"].licence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"_class_name": "StableDiffusionPipeline"}, "is a 'StableDiffusionPipeline'"),
        ({"_class_name": "pipeline.Flux2KleinPipeline"}, "expected one of Flux2KleinPipeline"),
        ({"vae": ["my_code", "Vae"]}, "vae is ['my_code', 'Vae']"),
        ({"vae": [None, None]}, "vae is [None, None]"),
        ({"scheduler": [None, None]}, "there is no scheduler"),
        ({"text_encoder": None}, "text_encoder is None"),
        ({"text_encoder": {}}, "text_encoder is {}"),
        ({"tokenizer": "x"}, "tokenizer is 'x'"),
        ({"tokenizer": ["transformers", None]}, "tokenizer is ['transformers', None]"),
        ({"transformer": ["diffusers", "UNet2DModel"]}, "expected Flux2Transformer2DModel"),
        ({"is_distilled": "yes"}, "is_distilled is 'yes'"),
    ],
)
def test_only_the_two_pipelines_of_known_parts_pass(copy, change, said):
    path = copy / "model_index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError) as raised:
        locate(str(copy), licence="MIT")
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


def test_absent_models_are_one_line(tmp_path):
    with pytest.raises(UserError, match="no such folder; expected one, klein-4b"):
        locate("nowhere")
    with pytest.raises(UserError, match=r"cannot read .*model_index\.json"):
        locate(str(tmp_path), licence="MIT")
    with pytest.raises(UserError, match=f"owner/none@{'a' * 40} cannot be had"):
        locate(f"owner/none@{'a' * 40}")
