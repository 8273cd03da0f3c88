import numpy as np
import pytest
from encoder_cases import pictures
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torchvision import transforms

from benchmark.encoders.preprocessing import Preprocessing

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
FILTERS = transforms.InterpolationMode


def policy(**changes):
    usual = {"resize": "shortest", "side": 32, "crop": 32, "interpolation": "bicubic"}
    return Preprocessing(**{**usual, "mean": MEAN, "std": STD, "odd": "half-even", **changes})


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 120),
    height=st.integers(1, 120),
    side=st.integers(8, 40),
    less=st.integers(0, 7),
    squash=st.booleans(),
    interpolation=st.sampled_from(["nearest", "bilinear", "bicubic", "lanczos"]),
)
def test_torchvision_gives_the_same(width, height, side, less, squash, interpolation):
    if max(width, height) > 8 * min(width, height):
        width = height
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    own = policy(
        resize="squash" if squash else "shortest",
        side=side,
        crop=side - less,
        interpolation=interpolation,
    )
    size = (side, side) if squash else side
    steps = [
        transforms.Resize(size, interpolation=FILTERS(interpolation)),
        transforms.CenterCrop(side - less),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ]
    expected = transforms.Compose(steps)(image).numpy()
    np.testing.assert_allclose(own.pixels(image), expected, rtol=0, atol=1e-6)


def test_an_odd_surplus_is_cut_as_told():
    gray = np.broadcast_to(np.arange(35, dtype=np.uint8)[None, :, None], (32, 35, 3))
    plain = {"mean": (0.0,) * 3, "std": (1.0,) * 3}
    image = Image.fromarray(np.ascontiguousarray(gray))
    down, even = (policy(odd=odd, **plain).pixels(image) for odd in ("down", "half-even"))
    assert round(down[0, 0, 0] * 255) == 1
    assert round(even[0, 0, 0] * 255) == 2


@pytest.mark.parametrize("size", [(400, 40), (41, 3000)])
def test_a_long_picture_is_cut_first(size):
    small = Image.fromarray(
        np.random.default_rng(0).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    ).resize(size, Image.Resampling.BICUBIC)
    width, height = size
    scale = 32 / min(size)
    whole = small.resize((round(width * scale), round(height * scale)), Image.Resampling.BICUBIC)
    left, top = (whole.width - 32) // 2, (whole.height - 32) // 2
    expected = policy().pixels(whole.crop((left, top, left + 32, top + 32)))
    assert np.abs(policy().pixels(small) - expected).mean() < 0.05


def test_the_longest_picture_needs_little_memory():
    assert policy().pixels(Image.new("RGB", (1, 60_000), "red")).shape == (3, 32, 32)


def test_described():
    assert str(policy()) == (
        "shortest 32, bicubic, center 32 (half-even), "
        "(rgb / 255 - [0.48145466 0.4578275 0.40821073]) / [0.26862954 0.26130258 0.27577711]; v1"
    )
    names = {
        str(policy(**change))
        for change in (
            {},
            {"side": 40},
            {"crop": 24},
            {"resize": "squash"},
            {"interpolation": "bilinear"},
            {"mean": (0.5, 0.5, 0.5)},
            {"std": (0.5, 0.5, 0.5)},
            {"odd": "down"},
        )
    }
    assert len(names) == 8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"interpolation": "random"}, "interpolation 'random'; expected one of nearest"),
        ({"crop": 33}, "crop is 33; expected 1 to 32"),
        ({"std": (0.0, 1.0, 1.0)}, "std above 0"),
        ({"mean": (0.5,)}, "three numbers each"),
    ],
)
def test_impossible_settings(change, message):
    with pytest.raises(ValueError, match=message):
        policy(**change)


def test_the_picture_is_left_alone():
    image = pictures()[0]
    before = image.tobytes()
    policy().pixels(image)
    assert image.tobytes() == before
