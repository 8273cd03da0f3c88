"""The logit effect: worked out by hand on a linear model, and by the layers of a real one."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import WIDTH, network_of, write_corpus, write_model

import schemas
from benchmark.card_runs import card_prepared
from benchmark.datasets.planted import Recipe, plant
from benchmark.errors import UserError
from benchmark.measure import Protocol
from benchmark.runs import prepare_activations
from benchmark.saes.activations import Relu
from benchmark.saes.sae import Sae
from benchmark.text.collect import TextRecipe, collect
from benchmark.text.corpus import read_corpus
from benchmark.text.hook import Hook
from benchmark.text.logit_effect import (
    LogitEffect,
    LogitProtocol,
    cosine,
    drawn_inputs,
    effect_on,
    pair_cosines,
)
from benchmark.text.model import find_model

HOOK = "model.layers.1"


class Linear(torch.nn.Module):
    """Logits are a known matrix times the hooked activation."""

    def __init__(self, unembedding, several=False):
        super().__init__()
        self.config = SimpleNamespace(vocab_size=len(unembedding))
        self.embed = torch.nn.Embedding(5, unembedding.shape[1])
        self.place = Tuple() if several else torch.nn.Identity()
        self.unembedding = torch.as_tensor(unembedding, dtype=torch.float32)

    def forward(self, input_ids, attention_mask):
        found = self.place(self.embed(input_ids))
        found = found[0] if isinstance(found, tuple) else found
        return SimpleNamespace(logits=found @ self.unembedding.T)


class Tuple(torch.nn.Module):
    def forward(self, x):
        return x, "more"


def effect_of(unembedding, norm=2.0, several=False, rows=3):
    ids = np.arange(rows * 4).reshape(rows, 4) % 5
    inputs = ids, np.ones_like(ids), np.arange(rows) % 4
    return LogitEffect(Hook(Linear(np.asarray(unembedding), several), "place"), inputs, norm)


@pytest.mark.parametrize("several", [False, True])
def test_the_cosine_by_hand(several):
    """Rows (1, 0) and (1, 1)/√2 through W: W a = (1, 0, 2), W b ∝ (1, 3, 2), cosine 5/√70."""
    effect = effect_of([[1, 0], [0, 3], [2, 0]], several=several)
    decoder = np.array([[1.0, 0.0], [1.0, 1.0]])
    assert pair_cosines(effect, decoder, [(0, 1)]) == [pytest.approx(5 / 70**0.5, abs=1e-6)]
    change = effect.change(decoder[0])
    assert change == pytest.approx(np.tile([2.0, 0.0, 4.0], (3, 1)), abs=1e-5)
    # both rows are added at one norm, so that their length is no matter
    assert effect.change(9 * decoder[0]) == pytest.approx(change, abs=1e-5)


def test_orthogonal_rows_and_a_known_unembedding():
    decoder = np.eye(3)
    apart = effect_of(np.eye(3))
    assert pair_cosines(apart, decoder, [(0, 1), (1, 2)]) == pytest.approx([0, 0], abs=1e-6)
    # one row of logits reads both directions: what they write is the same
    same = effect_of([[1, 1, 0], [0, 0, 1]])
    assert pair_cosines(same, decoder, [(0, 1)]) == [pytest.approx(1, abs=1e-6)]
    against = effect_of([[1, -1, 0]])
    assert pair_cosines(against, decoder, [(0, 1)]) == [pytest.approx(-1, abs=1e-6)]


def test_a_direction_that_changes_nothing_has_no_effect():
    effect = effect_of([[1, 0, 0]])
    decoder = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 0], [np.nan, 0, 0]])
    assert pair_cosines(effect, decoder, [(0, 1), (0, 2), (0, 3)]) == [None, None, None]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 10))
def test_identical_rows_have_cosine_1_and_order_is_no_matter(seed, norm):
    draw = np.random.default_rng(seed)
    effect = effect_of(draw.standard_normal((7, 4)), norm)
    decoder = draw.standard_normal((2, 4))
    decoder = np.vstack([decoder, 3 * decoder[0], -decoder[0]])
    found = pair_cosines(effect, decoder, [(0, 2), (0, 3), (0, 1), (1, 0)])
    assert found[:2] == pytest.approx([1, -1], abs=1e-5)
    assert found[2] == found[3]
    assert all(-1 <= value <= 1 for value in found)


def test_positions_that_stay_are_left_out():
    first = np.array([[1.0, 0], [0, 0], [0, 2]])
    assert cosine(first, np.array([[1.0, 0], [5, 5], [0, -1]])) == 0
    assert cosine(first, np.zeros((3, 2))) is None


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logits")
    model = find_model(str(write_model(folder / "model")))
    corpus = read_corpus(str(write_corpus(folder / "corpus.txt")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(folder / "home"))
        data = collect(model, corpus, TextRecipe(HOOK, context_length=12), folder / "out")
    return folder, data


def test_a_real_model_agrees_with_its_layers_run_by_hand(case):
    """The hook is the last layer: what follows is a norm and a matrix, applied here directly."""
    folder, data = case
    protocol = LogitProtocol(norm_fraction=0.5, positions=6, seed=3)
    effect = effect_on(data, protocol)
    network = network_of(folder / "model")
    ids, mask, places = drawn_inputs(data, protocol)
    assert len(ids) == 6
    directions = np.random.default_rng(0).standard_normal((2, WIDTH)).astype(np.float32)
    norm = 0.5 * np.linalg.norm(data.activations.images, axis=1).mean()
    changes = []
    with torch.no_grad():
        for direction in directions:
            rows = []
            for row, place in enumerate(places):
                length = int(mask[row].sum())
                whole = torch.tensor(ids[row : row + 1, :length])
                # hidden_states ends with the normed state, so the layer is hooked for itself
                kept = []
                handle = network.model.layers[1].register_forward_hook(
                    lambda _m, _i, out, kept=kept: kept.append(out)
                )
                network(whole)
                handle.remove()
                state = kept[0][0, place]
                added = torch.tensor(direction / np.linalg.norm(direction) * norm)
                after = network.lm_head(network.model.norm(state + added.float()))
                rows.append((after - network.lm_head(network.model.norm(state))).numpy())
            changes.append(np.stack(rows))
    for direction, expected in zip(directions, changes, strict=True):
        assert effect.change(direction) == pytest.approx(expected, abs=1e-4)
    expected = np.mean(
        [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(*changes, strict=True)]
    )
    found = pair_cosines(effect, directions, [(0, 1)])
    assert found == [pytest.approx(float(expected), abs=1e-4)]


def test_positions_are_of_the_score_split_and_drawn_by_seed(case):
    _, data = case
    scored = {
        tuple(one.input_ids[: place + 1].tolist())
        for row in data.split("score").tolist()
        for number, token in [data.tokens.find(row)]
        for one in [data.tokens.contexts[number]]
        for place in [int(one.places[token])]
    }
    ids, mask, places = drawn_inputs(data, LogitProtocol())
    assert len(ids) == 32
    for row in range(32):
        assert mask[row].sum() == places[row] + 1
        assert tuple(ids[row, : places[row] + 1].tolist()) in scored
    assert (drawn_inputs(data, LogitProtocol())[0] == ids).all()
    other = drawn_inputs(data, LogitProtocol(seed=1))
    assert other[0].shape != ids.shape or (other[0] != ids).any()


def sharded_sae(data):
    """Latents 0 and 1 write one direction; each reads its own, and the bias keeps them apart."""
    x = data.activations.images
    draw = np.random.default_rng(0)
    encoder = draw.standard_normal((8, WIDTH)).astype(np.float32)
    encoder /= np.linalg.norm(encoder, axis=1, keepdims=True)
    encoder[1] -= (encoder[1] @ encoder[0]) * encoder[0]
    decoder = encoder.copy()
    decoder[1] = decoder[0] + 0.1 * decoder[1]
    bias = -np.quantile(x @ encoder.T, 0.93, axis=0).astype(np.float32)
    return Sae("relu", encoder, bias, decoder, np.zeros(WIDTH, np.float32), Relu(), "none")


def document(sae, data, **given):
    submission = {"id": "x", "name": "X", "architecture": "relu", "d_in": WIDTH, "d_sae": 8}
    made = card_prepared(
        sae, submission, prepare_activations(data), Protocol(bootstrap_resamples=50), **given
    )
    schemas.validate("card", made)
    return made


def test_a_card_holds_the_logit_effect_of_its_sharded_pairs(case, tmp_path):
    _, data = case
    sae = sharded_sae(data)
    made = document(sae, data)
    sharding = made["card"]["c1"]["sharding"]
    assert sharding["logit_effect_reason"] is None
    assert [pair["latents"] for pair in sharding["pairs"]] == [[0, 1]]
    effect = effect_on(data, LogitProtocol())
    expected = pair_cosines(effect, sae.decoder, [(0, 1)])
    assert [pair["logit_effect_cosine"] for pair in sharding["pairs"]] == expected
    assert 0.9 < expected[0] < 1
    assert made["protocol"]["logit_effect_positions"] == 32
    assert made["protocol"]["logit_effect_norm_fraction"] == 0.25
    # the model may lie elsewhere, but it must be the one
    write_model(tmp_path / "other", layers=1)
    write_model(tmp_path / "same")
    assert document(sae, data, model=str(tmp_path / "same"))["card"] == made["card"]
    wrong = document(sae, data, model=str(tmp_path / "other"))["card"]["c1"]["sharding"]
    assert "weights are not those" in wrong["logit_effect_reason"]
    assert wrong["pairs"][0]["logit_effect_cosine"] is None
    absent = document(sae, data, model=str(tmp_path / "none"))["card"]["c1"]["sharding"]
    assert "no model folder" in absent["logit_effect_reason"]


def test_without_sharded_pairs_no_model_is_needed(case):
    _, data = case
    sae = sharded_sae(data)
    alone = Sae(
        "relu", sae.encoder, sae.encoder_bias, sae.encoder, sae.decoder_bias, Relu(), "none"
    )
    sharding = document(alone, data, model="nowhere")["card"]["c1"]["sharding"]
    assert sharding["pairs"] == []
    assert sharding["logit_effect_reason"] == "no sharded pairs are listed"


def test_a_model_without_logits_is_named(case, tmp_path, monkeypatch):
    _, data = case
    monkeypatch.setattr("benchmark.text.logit_effect.is_causal", lambda network: False)
    with pytest.raises(UserError, match="gives no logits of a next token"):
        effect_on(data, LogitProtocol())


def test_other_datasets_have_no_logit_effect():
    data = plant(Recipe(features=8, width=16, sparsity=2, match=60, score=60, pairs=0))
    sae = Sae(
        "relu",
        data.dictionary,
        np.full(8, -0.5, np.float32),
        data.dictionary,
        np.zeros(16, np.float32),
        Relu(),
        "none",
    )
    made = card_prepared(
        sae,
        {"id": "x", "name": "X", "architecture": "relu", "d_in": 16, "d_sae": 8},
        prepare_activations(data),
        Protocol(bootstrap_resamples=20),
    )
    assert "logit_effect_reason" not in made["card"]["c1"]["sharding"]
    assert "logit_effect_seed" not in made["protocol"]
