"""Tiny random models of each library, through the code that the real ids use."""

import json
import threading

import encoder_cases
import numpy as np
import open_clip
import pytest
import torch
from encoder_cases import COMMIT, cached, pictures
from feature_cases import small_dataset
from open_clip.transform import image_transform
from PIL import Image
from timm.data import create_transform, resolve_model_data_config
from transformers import BitImageProcessorPil, CLIPImageProcessorPil, SiglipImageProcessorPil

from benchmark.encoders import EncoderInfo, load_encoder
from benchmark.errors import UserError
from benchmark.features import embed
from benchmark.files import file_sha256

MAKERS = {
    "open_clip": encoder_cases.clip_folder,
    "dinov2": encoder_cases.dinov2_folder,
    "siglip": encoder_cases.siglip_folder,
    "clip": encoder_cases.hf_clip_folder,
    "registers": encoder_cases.registers_folder,
    "vit": encoder_cases.vit_folder,
    "timm": encoder_cases.timm_folder,
}


class Models:
    """Folders and the libraries' own models, made when first asked for."""

    def __init__(self, root):
        self.root, self.made = root, {}

    def own(self, kind):
        if kind not in self.made:
            self.made[kind] = MAKERS[kind](self.root / kind)
        return self.made[kind]

    def name(self, kind, options=""):
        self.own(kind)
        family = kind if kind in ("open_clip", "timm") else "transformers"
        return f"{family}:{self.root / kind}{',' if options else ''}{options}"

    def encoder(self, kind, options=""):
        return load_encoder(self.name(kind, options))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return Models(tmp_path_factory.mktemp("models"))


@pytest.fixture(autouse=True)
def hub(tmp_path, monkeypatch):
    """An empty cache of the Hub, and no network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def library_pixels(kind, own):
    """The pictures through the library's own transform: float32 (N, 3, S, S)."""
    if kind == "open_clip":
        transform = image_transform(32, is_train=False, mean=(0.48, 0.46, 0.41))
        return torch.stack([transform(image) for image in pictures()])
    if kind == "timm":
        transform = create_transform(**resolve_model_data_config(own))
        return torch.stack([transform(image) for image in pictures()])
    processor = {
        "dinov2": BitImageProcessorPil,
        "registers": BitImageProcessorPil,
        "clip": CLIPImageProcessorPil,
        "siglip": SiglipImageProcessorPil,
        "vit": SiglipImageProcessorPil,
    }[kind]
    settings = {
        "dinov2": {
            "size": {"shortest_edge": 33},
            "crop_size": {"height": 28, "width": 28},
            "image_mean": [0.485, 0.456, 0.406],
            "image_std": [0.229, 0.224, 0.225],
        },
        "registers": {"size": {"shortest_edge": 28}, "crop_size": {"height": 28, "width": 28}},
        "clip": {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}},
        "siglip": {"size": {"height": 32, "width": 32}, "resample": 2},
        "vit": {"size": {"height": 32, "width": 32}, "resample": 2},
    }[kind]
    return processor(**settings)(pictures(), return_tensors="pt")["pixel_values"]


def library_features(kind, own, x):
    """The library's own call for the default features."""
    if kind == "open_clip":
        return own.encode_image(x)
    if kind == "timm":
        return own.forward_head(own.forward_features(x), pre_logits=True)
    if kind in ("siglip", "clip"):
        return own.get_image_features(x).pooler_output
    return own(x).last_hidden_state[:, 0]


@pytest.mark.parametrize("kind", MAKERS)
def test_preprocessing_is_that_of_the_library(models, kind):
    encoder = models.encoder(kind)
    found = np.stack([encoder._blueprint.preprocessing.pixels(image) for image in pictures()])
    expected = library_pixels(kind, models.own(kind)).numpy()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", MAKERS)
def test_features_are_those_of_the_library(models, kind):
    encoder, own = models.encoder(kind), models.own(kind)
    with torch.inference_mode():
        expected = library_features(kind, own, library_pixels(kind, own)).numpy()
    found = encoder.encode(pictures())
    assert found.dtype == np.float32
    assert found.shape == (len(pictures()), encoder.dim) == expected.shape
    assert np.ptp(expected, axis=0).mean() > 1e-2
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def states(kind, own, x):
    """Tokens after each block, and after the final norm, by the library's own means."""
    if kind == "timm":
        layers = own.forward_intermediates(
            x, return_prefix_tokens=True, output_fmt="NLC", intermediates_only=True
        )
        return [torch.cat([p, t], 1) for t, p in layers], own.forward_features(x)
    if kind == "open_clip":
        layers, seen = own.visual.transformer.resblocks, own.visual._embeds(x)
        result = []
        for block in layers:
            seen = block(seen)
            result.append(seen)
        return result, own.visual.ln_post(seen)
    vision = own.vision_model if kind in ("clip", "siglip") else own
    output = vision(x, output_hidden_states=True)
    last = output.last_hidden_state
    return list(output.hidden_states[1:]), vision.post_layernorm(last) if kind == "clip" else last


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("open_clip", 1),
        ("timm", 1),
        ("dinov2", 1),
        ("registers", 4),
        ("clip", 1),
        ("siglip", 0),
        ("vit", 1),
    ],
)
def test_tokens_and_layers(models, kind, prefix):
    own = models.own(kind)
    with torch.inference_mode():
        layers, final = states(kind, own, library_pixels(kind, own))
    cases = {"": final, ",layer=1": layers[0], f",layer={len(layers)}": layers[-1]}
    for options, tokens in cases.items():
        patches = tokens[:, prefix:]
        expected = {"mean": patches.mean(1), "patches": patches.flatten(1)}
        if prefix:
            expected["cls"] = tokens[:, 0]
        for token, wanted in expected.items():
            encoder = models.encoder(kind, f"token={token}{options}")
            found = encoder.encode(pictures())
            assert found.shape == (7, encoder.dim)
            np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("open_clip", "batch=4"),
        ("dinov2", "token=mean,layer=2,batch=3"),
        ("siglip", ""),
        ("timm", "dtype=bf16,batch=4"),
    ],
)
def test_a_row_depends_on_its_image_only(models, kind, options):
    images, encoder = pictures(), models.encoder(kind, options)
    expected = encoder.encode(images)
    assert encoder.encode([]).shape == (0, encoder.dim)
    order = np.random.default_rng(1).permutation(len(images))
    np.testing.assert_array_equal(encoder.encode([images[i] for i in order]), expected[order])
    for row, image in enumerate(images):
        np.testing.assert_array_equal(encoder.encode([image])[0], expected[row])
    results, before = {}, torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        threads = [
            threading.Thread(target=lambda n=n: results.update({n: encoder.encode(images)}))
            for n in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        torch.set_num_threads(before)
    assert len(results) == 3
    for result in results.values():
        np.testing.assert_array_equal(result, expected)


def test_identity_of_a_folder(models):
    encoder = models.encoder("dinov2", "token=mean, layer=2, dtype=bf16, batch=8, device=cpu")
    info = EncoderInfo.of(encoder)
    assert info.name == "transformers:./dinov2,token=mean,layer=2,dtype=bf16"
    assert info.weights_sha256 == file_sha256(models.root / "dinov2" / "model.safetensors")
    assert (info.batch_size, info.dim, info.revision) == (8, 16, None)
    assert info.preprocessing == (
        "shortest 33, bicubic, center 28 (down), "
        "(rgb / 255 - [0.485 0.456 0.406]) / [0.229 0.224 0.225]; v1"
    )
    assert len(info.config_sha256) == 64
    assert "revision" not in info.as_dict()
    assert f"torch {torch.__version__}, " in encoder.runtime
    assert "transformers 5" in encoder.runtime


def test_the_default_token_is_not_named(models):
    assert models.encoder("dinov2", "token=cls").name == "transformers:./dinov2"
    assert models.encoder("open_clip", "token=pooled").name == "open_clip:./open_clip"


def test_bf16_is_near_and_not_the_same(models):
    exact, rough = (models.encoder("dinov2", o).encode(pictures()) for o in ("", "dtype=bf16"))
    assert rough.dtype == np.float32
    assert 0 < np.abs(exact - rough).max() < 0.3 * np.abs(exact).max()


def test_sixteen_bit_weights_are_computed_in_float32(models, tmp_path):
    """The library would keep the type that the file has."""
    half = models.own("dinov2").__class__.from_pretrained(
        models.root / "dinov2", dtype=torch.bfloat16
    )
    half.save_pretrained(tmp_path / "half")
    source = models.root / "dinov2" / "preprocessor_config.json"
    (tmp_path / "half" / source.name).write_bytes(source.read_bytes())
    encoder = load_encoder(f"transformers:{tmp_path / 'half'}")
    own = half.float()
    with torch.inference_mode():
        expected = library_features("dinov2", own, library_pixels("dinov2", own)).numpy()
    np.testing.assert_allclose(encoder.encode(pictures()), expected, rtol=1e-4, atol=1e-4)


def test_every_choice_has_features_of_its_own(models, tmp_path):
    dataset = small_dataset(20, 2)
    options = [
        "",
        "token=mean",
        "token=mean,layer=1",
        "token=mean,layer=2",
        "dtype=bf16",
        "batch=5",
    ]
    folders = {embed(dataset, models.encoder("dinov2", o), home=tmp_path).folder for o in options}
    assert len(folders) == len(options)
    again = models.encoder("dinov2", "token=cls,device=cpu")
    again._load = None  # the cache answers: nothing is loaded
    assert embed(dataset, again, home=tmp_path).folder in folders


def test_embed_gives_the_rows_of_the_library(models, tmp_path):
    dataset, own = small_dataset(40, 4), models.own("open_clip")
    transform = image_transform(32, is_train=False, mean=(0.48, 0.46, 0.41))
    with torch.inference_mode():
        x = torch.stack([transform(image) for image in dataset.images])
        expected = own.encode_image(x).numpy()
    one, two = (
        embed(dataset, models.encoder("open_clip"), home=tmp_path / str(n), workers=n).images
        for n in (1, 3)
    )
    np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(one, two)


def test_stopped_and_resumed(models, tmp_path):
    class Stop(Exception):
        pass

    def stop(progress):
        if progress.done >= 128:
            raise Stop

    dataset, calls, cut = small_dataset(), [], models.encoder("siglip")
    with pytest.raises(Stop):
        embed(dataset, cut, home=tmp_path / "cut", progress=stop, workers=1)
    resumed = embed(dataset, models.encoder("siglip"), home=tmp_path / "cut", progress=calls.append)
    assert calls[0].done == 128
    fresh = embed(dataset, models.encoder("siglip"), home=tmp_path / "fresh")
    for table in ("images", "base", "edited"):
        np.testing.assert_array_equal(getattr(resumed, table), getattr(fresh, table))


def test_hub_ids(models, hub):
    models.own("dinov2")
    cached(hub, "someone/tiny", models.root / "dinov2")
    expected = models.encoder("dinov2").encode(pictures())
    for name in ("transformers:someone/tiny", f"transformers:someone/tiny@{COMMIT}"):
        encoder = load_encoder(name)
        assert encoder.name == "transformers:someone/tiny"
        assert encoder.revision == COMMIT
        np.testing.assert_array_equal(encoder.encode(pictures()), expected)
    with pytest.raises(UserError, match=r"at revision f{40} is not on this machine; fetch it: hf"):
        load_encoder(f"transformers:someone/tiny@{'f' * 40}")


def test_timm_ids(models, hub):
    own = models.own("timm")
    cached(hub, "timm/test_vit.r160_in1k", models.root / "timm")
    encoder = load_encoder("timm:test_vit.r160_in1k")
    assert (encoder.name, encoder.revision) == ("timm:test_vit.r160_in1k", COMMIT)
    with torch.inference_mode():
        expected = library_features("timm", own, library_pixels("timm", own)).numpy()
    np.testing.assert_allclose(encoder.encode(pictures()), expected, rtol=1e-4, atol=1e-4)


def test_timm_refuses_weights_of_another_activation(models, tmp_path, hub):
    models.own("timm")
    place = cached(hub, "timm/vit_large_patch14_clip_224.openai", models.root / "timm")
    config = json.loads((place / "config.json").read_text())
    config["architecture"], config["pretrained_cfg"]["tag"] = "vit_large_patch14_clip_224", "openai"
    (place / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="trained with QuickGELU and architecture vit_large"):
        load_encoder("timm:vit_large_patch14_clip_224.openai")


def test_a_network_without_tokens(tmp_path):
    own = encoder_cases.timm_folder(tmp_path / "net", "test_efficientnet", crop_mode="squash")
    encoder = load_encoder(f"timm:{tmp_path / 'net'}")
    with torch.inference_mode():
        x = library_pixels("timm", own)
        expected = own.forward_head(own.forward_features(x), pre_logits=True).numpy()
    np.testing.assert_allclose(encoder.encode(pictures()), expected, rtol=1e-3, atol=1e-3)
    assert encoder.preprocessing.startswith("squash ")
    with pytest.raises(UserError, match="has no token=mean; expected one of pooled"):
        load_encoder(f"timm:{tmp_path / 'net'},token=mean")


def test_named_configuration_of_open_clip(models, hub, tmp_path, monkeypatch):
    """The way of ``clip-vit-l-14``: a configuration by name, weights by tag."""
    own = models.own("open_clip")
    place = cached(hub, "someone/tiny-clip", models.root / "open_clip")
    (place / "open_clip_config.json").unlink()
    (tmp_path / "configs").mkdir()
    for name, quick in (("Tiny-quickgelu", True), ("Tiny", False)):
        document = {**encoder_cases.CLIP, "quick_gelu": quick}
        (tmp_path / "configs" / f"{name}.json").write_text(json.dumps(document))
    monkeypatch.setattr("open_clip.factory._MODEL_CONFIG_PATHS", [])
    monkeypatch.setattr("open_clip.factory._MODEL_CONFIGS", {})
    open_clip.add_model_config(tmp_path / "configs")
    known = {
        "hf_hub": "someone/tiny-clip/",
        "mean": (0.48, 0.46, 0.41),
        "std": (0.26862954, 0.26130258, 0.27577711),
        "interpolation": "bicubic",
        "resize_mode": "shortest",
        "quick_gelu": True,
    }
    tags = {"tiny": {"own": known}, "tiny-quickgelu": {"own": known}}
    table = {key.replace("tiny", "Tiny"): value for key, value in tags.items()}
    monkeypatch.setattr("open_clip.pretrained._PRETRAINED", table)
    encoder = load_encoder("open_clip:Tiny-quickgelu/own")
    assert encoder.name == "open_clip:Tiny-quickgelu/own"
    with torch.inference_mode():
        expected = own.encode_image(library_pixels("open_clip", own)).numpy()
    np.testing.assert_allclose(encoder.encode(pictures()), expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(UserError, match=r"QuickGELU and the configuration has GELU; use Tiny-qui"):
        load_encoder("open_clip:Tiny/own")
    # and where the folder's own configuration says otherwise than the list
    document = {"model_cfg": {**encoder_cases.CLIP, "quick_gelu": False}}
    (place / "open_clip_config.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match="trained with QuickGELU"):
        load_encoder("open_clip:someone/tiny-clip")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("open_clip:ViT-L-14/openai", "with QuickGELU .* has GELU; use ViT-L-14-quickgelu"),
        ("open_clip:ViT-L-14/laion", "no such weights; expected ViT-L-14/TAG, tags: .*openai"),
        (
            "clip-vit-l-14",
            "hf download timm/vit_large_patch14_clip_224.openai open_clip_model.safetensors "
            "--revision 18d0535469bb561bf468d76c1d73aa35156c922b$",
        ),
        (
            "dinov2-vit-s-14:token=mean",
            "hf download facebook/dinov2-small config.json preprocessor_config.json "
            "model.safetensors --revision ed25f3a31f01632728cabb09d1542f84ab7b0056$",
        ),
        ("siglip2-vit-b-16", "hf download google/siglip2-base-patch16-224 config.json"),
        (
            "timm:vit_small_patch14_dinov2.lvd142m",
            "hf download timm/vit_small_patch14_dinov2.lvd142m config.json model.safetensors$",
        ),
        ("timm:vit_large_patch14_clip_224.openai", "hf download timm/vit_large_patch14_clip"),
        ("timm:vit_smal_patch14_dinov2", "timm knows no weights called 'vit_smal"),
        ("timm:test_vit.nothing", "timm knows no weights called 'test_vit.nothing'"),
        ("transformers:./absent", r"no model folder \./absent"),
        ("transformers:absent", "expected a folder's path"),
    ],
)
def test_what_is_not_there_says_how_to_get_it(name, message):
    with pytest.raises(UserError, match=message) as caught:
        load_encoder(name)
    assert "\n" not in str(caught.value)


def test_pinned_weights_are_compared(models, hub):
    models.own("dinov2")
    revision = "ed25f3a31f01632728cabb09d1542f84ab7b0056"
    cached(hub, "facebook/dinov2-small", models.root / "dinov2", revision)
    with pytest.raises(UserError, match=r"expected ae1e99f.*model.safetensors .* --force-download"):
        load_encoder("dinov2-vit-s-14")


def test_tokens_that_a_model_has_not(models):
    with pytest.raises(UserError, match="has no token=cls; expected one of pooled, mean, patches"):
        models.encoder("siglip", "token=cls")
    with pytest.raises(UserError, match="has no token=pooled; expected one of cls"):
        models.encoder("dinov2", "token=pooled")
    with pytest.raises(UserError, match=r"\./dinov2 has layers 1 to 3, not 4"):
        models.encoder("dinov2", "layer=4")
    with pytest.raises(UserError, match="pools after its last layer, not after layer 2"):
        models.encoder("open_clip", "layer=2")


def test_suggested_batch_is_advice(models):
    encoder = models.encoder("open_clip")
    assert 16 <= encoder.suggested_batch() <= 1024
    assert encoder.suggested_batch(workers=10**9) == 1
    assert encoder.batch_size == 16


def test_other_modes_are_refused(models):
    with pytest.raises(ValueError, match="not mode L"):
        models.encoder("timm").encode([Image.new("L", (40, 40))])


@pytest.mark.parametrize("tower", ["timm", "resnet"])
def test_other_towers_of_open_clip(tmp_path, tower):
    """A timm tower (as SigLIP's) has tokens; a ResNet has its embedding only."""
    towers = {
        "timm": {
            "image_size": 160,
            "timm_model_name": "test_vit",
            "timm_pool": "avg",
            "timm_proj": "none",
        },
        "resnet": {"image_size": 64, "layers": [1, 1, 1, 1], "width": 8, "head_width": 8},
    }
    config = {**encoder_cases.CLIP, "embed_dim": 64, "vision_cfg": towers[tower]}
    config["custom_text"] = tower == "timm"
    folder = tmp_path / "tower"
    own = encoder_cases.clip_folder(folder, config)
    encoder = load_encoder(f"open_clip:{folder}")
    transform = image_transform(
        towers[tower]["image_size"], is_train=False, mean=(0.48, 0.46, 0.41)
    )
    with torch.inference_mode():
        x = torch.stack([transform(image) for image in pictures()])
        expected = own.encode_image(x).numpy()
    found = encoder.encode(pictures())
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    if tower == "resnet":
        with pytest.raises(UserError, match="has no token=mean; expected one of pooled"):
            load_encoder(f"open_clip:{folder},token=mean")
    else:
        with torch.inference_mode():
            tokens = own.visual.trunk.forward_features(x)[:, 0].numpy()
        cls = load_encoder(f"open_clip:{folder},token=cls").encode(pictures())
        np.testing.assert_allclose(cls, tokens, rtol=1e-3, atol=1e-3)
