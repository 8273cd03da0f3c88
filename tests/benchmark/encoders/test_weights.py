import hashlib
import json

import pytest
from encoder_cases import dinov2_folder, timm_folder

from benchmark.encoders import load_encoder
from benchmark.encoders.weights import config_sha256, find, weights_sha256
from benchmark.errors import UserError


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "dinov2"
    dinov2_folder(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    """A copy to spoil."""
    copy = tmp_path / "dinov2"
    copy.mkdir()
    for path in whole.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def change(path, **values):
    document = json.loads(path.read_text())
    document |= values
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not None}))


def test_weights_in_parts(folder, whole):
    from transformers import Dinov2Model

    Dinov2Model.from_pretrained(whole).save_pretrained(folder, max_shard_size="8KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    place = find(str(folder), ())
    files = place.weights("model")
    assert len(files) > 1
    listing = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(files)
    )
    expected = hashlib.sha256(listing.encode()).hexdigest()
    assert weights_sha256(files, place=place) == expected
    parts, one = load_encoder(f"transformers:{folder}"), load_encoder(f"transformers:{whole}")
    assert parts.weights_sha256 == expected
    from encoder_cases import pictures

    assert (parts.encode(pictures()) == one.encode(pictures())).all()
    files[0].unlink()
    with pytest.raises(UserError, match=f"no file {files[0].name} in folder"):
        load_encoder(f"transformers:{folder}")


def test_an_index_that_leaves_the_folder(folder):
    (folder / "model.safetensors").unlink()
    document = {"weight_map": {"a": "../other/model.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match="expected a weight_map of file names"):
        load_encoder(f"transformers:{folder}")


def test_a_pickle_is_not_read(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UserError, match=r"pytorch_model\.bin, which is a pickle and not read"):
        load_encoder(f"transformers:{folder}")


def test_missing_tensors_are_not_made_up(folder):
    from safetensors.torch import load_file, save_file

    state = load_file(folder / "model.safetensors")
    state.pop("layernorm.weight")
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"weights lack 1 tensors of the model, layernorm\.weight"):
        load_encoder(f"transformers:{folder}").encode([])


def test_tensors_of_another_shape(folder):
    change(folder / "config.json", hidden_size=32)
    with pytest.raises(UserError, match=r"\./dinov2: weights do not fit config\.json") as caught:
        load_encoder(f"transformers:{folder}").encode([])
    assert "\n" not in str(caught.value)


def test_settings_are_part_of_the_identity(folder, whole):
    change(folder / "config.json", hidden_act="relu", transformers_version="9")
    changed, usual = load_encoder(f"transformers:{folder}"), load_encoder(f"transformers:{whole}")
    assert changed.name == usual.name
    assert changed.weights_sha256 == usual.weights_sha256
    assert changed.config_sha256 != usual.config_sha256
    assert config_sha256({"a": 1, "transformers_version": "5"}) == config_sha256({"a": 1})


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("config.json", {"model_type": "bert"}, "model_type 'bert'; expected one of dinov2"),
        ("config.json", {"model_type": None}, "model_type None; expected"),
        ("preprocessor_config.json", {"do_rescale": False}, "do_rescale is False; expected true"),
        ("preprocessor_config.json", {"rescale_factor": 1}, "rescale_factor is 1; expected 1/255"),
        ("preprocessor_config.json", {"resample": 4}, "resample is 4; expected one of"),
        ("preprocessor_config.json", {"crop_size": {"height": 28, "width": 14}}, "a square"),
        ("preprocessor_config.json", {"do_center_crop": False}, "expected a square"),
        ("preprocessor_config.json", {"image_mean": None}, "image_mean"),
        ("preprocessor_config.json", {"image_std": "abc"}, "preprocessor_config.json: "),
        ("preprocessor_config.json", {"crop_size": 40}, "crop is 40; expected 1 to 33"),
    ],
)
def test_settings_that_do_not_do(folder, file, values, message):
    change(folder / file, **values)
    with pytest.raises(UserError, match=message) as caught:
        load_encoder(f"transformers:{folder}")
    assert "\n" not in str(caught.value)


def test_broken_settings(folder):
    (folder / "config.json").write_text("{")
    with pytest.raises(UserError, match=r"config\.json: is no JSON"):
        load_encoder(f"transformers:{folder}")
    (folder / "config.json").write_text("[]")
    with pytest.raises(UserError, match=r"config\.json: expected a JSON object"):
        load_encoder(f"transformers:{folder}")


def test_code_of_a_model_is_not_run(folder):
    marker = folder / "ran"
    (folder / "own.py").write_text(f"open({str(marker)!r}, 'w')\n")
    change(folder / "config.json", auto_map={"AutoModel": "own.Own", "AutoConfig": "own.Own"})
    load_encoder(f"transformers:{folder}").encode([])
    assert not marker.exists()


def test_a_folder_of_timm_without_architecture(tmp_path):
    timm_folder(tmp_path / "net")
    change(tmp_path / "net" / "config.json", architecture="no_such_net")
    with pytest.raises(UserError, match="names no architecture of timm: 'no_such_net'"):
        load_encoder(f"timm:{tmp_path / 'net'}")


@pytest.mark.parametrize("document", [{}, {"model_cfg": {}}, {"model_cfg": [1]}])
def test_a_folder_of_open_clip_without_model(tmp_path, document):
    (tmp_path / "open_clip_config.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match="expected objects model_cfg"):
        load_encoder(f"open_clip:{tmp_path}")
