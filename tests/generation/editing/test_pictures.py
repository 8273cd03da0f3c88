"""Sizes to work at, and edits that are none."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from benchmark.errors import UserError
from generation.editing.canvas import MAX_PIXELS, canvas, fit
from generation.editing.faults import changed_blocks, fault


@example(526, 72, 16)
@given(
    st.one_of(st.integers(1, 6000), st.integers(480, 640)),
    st.one_of(st.integers(1, 6000), st.integers(64, 80)),
    st.sampled_from([4, 8, 16, 24, 32, 64, 100, 512]),
)
def test_a_canvas_is_what_the_model_takes_and_nearly_the_picture(width, height, multiple):
    if max(width, height) > 8 * min(width, height):
        with pytest.raises(UserError, match="shape: "):
            canvas((width, height), multiple)
        return
    wide, high = canvas((width, height), multiple)
    assert wide % multiple == high % multiple == 0
    assert min(wide, high) >= 64
    assert wide * high <= MAX_PIXELS
    assert max(wide, high) <= 8 * min(wide, high)
    if min(width, height) >= max(64, multiple) and width * height <= MAX_PIXELS // 2:
        assert abs(wide - width) <= multiple
        assert abs(high - height) <= multiple


def test_known_canvases():
    assert canvas((500, 375), 16) == (496, 368)
    assert canvas((64, 64), 16) == (64, 64)
    assert canvas((8, 8), 16) == (64, 64)
    assert canvas((1024, 1024), 16) == (1024, 1024)
    assert canvas((4000, 3000), 16) == (1184, 880)
    assert canvas((526, 72), 16) == (528, 80)
    assert canvas((72, 526), 16) == (80, 528)


def test_the_whole_picture_is_kept():
    """A bright frame survives: nothing is cut off at the sides."""
    pixels = np.zeros((375, 500, 3), np.uint8)
    pixels[:4] = pixels[-4:] = 255
    pixels[:, :4] = pixels[:, -4:] = 255
    fitted = np.asarray(fit(Image.fromarray(pixels), 16))
    assert fitted.shape == (368, 496, 3)
    for side in (fitted[0], fitted[-1], fitted[:, 0], fitted[:, -1]):
        assert side.min() > 200
    assert fit(Image.new("RGB", (64, 64)), 16).size == (64, 64)


def photo(seed: int = 0, size: tuple[int, int] = (96, 80)) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)


def plain(value: int) -> Image.Image:
    return Image.new("RGB", (96, 80), (value,) * 3)


def test_no_edit_has_its_reason():
    base = photo()
    assert fault(plain(0), base).startswith("black: ")
    assert fault(plain(5), base).startswith("black: ")
    assert fault(plain(200), base).startswith("blank: ")
    assert fault(base, base).startswith("unchanged: ")
    assert fault(photo(1), base) is None


def test_what_an_autoencoder_does_to_texture_is_no_change():
    base = photo(size=(256, 192))
    noise = np.random.default_rng(0).normal(0, 6, (192, 256, 3))
    noisy = Image.fromarray(np.clip(np.asarray(base) + noise, 0, 255).astype(np.uint8))
    assert fault(noisy, base).startswith("unchanged: ")
    assert fault(base.filter(ImageFilter.GaussianBlur(1)), base).startswith("unchanged: ")
    assert fault(base.resize((240, 176)), base).startswith("unchanged: ")


@pytest.mark.parametrize("corner", [(100, 60), (101, 61), (102, 63)])
def test_a_small_change_is_one(corner):
    """A spot of eight pixels, as the eye of a bird is, wherever it lies."""
    base = photo(size=(256, 192))
    edited = base.copy()
    left, top = corner
    colour = tuple(int(value) for value in 255 - np.asarray(base)[top + 4, left + 4])
    edited.paste(colour, (left, top, left + 8, top + 8))
    assert fault(edited, base) is None
    assert 4 <= changed_blocks(edited, base) <= 9
    assert changed_blocks(base, base) == 0


def test_stray_pixels_are_no_change():
    base = photo(size=(256, 192))
    edited = base.copy()
    edited.paste((255, 0, 0), (100, 60, 102, 62))
    assert changed_blocks(edited, base) == 1
    assert fault(edited, base).startswith("unchanged: ")


def test_a_stripe_that_keeps_the_mean_is_a_change():
    base = plain(120)
    pixels = np.asarray(base).copy()
    for row in range(0, 80, 16):
        pixels[row : row + 8] = 90
        pixels[row + 8 : row + 16] = 150
    assert fault(Image.fromarray(pixels), base) is None
