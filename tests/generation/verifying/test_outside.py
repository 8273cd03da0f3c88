"""How much changed outside the edited region: pictures with known answers."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from generation.verifying.outside import (
    MARGIN,
    REPAINTED,
    SIDE,
    VISIBLE,
    change,
    edited_region,
    smoothed_difference,
)

Box = tuple[int, int, int, int]


def scene(size: tuple[int, int] = (320, 256)) -> Image.Image:
    """A sky, ground, and a bird of an eighth of the picture."""
    rng = np.random.default_rng(0)
    noise = rng.integers(-12, 13, (size[1], size[0], 3))
    image = Image.new("RGB", size, (150, 180, 210))
    draw = ImageDraw.Draw(image)
    draw.rectangle([0, size[1] * 2 // 3, size[0], size[1]], fill=(90, 120, 60))
    draw.ellipse(bird(size), fill=(120, 100, 80))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype(np.uint8))


def bird(size: tuple[int, int]) -> Box:
    width, height = size
    return width // 4, height // 4, width * 3 // 4, height * 3 // 4


def breast(size: tuple[int, int]) -> Box:
    width, height = size
    return width * 3 // 8, height * 3 // 8, width // 2, height * 5 // 8


def painted(image: Image.Image, box: Box, colour: tuple[int, int, int]) -> Image.Image:
    copy = image.copy()
    ImageDraw.Draw(copy).rectangle(box, fill=colour)
    return copy


def shifted(image: Image.Image, mask: np.ndarray, by: int) -> Image.Image:
    """The picture made lighter or darker where the mask says."""
    values = np.asarray(image).astype(int)
    values[mask] += by
    return Image.fromarray(values.clip(0, 255).astype(np.uint8))


def bird_mask(size: tuple[int, int]) -> np.ndarray:
    mask = Image.new("1", size)
    ImageDraw.Draw(mask).ellipse(bird(size), fill=1)
    return np.asarray(mask)


def test_nothing_changed_is_zero() -> None:
    found = change(scene(), scene())
    assert found is not None
    assert (found.outside, found.region, found.changed) == (0, 0, 0)


@pytest.mark.parametrize("size", [(320, 256), (256, 320), (900, 700), (100, 80)])
def test_a_local_edit_leaves_the_outside_alone(size: tuple[int, int]) -> None:
    base = scene(size)
    found = change(base, painted(base, breast(size), (250, 250, 250)), "attribute")
    assert found is not None
    assert found.outside == 0
    share = 1 / 8 * 1 / 4  # of the picture, the painted box
    assert share < found.region < 3.5 * share
    # smoothing adds a rim
    assert share < found.changed < 1.6 * share


def test_stripes_and_separate_parts_are_one_region() -> None:
    base = scene()
    edited = base.copy()
    draw = ImageDraw.Draw(edited)
    left, top, right, bottom = breast(base.size)
    for x in range(left, right, 6):
        draw.rectangle([x, top, x + 2, bottom], fill=(255, 255, 255))
    # the other side, apart from it and as large
    for x in range(left + 60, right + 60, 6):
        draw.rectangle([x, top, x + 2, bottom], fill=(255, 255, 255))
    found = change(base, edited, "attribute")
    assert found is not None
    assert found.outside == 0


def test_a_repainted_background_is_caught() -> None:
    base = scene()
    edited = painted(base, breast(base.size), (250, 250, 250))
    for by in (-20, 25, 90):
        found = change(base, shifted(edited, ~bird_mask(base.size), by), "attribute")
        assert found is not None
        # the bird takes about a fifth of the picture; all around it changed
        assert found.outside > 0.7


def test_a_repainted_bird_is_caught() -> None:
    base = scene()
    edited = painted(base, breast(base.size), (250, 250, 250))
    for by in (30, 60, 130):
        found = change(base, shifted(edited, bird_mask(base.size), by), "attribute")
        assert found is not None
        assert found.outside >= REPAINTED
        assert found.changed > 0.15
    # an edit of the whole bird as strong everywhere: the region may not be that large
    whole = change(base, shifted(base, bird_mask(base.size), 90), "attribute")
    assert whole is not None
    assert whole.outside >= REPAINTED
    # for a whole object it is what was asked for
    removal = change(base, shifted(base, bird_mask(base.size), 90), "object")
    assert removal is not None
    assert removal.outside == 0


def test_another_picture_altogether() -> None:
    base = scene()
    other = Image.fromarray(255 - np.asarray(base))
    found = change(base, other, "object")
    assert found is not None
    assert found.changed > 0.9
    assert found.outside > 0.9


@pytest.mark.parametrize("size", [(160, 128), (640, 512), (317, 251)])
def test_another_size_of_the_edited_picture_changes_nothing(size: tuple[int, int]) -> None:
    base = scene()
    edited = painted(base, breast(base.size), (250, 250, 250))
    resized = edited.resize(size, Image.Resampling.LANCZOS)
    same, other = change(base, edited, "attribute"), change(base, resized, "attribute")
    assert same is not None
    assert other is not None
    assert other.outside <= 0.005
    assert other.region == pytest.approx(same.region, abs=0.02)


def test_what_an_autoencoder_leaves_is_no_change() -> None:
    base = scene((512, 512))
    edited = painted(base, breast(base.size), (250, 250, 250)).filter(ImageFilter.GaussianBlur(1))
    rng = np.random.default_rng(1)
    values = np.asarray(edited) + rng.normal(2, 6, (512, 512, 3))
    found = change(base, Image.fromarray(values.clip(0, 255).astype(np.uint8)), "attribute")
    assert found is not None
    assert found.outside < 0.005


def test_kinds_that_change_all_are_not_measured() -> None:
    base = scene()
    for kind in ("lighting", "viewpoint"):
        assert change(base, shifted(base, np.ones((256, 320), bool), -80), kind) is None


def test_the_region_against_its_definition() -> None:
    difference = np.full((40, 50), 0.01)
    difference[5:15, 5:15] = 0.4
    difference[25:35, 30:40] = 0.15
    region = edited_region(difference, 0.5)
    rows, columns = np.indices(difference.shape)
    # distance to the square, worked out on its own
    gap = np.hypot(
        np.maximum(0, np.maximum(5 - rows, rows - 14)),
        np.maximum(0, np.maximum(5 - columns, columns - 14)),
    )
    assert (region == (gap <= MARGIN)).all()
    # limited to the pixels nearest to its middle
    small = edited_region(difference, 16 / difference.size)
    assert region[small].all()
    assert small.sum() < region.sum()
    assert not edited_region(np.full((4, 4), VISIBLE), 0.5).any()


def test_the_difference_is_the_mean_of_channels() -> None:
    black, red = (Image.new("RGB", (300, 150), colour) for colour in ("black", "red"))
    found = smoothed_difference(black, red)
    assert found.shape == (SIDE // 2, SIDE)
    assert found == pytest.approx(1 / 3)
