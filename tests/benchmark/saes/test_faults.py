"""Faults made on purpose: each is found by the number that should find it."""

import numpy as np
import pytest
from planted_saes import truth

from benchmark import metrics
from benchmark.errors import UserError
from benchmark.saes.activations import Threshold, TopK
from benchmark.saes.faults import absorb, duplicate, kill, merge, shard, silence, split, true_sae

A, B = 0, 1  # two features that often stand together


@pytest.fixture(scope="module")
def case():
    return truth()


@pytest.fixture(scope="module")
def true(case):
    return true_sae(case.data.dictionary)


def f1_rows(case, sae):
    """F1 per concept with the first 1, 2, 3 latents of its coalition, held out."""
    matching = metrics.match_concepts(case.codes(sae, "match"), case.prepared.labels.match)
    return metrics.f1_by_size(case.codes(sae), case.prepared.labels.score, matching), matching


def f1(guess, truth):
    return 2 * (guess & truth).sum() / (guess.sum() + truth.sum())


def test_without_a_fault_nothing_is_found(case, true):
    by_size, matching = f1_rows(case, true)
    assert (by_size == 1).all()
    assert matching.coalitions == tuple((i,) for i in range(20))
    card = case.card(true)
    assert card["c1"]["n_pairs"] == 0
    assert card["c1"]["sharding"]["n_pairs"] == 0
    assert card["c2"]["complete_fraction"]["value"] == 1
    assert card["c4"]["dead_fraction"]["value"] == 0


def test_splitting_shows_in_one_latent_alone(case, true):
    sae = split(true, A, B)
    by_size, matching = f1_rows(case, sae)
    assert set(matching.coalitions[A]) == {A, 20}
    assert by_size[A, 0] < 1
    assert by_size[A, 1] == by_size[A, 2] == 1
    present = case.prepared.labels.score
    alone = present[:, A] & ~present[:, B]
    assert by_size[A, 0] == pytest.approx(f1(alone, present[:, A]))
    assert (np.delete(by_size, A, axis=0) == 1).all()
    assert case.card(sae)["c1"]["n_pairs"] == 0
    one = metrics.match_concepts(
        case.codes(sae, "match"), case.prepared.labels.match, matcher="one_to_one"
    )
    assert metrics.match_score(case.codes(sae), present, one).value < 1
    assert case.measure(sae).scores["match_score"].value == 1


def test_sharding_shows_as_a_sharded_pair_with_its_evidence(case, true):
    sae = shard(true, A, B)
    card = case.card(sae)["c1"]
    assert card["n_pairs"] == card["sharding"]["n_pairs"] == 1
    (pair,) = card["sharding"]["pairs"]
    assert pair["latents"] == [A, 20]
    assert pair["decoder_cosine"] == pytest.approx(1)
    assert pair["encoder_cosine"] == pytest.approx(-1 / np.sqrt(10), abs=1e-6)
    assert pair["jaccard"] == 0
    assert f1_rows(case, sae)[0][A].tolist()[1:] == [1, 1]


def test_absorption_shows_in_the_concepts_recall(case, true):
    sae = absorb(true, A, B)
    by_size, _ = f1_rows(case, sae)
    present = case.prepared.labels.score
    heard = present[:, A] & ~present[:, B]
    assert heard.sum() < present[:, A].sum()
    assert by_size[A, 0] == pytest.approx(f1(heard, present[:, A]))
    assert by_size[A, 2] < 1
    assert by_size[B, 0] == 1
    scores, clean = case.measure(sae).scores, case.measure(true).scores
    assert scores["match_score"].value < clean["match_score"].value
    assert scores["explained_variance"].value < clean["explained_variance"].value
    assert scores["tapa_score"].value < clean["tapa_score"].value


def test_merging_shows_in_both_concepts_precision(case, true):
    sae = merge(true, A, B)
    by_size, _ = f1_rows(case, sae)
    present = case.prepared.labels.score
    either = present[:, A] | present[:, B]
    for concept in (A, B):
        assert by_size[concept, 0] == pytest.approx(f1(either, present[:, concept]))
        assert by_size[concept, 2] < 1
    assert case.card(sae)["c4"]["dead_fraction"]["value"] == 1 / 20
    assert case.measure(sae).scores["match_score"].value < 1


def test_duplicates_show_as_pairs_in_the_quartile_they_are_in(case, true):
    strongest = np.argsort(-metrics.dominance(case.codes(true)), kind="stable")[:2].tolist()
    card = case.card(duplicate(true, strongest))["c1"]
    assert card["n_pairs"] == 2
    assert card["within_quartile"] == [2, 0, 0, 0]
    assert card["within_quartile_share"][0]["value"] == 1
    assert card["redundant_fraction"]["value"] == 4 / 22
    assert card["enrichment_q1"]["value"] == pytest.approx(22 / 6)
    assert [pair["decoder_cosine"] for pair in card["strongest"]] == [1, 1]
    assert card["sharding"]["n_pairs"] == 0  # they read the same, so they are no shards
    weakest = np.argsort(metrics.dominance(case.codes(true)), kind="stable")[:2].tolist()
    card = case.card(duplicate(true, weakest))["c1"]
    assert card["within_quartile"] == [0, 0, 0, 2]
    assert card["enrichment_q1"]["value"] == 0


def test_dead_latents_show_and_their_concepts_are_lost(case, true):
    card = case.card(kill(true, [2, 5, 7]))
    assert card["c4"]["dead_fraction"]["value"] == 3 / 20
    assert card["c2"]["complete_fraction"]["value"] == 17 / 20
    assert card["c5"]["l0"]["value"] < 4


def test_faults_leave_their_sae_alone(true):
    before = true.encoder.copy(), true.decoder.copy(), true.encoder_bias.copy()
    for fault in (split, shard, absorb, merge):
        fault(true, A, B)
    for fault in (duplicate, kill, silence):
        fault(true, [A])
    after = true.encoder, true.decoder, true.encoder_bias
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


def test_a_fault_can_be_made_in_either_kind(case):
    topk = true_sae(case.data.dictionary, sparsity=4)
    assert isinstance(topk.activation, TopK)
    assert isinstance(true_sae(case.data.dictionary).activation, Threshold)
    assert case.card(shard(topk, A, B))["c1"]["sharding"]["n_pairs"] == 1


@pytest.mark.parametrize("latents", [[0, 0], [0, 20], [-1, 0]])
def test_latents_must_be_there_and_different(true, latents):
    with pytest.raises(UserError):
        merge(true, *latents)
    with pytest.raises(UserError):
        duplicate(true, latents)
