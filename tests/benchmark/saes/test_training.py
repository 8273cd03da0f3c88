"""Training: seeded to the byte, and able to find a planted dictionary."""

import numpy as np
import pytest

from benchmark.errors import UserError
from benchmark.metrics import explained_variance, match_concepts, match_score
from benchmark.saes import load_sae
from benchmark.saes.training import ARCHITECTURES, Recipe, train
from benchmark.saes.training.recipe import matryoshka_prefixes
from benchmark.saes.training.store import train_to_folder


@pytest.fixture(scope="module")
def planted():
    """Features (800, 64) that are sparse sums of 24 directions, and which were used."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((24, 64))
    present = rng.random((800, 24)) < 0.15
    amounts = present * (0.5 + rng.random((800, 24)))
    noise = 0.05 * rng.standard_normal((800, 64))
    return (amounts @ directions + noise).astype(np.float32), present


def recipe(architecture, **changes):
    settings = {"d_sae": 48, "k": 4, "epochs": 40, "sparsity": None} | changes
    return Recipe(architecture, **settings)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_learns(planted, architecture):
    x, present = planted
    sparsity = {"relu": 0.02, "gated": 0.02, "p_anneal": 0.02}.get(architecture)
    settings = recipe(architecture, normalisation="none", learning_rate=3e-3, sparsity=sparsity)
    sae = train(x, settings)
    np.testing.assert_allclose(np.linalg.norm(sae.decoder, axis=1), 1, rtol=1e-5)
    explained = explained_variance(x, sae.reconstruct(x), resamples=1).value
    assert explained is not None
    assert explained > 0.6
    codes = sae.encode(x)
    found = match_score(codes, present, match_concepts(codes, present), resamples=1).value
    assert found is not None
    assert found > 0.6


@pytest.mark.parametrize("architecture", ["batchtopk", "matryoshka"])
def test_the_global_threshold_gives_k_on_average(planted, architecture):
    x, _ = planted
    sae = train(x, recipe(architecture, epochs=3))
    assert sae.encode(x).nnz == 4 * len(x)


def test_same_seed_same_file(planted, tmp_path):
    x, _ = planted
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train_to_folder(tmp_path / name, recipe("topk", epochs=2, seed=seed), x, {})
    weights = [(tmp_path / name / "sae.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1]
    assert weights[0] != weights[2]


def test_the_same_sae_is_not_trained_twice(planted, tmp_path):
    x, _ = planted
    epochs = []
    for _ in range(2):
        train_to_folder(
            tmp_path / "a", recipe("topk", epochs=2), x, {}, lambda done, _: epochs.append(done)
        )
    assert epochs == [1, 2]
    with pytest.raises(UserError, match="trained with other settings"):
        train_to_folder(tmp_path / "a", recipe("topk", epochs=1), x, {})
    assert load_sae(tmp_path / "a").metadata["training"]["epochs"] == 2
    train_to_folder(tmp_path / "a", recipe("topk", epochs=1), x, {}, overwrite=True)
    assert load_sae(tmp_path / "a").metadata["training"]["epochs"] == 1


def test_a_folder_with_other_things_is_left_alone(planted, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="exists and is not an SAE"):
        train_to_folder(tmp_path, recipe("topk", epochs=1), planted[0], {})
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_batch_that_does_not_divide_the_rows_is_used_whole(planted):
    x, _ = planted
    sae = train(x[:65], recipe("topk", epochs=1, batch_size=64))
    assert np.isfinite(sae.encoder).all()


@pytest.mark.parametrize(("d_sae", "expected"), [
    (512, [16, 32, 64, 128, 256, 512]),
    (40, [1, 2, 5, 10, 20, 40]),
    (3, [1, 3]),
])  # fmt: skip
def test_matryoshka_prefixes_are_nested_and_end_with_all(d_sae, expected):
    assert matryoshka_prefixes(d_sae) == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"architecture": "vanilla"}, "unknown architecture 'vanilla'; known: topk"),
        ({"d_sae": 0}, "d_sae is 0"),
        ({"k": 49}, "k is 49, more than the 48 latents"),
        ({"epochs": 0}, "epochs is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"seed": 10**23}, "seed is 1000"),
        ({"seed": -1}, "seed is -1"),
        ({"sparsity": float("nan")}, "sparsity is nan"),
    ],
)
def test_wrong_settings_are_named(changes, message):
    with pytest.raises(UserError, match=message):
        Recipe(**({"architecture": "topk", "d_sae": 48} | changes))


def test_a_file_beside_the_weights_is_left_alone(planted, tmp_path):
    train_to_folder(tmp_path / "a", recipe("topk", epochs=1), planted[0], {})
    (tmp_path / "a" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="exists and is not an SAE"):
        train_to_folder(tmp_path / "a", recipe("topk", epochs=2), planted[0], {}, overwrite=True)
    assert (tmp_path / "a" / "notes.txt").read_text() == "mine"


def test_training_that_ends_in_nan_leaves_the_good_sae(planted, tmp_path):
    x, _ = planted
    train_to_folder(tmp_path / "a", recipe("relu", epochs=1), x, {})
    wild = recipe("relu", epochs=2, learning_rate=1e30)
    with pytest.raises(UserError, match="NaN or infinity"):
        train_to_folder(tmp_path / "a", wild, x, {}, overwrite=True)
    assert np.isfinite(load_sae(tmp_path / "a").encoder).all()
