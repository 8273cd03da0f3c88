"""Separation statistics, CLIPScore and HCS against independent computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from benchmark.generative import (
    clip_score,
    embedding_centre,
    heterogeneous_clip_score,
    separation,
)
from benchmark.metrics import InputError


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_separation_equals_other_libraries_and_its_invariants(seed):
    generator = np.random.default_rng(seed)
    labels = generator.random((30, 1)) < 0.4
    labels[:2, 0] = [True, False]
    scores = np.round(generator.normal(labels * 0.7), 1)  # ties
    found = separation(scores, labels)
    assert found.auc[0] == pytest.approx(roc_auc_score(labels[:, 0], scores[:, 0]))
    yes, no = scores[labels], scores[~labels]
    pooled = np.sqrt(
        ((len(yes) - 1) * np.var(yes, ddof=1 if len(yes) > 1 else 0)
         + (len(no) - 1) * np.var(no, ddof=1 if len(no) > 1 else 0)) / 28
    )  # fmt: skip
    if pooled > 0:
        assert found.cohens_d[0] == pytest.approx((yes.mean() - no.mean()) / pooled)
    turned = separation(-scores, labels)
    assert turned.auc[0] == pytest.approx(1 - found.auc[0])
    assert turned.cohens_d[0] == pytest.approx(-found.cohens_d[0], nan_ok=True)
    swapped = separation(scores, ~labels)
    assert swapped.hellinger[0] == pytest.approx(found.hellinger[0])
    assert swapped.one_minus_ovl[0] == pytest.approx(found.one_minus_ovl[0])
    # a monotone change keeps all but d
    bent = separation(np.exp(scores), labels)
    for name in ("auc", "hellinger", "one_minus_ovl"):
        assert getattr(bent, name)[0] == pytest.approx(getattr(found, name)[0])
    # between the two distances of any histograms
    h = found.hellinger[0]
    assert h**2 - 1e-9 <= found.one_minus_ovl[0] <= h * np.sqrt(2 - h**2) + 1e-9


def test_distances_reach_those_of_gaussians_with_many_images():
    generator = np.random.default_rng(0)
    labels = np.repeat([[True], [False]], 20_000, axis=0)
    scores = generator.normal(labels * 1.5)
    found = separation(scores, labels)
    assert found.bins[0] == 50
    assert found.one_minus_ovl[0] == pytest.approx(2 * stats.norm.cdf(0.75) - 1, abs=0.01)
    assert found.hellinger[0] == pytest.approx(np.sqrt(1 - np.exp(-(1.5**2) / 8)), abs=0.01)
    assert found.cohens_d[0] == pytest.approx(1.5, abs=0.03)
    assert np.isnan(found.saturated[0])  # no score in [0, 1]


def test_saturation_inflates_d_and_is_shown():
    labels = np.array([[True]] * 4 + [[False]] * 4)
    sharp = np.array([[0.999], [0.999], [0.999], [0.998], [0.001], [0.001], [0.001], [0.002]])
    mild = np.array([[0.7], [0.6], [0.65], [0.6], [0.4], [0.3], [0.35], [0.4]])
    first, second = separation(sharp, labels), separation(mild, labels)
    assert first.auc[0] == second.auc[0] == 1
    assert first.cohens_d[0] > 100 * second.cohens_d[0] / 10
    assert (first.saturated[0], second.saturated[0]) == (1, 0)


def test_labels_of_one_kind_are_not_applicable():
    scores = np.array([[0.1, 0.2, 0.5], [0.3, 0.4, 0.5]])
    found = separation(scores, np.array([[True, False, True], [True, False, False]]))
    assert np.isnan(found.auc).tolist() == [True, True, False]
    assert found.not_applicable == {
        "no image with the label": 1,
        "no image without the label": 1,
        "no variance within the classes": 1,
    }
    assert np.isnan(found.cohens_d).all()
    with pytest.raises(InputError, match="labels have"):
        separation(scores, np.ones((2, 1), bool))


def embeddings(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 6))


def test_clip_score_and_hcs_by_hand():
    images, texts, real = embeddings(0, 5), embeddings(1, 3), embeddings(2, 9)

    def unit(rows):
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    centre = embedding_centre(real)
    np.testing.assert_allclose(centre, unit(real).mean(axis=0))
    cosines = clip_score(images, texts)
    hcs = heterogeneous_clip_score(images, texts, image_centre=centre)
    text_centre = unit(texts).mean(axis=0)
    for i in range(5):
        for t in range(3):
            plain = unit(images[i]) @ unit(texts[t])
            assert cosines[i, t] == pytest.approx(100 * plain)
            moved = unit(unit(images[i]) - centre) @ unit(unit(texts[t]) - text_centre)
            assert hcs[i, t] == pytest.approx(100 * moved)
    # CLIPScore of an attribute does not depend on the others; HCS does
    np.testing.assert_allclose(clip_score(images, texts[:2]), cosines[:, :2])
    fewer = heterogeneous_clip_score(images, texts[:2], image_centre=centre)
    assert np.abs(fewer - hcs[:, :2]).max() > 1


def test_hcs_of_one_attribute_is_not_applicable():
    found = heterogeneous_clip_score(
        embeddings(0, 2), embeddings(1, 1), image_centre=embedding_centre(embeddings(2, 4))
    )
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("images", "texts", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), "images have 3 dimensions but texts 4"),
        (np.zeros((1, 3)), np.ones((2, 3)), "images: row 0 is zero throughout"),
        (np.ones(3), np.ones((2, 3)), "images: expected shape"),
        (np.ones((1, 3)), np.full((1, 3), np.nan), "texts: holds a value"),
    ],
)
def test_wrong_embeddings_are_named(images, texts, message):
    with pytest.raises(InputError, match=message):
        clip_score(images, texts)
