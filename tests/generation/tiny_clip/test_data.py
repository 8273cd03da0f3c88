"""Captioned avatars: labels, regions, moving."""

import numpy as np
import pytest
import torch

from generation.avatars.render import changed_pixels, draw
from generation.tiny_clip import PHRASES
from generation.tiny_clip.data import (
    CELL,
    CELLS,
    COVERS,
    SIDE,
    Avatars,
    base_of,
    labels_of,
    picture,
    regions,
)
from generation.tiny_clip.train import moved, place_targets, prompts, vocabulary

NAMES = list(PHRASES)


@pytest.fixture(scope="module")
def few() -> Avatars:
    from generation.tiny_clip.data import _drawn

    return Avatars(*_drawn((7, 0, 12)))


def test_every_phrase_is_seen_and_none_is_said_twice():
    labels = np.stack([labels_of(base_of(7, index)) for index in range(84)])
    for round_ in (labels[:42], labels[42:]):
        assert round_.diagonal().all()  # avatars are drawn around the concepts in turn
    assert len(set(PHRASES.values())) == len(PHRASES) == 42
    assert len(prompts()) == 84
    assert {"without", "eyeglasses", "photo"} <= set(vocabulary())


def test_masks_are_there_where_and_only_where_the_label_is(few):
    covered = few.masks.reshape(12, 42, -1).max(axis=2) > 0
    np.testing.assert_array_equal(covered, few.labels)
    np.testing.assert_array_equal(few.backgrounds, few.images[:, 1, -2])


def test_same_seed_same_avatars(few):
    from generation.tiny_clip.data import _drawn

    again = _drawn((7, 9, 2))
    np.testing.assert_array_equal(again[0], few.images[9:11])
    np.testing.assert_array_equal(again[2], few.masks[9:11])


@pytest.mark.parametrize("group", COVERS)
def test_a_region_is_where_a_true_edit_of_that_avatar_changes_it(group):
    overlaps = []
    for index in range(60):
        base = base_of(3, index)
        value, found = base.values[group], dict(regions(base, {group}))
        if not found or len(overlaps) == 4:
            continue
        spec = base.identity.spec
        names = spec.by_group[group].names
        other = None if None in names else next(name for name in names if name != value)
        if group == "top":
            other = "short" if value == "bald" else "bald"
        options = base.identity.options({**base.values, group: other})
        edited = draw(spec.style, spec.recolour, options, SIDE)
        changed = changed_pixels(draw(spec.style, spec.recolour, base.options, SIDE), edited)
        truth = changed.reshape(CELLS, CELL, CELLS, CELL).mean(axis=(1, 3))
        region = found[NAMES.index(f"{group}: {value}")] / 255
        overlaps.append(np.minimum(truth, region).sum() / np.maximum(truth, region).sum())
    # drawn on a plain avatar: what else the real one wears may cover a little of it
    assert len(overlaps) == 4
    assert np.mean(overlaps) > 0.7
    assert min(overlaps) > 0.4


def test_moving_takes_masks_along_and_fills_with_background(few):
    image, masks, behind = few.images[0], few.masks[0], few.backgrounds[0]
    new_image, new_masks = moved(image, masks, behind, (2, -3), False)
    kept = new_image[2 * CELL :, : -3 * CELL]
    np.testing.assert_array_equal(kept, image[: -2 * CELL, 3 * CELL :])
    np.testing.assert_array_equal(new_masks[:, 2:, :-3], masks[:, :-2, 3:])
    assert (new_image[: 2 * CELL] == behind).all()
    present = [k for k in np.flatnonzero(few.labels[0]) if NAMES[k].startswith("background")]
    assert len(present) == 1
    assert (new_masks[present[0], :2] == 255).all()
    others = np.delete(new_masks, present[0], axis=0)
    assert (others[:, :2] == 0).all()
    same_image, same_masks = moved(image, masks, behind, (0, 0), False)
    np.testing.assert_array_equal(same_image, image)
    np.testing.assert_array_equal(same_masks, masks)
    turned, _ = moved(image, masks, behind, (0, 0), True)
    np.testing.assert_array_equal(turned, image[:, ::-1])


def test_targets_keep_small_parts():
    masks = torch.zeros(1, 3, CELLS, CELLS)
    masks[0, 0, :12] = 1  # the upper half
    masks[0, 1, 4, 4] = 0.5  # a dot in the patch (1, 1), less than a quarter of it
    targets = place_targets(masks)[0]
    assert targets.shape == (64, 3)
    assert targets[:, 0].reshape(8, 8)[:4].all()
    assert targets[:, 0].sum() == 32
    assert targets[:, 1].nonzero().flatten().tolist() == [9]
    assert targets[:, 2].sum() == 0


def test_pictures_are_small_and_plain():
    assert picture(base_of(0, 0)).shape == (SIDE, SIDE, 3)
