"""RA-CLIPScore of a tiny random model against a restatement of its three steps in numpy."""

from pathlib import Path

import clip_models
import numpy as np
import pytest
import torch
from PIL import Image

from benchmark.errors import UserError
from benchmark.generative import checked_attributes, dense_clip, load_clip, ra_clip_scores
from benchmark.generative.dense.base import Tokens
from benchmark.generative.refine import Options, score_tokens
from benchmark.generative.resize import resized
from benchmark.images import read_image

CASES = Path(__file__).parents[4] / "shared" / "cases" / "images"
NAMES = ["hat", "eyeglasses", "a wide smile"]


@pytest.fixture(scope="module")
def clip():
    import open_clip

    model = clip_models.open_clip_model()
    with torch.no_grad():
        model.logit_scale.fill_(np.log(20))
    return dense_clip(model, open_clip.get_tokenizer("ViT-B-32"), name="tiny")


def pictures(n: int, seed: int = 0, size: tuple[int, int] = (32, 32)) -> list[Image.Image]:
    generator = np.random.default_rng(seed)
    small = generator.integers(0, 256, (n, 4, 4, 3), dtype=np.uint8)
    return [Image.fromarray(one).resize(size, Image.Resampling.BICUBIC) for one in small]


@pytest.fixture(scope="module")
def scores(clip):
    return ra_clip_scores(pictures(7), NAMES, model=clip, batch_size=3)


def softmax(values, axis):
    e = np.exp(values - values.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def by_hand(clip, images, *, dual=True, local=True, whole=True, spatial=None, renormalize=True):
    """§5.1 with loops, in float64, from the embeddings and attention of one image at a time."""
    claiming = clip.encode_text([f"This is a photo of {n}." for n in NAMES]).double().numpy()
    denying = clip.encode_text([f"This is a photo without {n}." for n in NAMES]).double().numpy()
    s = clip.logit_scale
    spatial = s if spatial is None else spatial
    result = []
    for image in images:
        pixels = clip.pixels(np.array(image)[None])
        tokens = clip.dense(pixels, renormalize=renormalize)
        v = torch.cat([tokens.cls[:, None], tokens.patches], dim=1)[0].double().numpy()
        attention = tokens.attention[0].double().numpy()
        image_score, refined, unrefined = [], [], []
        for t in range(len(NAMES)):
            up, down = v @ claiming[t], v @ denying[t]
            hat = softmax(np.stack([s * up, s * down]), 0)[0] if dual else up
            tilde = np.array([sum(row[k] * hat[1 + k] for k in range(16)) for row in attention])
            keep = [j for j in range(17) if (local or j == 0) and (whole or j > 0)]
            weight = softmax(spatial * up[keep], 0)
            image_score.append(weight @ np.concatenate([hat[:1], tilde])[keep])
            refined.append(tilde.reshape(4, 4))
            unrefined.append(hat[1:].reshape(4, 4))
        result.append((image_score, refined, unrefined, 100 * v[0] @ claiming.T))
    return [np.array(part) for part in zip(*result, strict=True)]


def test_scores_equal_the_restatement(clip, scores):
    image, refined, unrefined, cosine = by_hand(clip, pictures(7))
    assert scores.image.shape == (7, 3)
    assert scores.patch.shape == (7, 3, 4, 4)
    np.testing.assert_allclose(scores.image, image, atol=2e-5)
    np.testing.assert_allclose(scores.patch, refined, atol=2e-5)
    np.testing.assert_allclose(scores.patch_unrefined, unrefined, atol=2e-5)
    np.testing.assert_allclose(scores.clip, cosine, atol=2e-3)
    assert scores.image.std(axis=0).min() > 1e-4  # the tiny model does tell the images apart


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ({"dual_prompts": False}, {"dual": False}),
        ({"local_tokens": False}, {"local": False}),
        ({"global_token": False}, {"whole": False}),
        ({"renormalize": False}, {"renormalize": False}),
        ({"spatial_scale": 3.0}, {"spatial": 3.0}),
    ],
)
def test_ablations_equal_the_restatement(clip, scores, options, stated):
    found = ra_clip_scores(pictures(4), NAMES, model=clip, **options)
    image, refined, _, _ = by_hand(clip, pictures(4), **stated)
    np.testing.assert_allclose(found.image, image, atol=2e-5)
    np.testing.assert_allclose(found.patch, refined, atol=2e-5)
    assert np.abs(found.image - scores.image[:4]).max() > 1e-5
    for name, value in options.items():
        assert found.protocol[name] == value
        assert scores.protocol[name] != value


def test_a_constant_map_gives_that_score_everywhere():
    """Where every token says the same, so do the refined map and the score of the image."""
    attention = torch.rand(2, 6, 6)
    attention /= attention.sum(dim=-1, keepdim=True)
    one = torch.nn.functional.normalize(torch.ones(2, 1, 5), dim=-1)
    tokens = Tokens(one[:, 0], one.expand(2, 6, 5), attention)
    texts = torch.nn.functional.normalize(torch.randn(2, 3, 5), dim=-1)
    scored = score_tokens(tokens, texts[0], texts[1], 10.0, Options())
    expected = torch.sigmoid(10 * (one[:, 0] @ (texts[0] - texts[1]).T))
    torch.testing.assert_close(scored.image, expected, atol=1e-5, rtol=0)
    flat = expected[:, None].expand(2, 6, 3)
    torch.testing.assert_close(scored.refined, flat, atol=1e-5, rtol=0)


def test_other_attributes_do_not_move_a_score(clip, scores):
    alone = ra_clip_scores(pictures(7), NAMES[1:2], model=clip, batch_size=3)
    np.testing.assert_allclose(alone.image[:, 0], scores.image[:, 1], atol=1e-6)
    np.testing.assert_allclose(alone.patch[:, 0], scores.patch[:, 1], atol=1e-6)


def test_order_and_batch_size_do_not_matter(clip, scores):
    order = [3, 0, 6, 1, 5, 4, 2]
    images = pictures(7)
    turned = ra_clip_scores([images[k] for k in order], NAMES, model=clip, batch_size=3)
    np.testing.assert_allclose(turned.image, scores.image[order], atol=1e-6)
    np.testing.assert_allclose(turned.sums.mean(), scores.sums.mean(), atol=1e-7)
    for size in (1, 7, 20):
        other = ra_clip_scores(images, NAMES, model=clip, batch_size=size)
        np.testing.assert_allclose(other.image, scores.image, atol=1e-5)
    again = ra_clip_scores(images, NAMES, model=clip, batch_size=3)
    assert again.image.tobytes() == scores.image.tobytes()
    assert again.patch.tobytes() == scores.patch.tobytes()


def test_sums_hold_the_mean_maps_when_maps_are_not_kept(clip, scores):
    found = ra_clip_scores(pictures(7), NAMES, model=clip, keep_maps=False)
    assert found.patch is None
    assert found.patch_unrefined is None
    mean = scores.patch.astype(float).mean(axis=0)
    np.testing.assert_allclose(found.sums.mean(), mean, atol=1e-6)
    unrefined = scores.patch_unrefined.astype(float).mean(axis=0)
    np.testing.assert_allclose(found.sums_unrefined.mean(), unrefined, atol=1e-6)


def test_maps_are_kept_only_while_they_fit(clip, monkeypatch):
    from benchmark.generative import ra_clip

    monkeypatch.setattr(ra_clip, "MAX_KEPT_BYTES", 2 * 4 * 3 * 3 * 16)
    assert ra_clip_scores(pictures(3), NAMES, model=clip).patch is not None
    assert ra_clip_scores(pictures(4), NAMES, model=clip).patch is None
    assert ra_clip_scores(pictures(4), NAMES, model=clip, keep_maps=True).patch is not None


def test_images_are_read_one_at_a_time(clip):
    class Lazy:
        alive = 0

        def __len__(self):
            return 5

        def __getitem__(self, index):
            return pictures(5)[index]

    done = []
    found = ra_clip_scores(Lazy(), NAMES, model=clip, batch_size=2, progress=done.append)
    assert done == [2, 4, 5]
    np.testing.assert_allclose(
        found.image, ra_clip_scores(pictures(5), NAMES, model=clip).image, atol=1e-5
    )


def test_paths_contents_and_images_give_the_same(clip, tmp_path):
    images = pictures(3, size=(50, 41))
    paths = [tmp_path / f"{k}.png" for k in range(3)]
    for image, path in zip(images, paths, strict=True):
        image.save(path)
    expected = ra_clip_scores(images, NAMES, model=clip).image
    for sources in (paths, [str(p) for p in paths], [p.read_bytes() for p in paths]):
        np.testing.assert_array_equal(ra_clip_scores(sources, NAMES, model=clip).image, expected)


def hostile(folder):
    """Pictures of every sort that a folder may hold, made here."""
    rng = np.random.default_rng(0)
    plain = Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8))
    made = {
        "UPPER.PNG": plain,
        "ünïcode 鳥.png": plain,
        "palette.png": plain.quantize(16),
        "gray.jpg": plain.convert("L"),
        "gray16.png": Image.fromarray(rng.integers(0, 65536, (20, 30)).astype(np.uint16)),
        "cmyk.jpg": plain.convert("CMYK"),
        "alpha.png": plain.convert("RGBA"),
        "one_pixel.png": Image.new("RGB", (1, 1)),
        "thin.png": Image.new("RGB", (1, 3000), (9, 9, 9)),
    }
    paths = []
    for name, image in made.items():
        image.save(folder / name)
        paths.append(folder / name)
    exif = Image.Exif()
    exif[0x0112] = 6
    plain.save(folder / "turned.jpg", exif=exif)
    return [*paths, folder / "turned.jpg"]


@pytest.mark.parametrize("policy", ["squash", "center_crop"])
def test_every_sort_of_picture_goes_through(clip, tmp_path, policy):
    paths = hostile(tmp_path)
    found = ra_clip_scores(paths, NAMES, model=clip, resize=policy)
    assert np.isfinite(found.image).all()
    assert found.protocol["resize"] == policy
    same = [resized(read_image(path), (32, 32), policy) for path in paths]
    np.testing.assert_array_equal(found.image, ra_clip_scores(same, NAMES, model=clip).image)


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
def test_shared_cases(clip):
    unreadable = {"empty_file.png", "notes.txt", "truncated.png"}
    paths = sorted(CASES.iterdir())
    good = [path for path in paths if path.name not in unreadable]
    assert len(good) == len(paths) - 3
    assert np.isfinite(ra_clip_scores(good, NAMES, model=clip).image).all()
    for name in unreadable:
        with pytest.raises(UserError, match=name):
            ra_clip_scores([*good, CASES / name], NAMES, model=clip)


def test_resize_policies():
    image = Image.new("RGB", (60, 30))
    image.paste((255, 0, 0), (0, 0, 15, 30))  # the left quarter
    squashed = np.asarray(resized(image, (32, 32), "squash")).astype(int)
    assert squashed.shape == (32, 32, 3)
    assert squashed[:, 2, 0].min() > 250
    assert squashed[:, 12, 0].max() < 5
    cropped = np.asarray(resized(image, (32, 32), "center_crop"))
    assert cropped[:, 2:].max() == 0  # what is left of the quarter lies outside the square
    wide = resized(image, (8, 16), "center_crop")
    assert wide.size == (16, 8)
    np.testing.assert_array_equal(np.asarray(wide), np.asarray(resized(image, (8, 16), "squash")))
    with pytest.raises(ValueError, match="mode L"):
        resized(image.convert("L"), (8, 8), "squash")


def call(clip, images=None, attributes=NAMES, **options):
    return ra_clip_scores(
        pictures(2) if images is None else images, attributes, model=clip, **options
    )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([], "the list is empty"),
        ("hat", "expected a list of texts"),
        (["hat", 3], "entry 2 is 3; expected a text"),
        (["hat", " ", "cap", "\t"], "blank at entries 2, 4"),
        (["hat", "cap", "Hat", " hat "], "more than once: 'Hat', 'hat'"),
        (["hat", "very " * 80 + "long"], r"too long for tiny: 'very .*\.\.\.'; .* may have 77"),
    ],
)
def test_wrong_attributes_are_named_in_one_line(clip, attributes, message):
    with pytest.raises(UserError, match=message) as caught:
        call(clip, attributes=attributes)
    assert "\n" not in str(caught.value)


def test_longest_attribute_that_fits(clip):
    # "this is a photo without" and the full stop, start and end take 8 of the 77 tokens
    assert call(clip, attributes=["hat " * 69]).attributes == (" ".join(["hat"] * 69),)
    with pytest.raises(UserError, match="too long"):
        call(clip, attributes=["hat " * 70])


def test_wrong_images_and_options_are_named(clip, tmp_path):
    (tmp_path / "notes.png").write_text("no picture")
    cases = [
        ({"images": []}, "there are none"),
        ({"images": str(tmp_path)}, "expected a sequence"),
        ({"images": iter([])}, "expected a sequence"),
        ({"images": [tmp_path / "notes.png"]}, "notes.png"),
        ({"images": [*pictures(1), b""]}, "image 1: the file is empty"),
        ({"images": [3]}, "image 0 is of type int"),
        ({"images": [Image.new("L", (4, 4))]}, "image 0 has mode L"),
        ({"resize": "stretch"}, "resize is 'stretch'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"local_tokens": False, "global_token": False}, "both off"),
    ]
    for options, message in cases:
        with pytest.raises(UserError, match=message):
            call(clip, **options)


def test_protocol_says_what_was_done(scores, clip):
    assert scores.protocol == {
        "model": "tiny",
        "weights_sha256": clip.weights_sha256,
        "dtype": "float32",
        "input_size": [32, 32],
        "grid": [4, 4],
        "logit_scale": pytest.approx(20),
        "prompts": ["This is a photo of {}.", "This is a photo without {}."],
        "resize": "squash",
        "batch_size": 3,
        "dual_prompts": True,
        "local_tokens": True,
        "global_token": True,
        "renormalize": True,
        "spatial_scale": None,
    }


def test_attributes_that_the_text_tower_cannot_tell_apart() -> None:
    with pytest.raises(UserError, match="more than once"):
        checked_attributes(["caf\u00e9", "cafe\u0301"])
    clip = load_clip("assay-tiny-clip")
    with pytest.raises(UserError, match="no words for assay-tiny-clip: '!!!'"):
        checked_attributes(["a hat", "!!!"], clip)
    with pytest.raises(UserError, match=r"the same tokens for .*: 'a hat', 'a-hat'"):
        checked_attributes(["a bun", "a hat", "a-hat"], clip)
    assert checked_attributes(["a bun", "a hat"], clip) == ("a bun", "a hat")
