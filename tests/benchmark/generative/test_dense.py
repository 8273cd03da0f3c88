"""The dense pass of every kind of model, against the model itself and other ways to compute it."""

import copy
import json
import math
import weakref

import clip_models
import numpy as np
import pytest
import torch
from torch.nn import functional

from benchmark.errors import UserError
from benchmark.generative import dense_clip, load_clip
from benchmark.generative.dense.base import AttentionMean, last_block_mask

KINDS = (
    "open_clip 3",
    "open_clip 3 custom",
    "open_clip 3 final norm after pooling",
    "open_clip 4",
    "CLIP",
    "AltCLIP",
    "ChineseCLIP",
    "MetaClip2",
)


def tokenizer():
    import open_clip

    return open_clip.get_tokenizer("ViT-B-32")


def build(kind: str, **options):
    if not kind.startswith("open_clip"):
        return clip_models.transformers_model(kind, **options), clip_models.Words()
    extra = {
        "open_clip 3 custom": {
            "qk_norm": True, "scale_heads": True, "scale_attn_inner": True, "scale_attn": True,
            "ls_init_value": 0.5,
        },
        "open_clip 3 final norm after pooling": {"final_ln_after_pool": True, "no_ln_pre": True},
    }.get(kind, {})  # fmt: skip
    model = clip_models.open_clip_model(**extra, **options)
    return clip_models.own_attention(model) if kind == "open_clip 4" else model, tokenizer()


@pytest.fixture(scope="module", params=KINDS)
def clip(request):
    model, words = build(request.param)
    return dense_clip(model, words, name=request.param)


@pytest.fixture(scope="module")
def pixels():
    shape = (3, 3, clip_models.SIZE, clip_models.SIZE)
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def own_embedding(clip, pixels):
    model = clip.model
    with torch.inference_mode():
        if hasattr(model, "encode_image"):
            found = model.encode_image(pixels)
        else:
            found = model.get_image_features(pixel_values=pixels).pooler_output
    return functional.normalize(found, dim=-1)


def blocks_of(model):
    if hasattr(model, "visual"):
        return [(b, b.attn) for b in model.visual.transformer.resblocks]
    return [(b, b.self_attn) for b in model.vision_model.encoder.layers]


def inputs_of_attention(clip, pixels):
    """What each block's attention is given in a plain forward pass."""
    kept, hooks = [], []

    def keep(_module, arguments, options):
        kept.append(arguments[0] if arguments else options["hidden_states"])

    for _, attn in blocks_of(clip.model):
        hooks.append(attn.register_forward_pre_hook(keep, with_kwargs=True))
    own_embedding(clip, pixels)
    for hook in hooks:
        hook.remove()
    return kept


def projections(attn, x):
    """Query, key and value (B, heads, T, d) of a module of any kind."""
    if hasattr(attn, "q_proj"):
        parts = [attn.q_proj(x), attn.k_proj(x), attn.v_proj(x)]
    else:
        parts = functional.linear(x, attn.in_proj_weight, attn.in_proj_bias).chunk(3, dim=-1)
    q, k, v = (p.unflatten(-1, (attn.num_heads, -1)).transpose(1, 2) for p in parts)
    if isinstance(getattr(attn, "ln_q", None), torch.nn.LayerNorm):
        q, k = attn.ln_q(q), attn.ln_k(k)
    return q, k, v


def test_class_token_is_the_models_own_embedding(clip, pixels):
    tokens = clip.dense(pixels)
    torch.testing.assert_close(tokens.cls, own_embedding(clip, pixels), atol=1e-5, rtol=0)
    assert tokens.patches.shape == (3, clip.patches, tokens.cls.shape[1])
    torch.testing.assert_close(
        tokens.patches.norm(dim=-1), torch.ones(3, clip.patches), atol=1e-5, rtol=0
    )
    # the random models do tell images and patches apart
    assert (tokens.cls[0] @ tokens.cls[1]) < 0.999
    assert (tokens.patches[0] @ tokens.patches[0].T).min() < 0.99


def test_masked_patches_equal_the_path_that_keeps_values_only(clip, pixels):
    """In the last block a patch that sees itself alone passes its own value on."""
    block, attn = blocks_of(clip.model)[-1]
    with torch.inference_mode():
        x = inputs_of_attention(clip, pixels)[-1]
        value = projections(attn, x)[2]
        if getattr(attn, "head_scale", None) is not None:
            value = value * attn.head_scale
        value = value.transpose(1, 2).flatten(2)
        inner = getattr(attn, "ln_inner", None)
        through = attn.out_proj(value if inner is None else inner(value))
        # put in place of the attention's output, the rest of the model does the rest
        hook = attn.register_forward_hook(
            lambda _m, _i, out: (through, None) if isinstance(out, tuple) else through
        )
        kept = []
        end = block.register_forward_hook(lambda _m, _i, out: kept.append(out))
        own_embedding(clip, pixels)
        hook.remove()
        end.remove()
        hidden = kept[0]
        if hasattr(clip.model, "visual"):
            expected = clip.model.visual.ln_post(hidden) @ clip.model.visual.proj
        else:
            expected = clip.model.visual_projection(clip.model.vision_model.post_layernorm(hidden))
        expected = functional.normalize(expected, dim=-1)[:, 1:]
    torch.testing.assert_close(clip.dense(pixels).patches, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("renormalize", [True, False])
def test_attention_is_the_mean_over_layers_and_heads(clip, pixels, renormalize):
    layers = []
    with torch.inference_mode():
        inputs = inputs_of_attention(clip, pixels)
        for (_, attn), x in list(zip(blocks_of(clip.model), inputs, strict=True))[:-1]:
            q, k, _ = projections(attn, x)
            weights = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(dim=-1)
            part = weights.mean(dim=1)[:, 1:, 1:]
            layers.append(part / part.sum(dim=-1, keepdim=True) if renormalize else part)
    found = clip.dense(pixels, renormalize=renormalize).attention
    torch.testing.assert_close(found, torch.stack(layers).mean(dim=0), atol=1e-5, rtol=0)
    flat = torch.full((3, clip.patches, 1), 0.3)
    if renormalize:  # a constant map stays constant
        torch.testing.assert_close(found @ flat, flat, atol=1e-6, rtol=0)
    else:  # what goes to the class token is lost
        assert (found @ flat < flat).all()


def test_the_model_is_left_as_it_was(clip, pixels):
    before = own_embedding(clip, pixels)
    state = copy.deepcopy(clip.model.state_dict())
    clip.dense(pixels)
    assert torch.equal(own_embedding(clip, pixels), before)
    for _, attn in blocks_of(clip.model):
        assert "forward" not in attn.__dict__
        assert not attn._forward_hooks
        assert not attn._forward_pre_hooks
        if hasattr(attn, "config"):
            assert attn.config._attn_implementation != "eager"
    for key, value in clip.model.state_dict().items():
        assert torch.equal(value, state[key])


def test_an_image_does_not_depend_on_its_batch(clip, pixels):
    whole, alone = clip.dense(pixels), clip.dense(pixels[1:2])
    for name in ("cls", "patches", "attention"):
        torch.testing.assert_close(
            getattr(whole, name)[1:2], getattr(alone, name), atol=1e-5, rtol=0
        )


def test_a_failing_pass_leaves_the_model_as_it_was(clip):
    with pytest.raises((RuntimeError, ValueError)):
        clip.dense(torch.zeros(1, 3, 8, 8))
    for _, attn in blocks_of(clip.model):
        assert "forward" not in attn.__dict__
        assert not attn._forward_hooks


@pytest.mark.parametrize("layers", [3, 9])
@pytest.mark.parametrize("kind", ["open_clip 3", "open_clip 4", "CLIP"])
def test_memory_of_a_batch_does_not_grow_with_layers(kind, layers, monkeypatch):
    """When a layer's attention comes, that of every earlier layer is gone; one sum remains."""
    model, words = build(kind, layers=layers)
    clip = dense_clip(model, words, name=kind)
    seen, alive, added = [], [], AttentionMean.add

    def watched(self, weights):
        alive.append(sum(reference() is not None for reference in seen))
        seen.append(weakref.ref(weights))
        added(self, weights)
        assert self._sum.shape == (2, clip.patches, clip.patches)

    monkeypatch.setattr(AttentionMean, "add", watched)
    clip.dense(torch.zeros(2, 3, clip_models.SIZE, clip_models.SIZE))
    assert alive == [0] * (layers - 1)


def test_attention_that_does_not_fit_is_refused():
    mean = AttentionMean(2, 4, renormalize=True)
    with pytest.raises(RuntimeError, match="attention of shape"):
        mean.add(torch.ones(1, 2, 4, 4))
    mean.add(torch.ones(1, 2, 5, 5))
    with pytest.raises(RuntimeError, match="1 layers captured, expected 2"):
        mean.mean()


def test_mask_is_additive_floats():
    mask = last_block_mask(2, torch.zeros(1))
    inf = float("-inf")
    assert mask.dtype == torch.float32
    assert mask.tolist() == [[0, 0, 0], [inf, 0, inf], [inf, inf, 0]]


def test_pixels_are_normalised_as_the_model_says():
    model, words = build("open_clip 3")
    clip = dense_clip(model, words, name="x", mean=[0.5, 0.5, 0.5], std=[0.25, 0.5, 1])
    image = np.zeros((1, 32, 32, 3), np.uint8)
    image[..., 1], image[..., 2] = 255, 51
    found = clip.pixels(image)
    assert found.shape == (1, 3, 32, 32)
    torch.testing.assert_close(found[0, :, 4, 5], torch.tensor([-2.0, 1.0, -0.3]))


@pytest.mark.parametrize("kind", ["open_clip 3", "CLIP"])
def test_weights_hash_depends_on_every_weight(kind):
    def sha(change):
        model, words = build(kind)
        with torch.no_grad():
            change(model)
        return dense_clip(model, words, name="x").weights_sha256

    same = sha(lambda model: None)
    assert same == sha(lambda model: None)
    assert same != sha(lambda model: model.logit_scale.add_(1e-3))


def test_texts_are_measured_with_start_and_end():
    model, words = build("open_clip 3")
    clip = dense_clip(model, words, name="x")
    assert clip.fits("hat " * 75)
    assert not clip.fits("hat " * 76)
    assert not clip.fits("hat " * 2000)
    other = dense_clip(*build("CLIP"), name="y")
    assert other.fits("hat " * 75)
    assert not other.fits("hat " * 76)


@pytest.mark.parametrize("kind", ["open_clip 3", "CLIP"])
def test_text_embeddings_are_the_models_own(kind):
    model, words = build(kind)
    clip = dense_clip(model, words, name="x")
    found = clip.encode_text(clip_models.TEXTS)
    with torch.inference_mode():
        if kind == "CLIP":
            own = torch.cat(
                [
                    model.get_text_features(input_ids=torch.tensor([words(t)["input_ids"]]))[1]
                    for t in clip_models.TEXTS
                ]
            )
        else:
            own = model.encode_text(words(clip_models.TEXTS))
    torch.testing.assert_close(found, functional.normalize(own, dim=-1), atol=1e-5, rtol=0)


def refused(model, words=None):
    with pytest.raises(UserError) as caught:
        dense_clip(model, words or tokenizer(), name="this-model")
    message = str(caught.value)
    assert "this-model" in message
    assert "\n" not in message
    return message


def test_models_without_a_class_token_are_refused_with_the_reason():
    model = clip_models.transformers_model("Siglip")
    assert "no class token" in refused(model, clip_models.Words())
    assert "pools its patches by attention" in refused(model, clip_models.Words())
    assert "pooled over patches" in refused(clip_models.open_clip_model(pool_type="avg"))
    pooled = clip_models.open_clip_model(attentional_pool=True, attn_pooler_heads=2)
    assert "pooled over patches" in refused(pooled)
    resnet = clip_models.open_clip_model(layers=[1, 1, 1, 1], head_width=32)
    assert "ModifiedResNet) has no class token" in refused(resnet)


def test_other_unusable_models_are_refused():
    assert "1 block" in refused(clip_models.open_clip_model(layers=1))
    assert "neither an open_clip model" in refused(torch.nn.Linear(2, 2))
    # a tower whose embedding is something else than its class token
    odd = clip_models.open_clip_model()
    odd.encode_image = lambda pixels: -odd.visual(pixels)
    assert "not its class token" in refused(odd)
    model = clip_models.transformers_model("CLIP")
    del model.visual_projection
    assert "lacks an image projection" in refused(model, clip_models.Words())
    with pytest.raises(UserError, match="expected three finite numbers"):
        dense_clip(clip_models.open_clip_model(), tokenizer(), name="x", mean=[1, 2])


def test_loading_by_name(tmp_path):
    from safetensors.torch import save_file

    model = clip_models.open_clip_model()
    folder = tmp_path / "tiny"
    folder.mkdir()
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    vision = {"layers": 3, "width": 48, "head_width": 16, "patch_size": 8, "image_size": 32}
    config = {
        "embed_dim": 24,
        "vision_cfg": vision,
        "text_cfg": {"width": 32, "heads": 2, "layers": 2},
    }
    norm = {"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}
    document = {"model_cfg": config, "preprocess_cfg": norm}
    (folder / "open_clip_config.json").write_text(json.dumps(document))
    clip = load_clip(f"open_clip:local-dir:{folder}")
    assert clip.name == f"open_clip:local-dir:{folder}"
    assert clip.weights_sha256 == dense_clip(model, tokenizer(), name="x").weights_sha256
    assert (clip.mean, clip.std) == ((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))


def test_loading_a_folder_of_transformers(tmp_path, monkeypatch):
    import transformers

    model = clip_models.transformers_model("CLIP")
    model.save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text('{"image_mean": [0, 0, 0]}')
    monkeypatch.setattr(
        transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: clip_models.Words()
    )
    clip = load_clip(f"transformers:{tmp_path}")
    assert clip.weights_sha256 == dense_clip(model, clip_models.Words(), name="x").weights_sha256
    assert clip.mean == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clip", "unknown CLIP model 'clip'"),
        ("open_clip:", "expected open_clip:ARCHITECTURE:WEIGHTS"),
        ("open_clip:ViT-B-99:openai", "no architecture 'ViT-B-99'"),
        ("open_clip:local-dir:/nowhere", "no folder with an open_clip_config.json"),
        ("transformers:/nowhere", "expected a folder with a config.json"),
    ],
)
def test_wrong_names_are_named(name, message):
    with pytest.raises(UserError, match=message):
        load_clip(name)
