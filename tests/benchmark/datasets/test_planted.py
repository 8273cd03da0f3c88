"""The planted dataset: what it promises, and the truth scored by the suite."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_saes import truth

from benchmark import metrics
from benchmark.datasets import DATASETS, load_dataset
from benchmark.datasets.planted import STRONGEST, WEAKEST, Recipe, plant
from benchmark.errors import UserError
from benchmark.features import embed
from benchmark.runs import prepare_by_name
from benchmark.saes.faults import true_sae

SMALL = Recipe(features=6, width=8, sparsity=2, match=30, score=20, pairs=10)


def test_the_true_dictionary_scores_as_it_must():
    case = truth()
    sae = true_sae(case.data.dictionary, sparsity=case.data.recipe.sparsity)
    scores = case.measure(sae).scores
    assert scores["match_score"].value == 1
    assert scores["match_score_in_sample"].value == 1
    assert scores["tapa_score"].value == 2
    assert scores["delta_stay"].value == 0
    assert scores["redundant_fraction"].value == 0
    assert scores["dead_fraction"].value == 0
    assert scores["l0"].value == case.data.recipe.sparsity
    assert scores["l0"].ci95 == (4, 4)
    assert scores["explained_variance"].value == pytest.approx(1)
    assert case.card(sae)["c2"]["complete_fraction"]["value"] == 1


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    features=st.integers(2, 12),
    width=st.integers(2, 12),
    sparsity=st.integers(1, 11),
    skew=st.floats(0, 2),
    seed=st.integers(0, 99),
)
def test_rows_are_sums_of_their_features(features, width, sparsity, skew, seed):
    if sparsity >= features:
        return
    recipe = Recipe(features, width, sparsity, skew, 0.0, 15, 5, 6, seed)
    data = plant(recipe)
    assert data.annotations.sum(axis=1).tolist() == [sparsity] * 20
    gram = data.dictionary.astype(np.float64) @ data.dictionary.T
    assert np.diag(gram) == pytest.approx(1, abs=1e-6)
    if features <= width:
        assert gram == pytest.approx(np.eye(features), abs=1e-6)
    pairs, parts = data.pairs, data.activations
    edited = pairs.present.copy()
    for row, (add, remove) in enumerate(zip(pairs.added, pairs.removed, strict=True)):
        assert not edited[row, add]
        assert edited[row, remove]
        edited[row, [add, remove]] = True, False
    sides = [(data.annotations, parts.images), (pairs.present, parts.base), (edited, parts.edited)]
    for present, rows in sides:
        for there, row in zip(present, rows, strict=True):
            directions = data.dictionary[there].astype(np.float64)
            found, *_ = np.linalg.lstsq(directions.T, row.astype(np.float64), rcond=None)
            assert found @ directions == pytest.approx(row, abs=1e-5)
            if features <= width:
                assert found.min() >= WEAKEST - 1e-5
                assert found.max() <= STRONGEST + 1e-5


def test_skew_decides_how_frequent_features_are():
    even = plant(replace(SMALL, skew=0.0, match=4000)).annotations.mean(axis=0)
    assert even == pytest.approx(2 / 6, abs=0.03)
    steep = plant(replace(SMALL, skew=1.5, match=4000)).annotations.mean(axis=0)
    assert np.all(np.diff(steep) < 0)


def test_noise_has_the_deviation_asked_for():
    noisy = plant(replace(SMALL, features=8, noise=0.25, match=3000))
    clean = noisy.activations.images @ noisy.dictionary.T
    assert clean[~noisy.annotations].std() == pytest.approx(0.25, rel=0.03)


def test_the_fingerprint_covers_recipe_and_content():
    first = plant(SMALL)
    assert plant(SMALL).fingerprint == first.fingerprint
    changed = {plant(replace(SMALL, **{name: value})).fingerprint for name, value in [
        ("seed", 1), ("noise", 0.0), ("skew", 0.6), ("pairs", 9), ("features", 5), ("match", 31)
    ]}  # fmt: skip
    assert len(changed | {first.fingerprint}) == 7
    moved = replace(first, dictionary=-first.dictionary)
    assert moved.fingerprint != first.fingerprint
    other = replace(first, annotations=~first.annotations)
    assert other.fingerprint != first.fingerprint


def test_the_content_is_the_same_everywhere():
    """Plain arithmetic on a seeded generator: a change here is a change of the dataset."""
    data = plant(SMALL)
    assert data.dictionary[0, :3].tolist() == pytest.approx(
        [0.57085896, 0.02478158, -0.48163566], abs=1e-7
    )
    assert [np.flatnonzero(row).tolist() for row in data.annotations[:3]] == [
        [0, 4],
        [1, 3],
        [1, 3],
    ]


def test_options_stand_in_the_name():
    data = load_dataset("planted:noise=0,features=6,width=8,sparsity=2,match=30,score=20,pairs=10")
    expected = plant(replace(SMALL, noise=0.0))
    assert data.fingerprint == expected.fingerprint
    assert load_dataset(data.name).fingerprint == data.fingerprint
    assert load_dataset("planted").name == "planted"
    assert "planted" in DATASETS.names()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("planted:", "expected NAME=NUMBER"),
        ("planted:colour=3", "expected NAME=NUMBER once each, names: features"),
        ("planted:noise=0,noise=1", "once each"),
        ("planted:noise=loud", "noise is 'loud'; expected a number"),
        ("planted:features=2.5", "expected a whole number"),
        ("planted:noise=nan", "noise is nan; expected 0 to"),
        ("planted:noise=-1", "noise is -1.0; expected 0 to"),
        ("planted:score=0", "score is 0; expected 1 to"),
        ("planted:sparsity=48", "expected fewer than the 48 features"),
        ("planted:match=99999999", "expected at most"),
        ("planted:features=1e400", "expected a whole number"),
        ("synavatars:noise=0", "takes no options"),
    ],
)
def test_wrong_options_are_one_line(name, message):
    with pytest.raises(UserError) as caught:
        load_dataset(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_are_no_pictures_to_embed():
    data = plant(SMALL)
    with pytest.raises(UserError, match="activations, not pictures"):
        data.images[0]
    with pytest.raises(UserError, match="nothing to embed"):
        embed(data, object())
    with pytest.raises(UserError, match="leave out --encoder"):
        prepare_by_name("planted", "efficientnet-lite0", None)
    with pytest.raises(UserError, match="takes no root"):
        load_dataset("planted", root=".")


def test_the_encoder_that_a_record_names_can_be_given():
    prepared = prepare_by_name(
        "planted", prepare_by_name("planted", None, None).source.encoder["name"], None
    )
    assert prepared.features["match"].shape == (1500, 64)


def test_prepared_activations_are_the_splits():
    data = truth().data
    prepared = truth().prepared
    assert prepared.features["match"].shape == (500, 24)
    assert np.array_equal(prepared.features["score"], data.activations.images[500:])
    assert np.array_equal(prepared.labels.score, data.annotations[500:])
    assert prepared.source.encoder == {"name": "none", "weights_sha256": None}


def test_more_features_than_dimensions_are_reported_not_refused():
    data = plant(Recipe(features=40, width=12, sparsity=3, match=200, score=100, pairs=20))
    sae = true_sae(data.dictionary, sparsity=3)
    codes = sae.encode(data.activations.images[data.split("score")])
    assert 0 < metrics.l0(codes).value <= 3
