"""From features to a result record, on data whose every score is known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from planted import planted, true_sae

import schemas
from benchmark.errors import UserError
from benchmark.measure import Labels, Protocol, encode_all
from benchmark.scoring import Source, result_record, score_codes, score_sae

DATASET = {"name": "planted", "revision": "1", "fingerprint": "0" * 64}
ENCODER = {
    "name": "none",
    "weights_sha256": "1" * 64,
    "preprocessing": "none",
    "batch_size": 1,
    "dim": 32,
}
PROTOCOL = Protocol(bootstrap_resamples=200)


@pytest.fixture(scope="module")
def data():
    return planted()


@pytest.fixture(scope="module")
def scored(data):
    return score_sae(true_sae(data), data.features, data.labels, PROTOCOL)


def record_of(scored, data, **submission):
    given = {"id": "true", "name": "True", "architecture": "relu", "d_in": 32, "d_sae": 16}
    source = Source(DATASET, ENCODER)
    return result_record(scored, given | submission, source, data.labels, PROTOCOL, 0.0)


@pytest.fixture(scope="module")
def record(scored, data):
    return record_of(scored, data)


def value(record, name, block=None):
    return (record["baselines"][block] if block else record["scores"])[name]["value"]


def test_the_true_dictionary_scores_as_it_must(record):
    assert value(record, "match_score") == 1
    assert value(record, "match_score_in_sample") == 1
    assert value(record, "tapa_score") == 2
    assert value(record, "delta_stay") == 0
    assert value(record, "redundant_fraction") == 0
    assert value(record, "dead_fraction") == 4 / 16
    assert record["scores"]["enrichment_q1"]["value"] is None
    assert record["scores"]["enrichment_q1"]["not_applicable"] == {"no redundant pairs": 12}
    assert [row["coalition"] for row in record["per_concept"]] == [[i] for i in range(12)]
    assert record["dominance"]["quartile_sizes"] == [3, 3, 3, 3]


def test_l0_is_the_number_of_concepts_present(record, data):
    assert value(record, "l0") == pytest.approx(data.labels.score.sum(axis=1).mean())


def test_the_record_is_valid_json_under_its_schema(record):
    schemas.validate("result-sae", json.loads(json.dumps(record, allow_nan=False)))


def test_untrained_twins_and_random_codes_are_worse(record):
    assert record["scores"]["delta_match_score"]["ci95"][0] > 0
    assert record["scores"]["delta_tapa_score"]["ci95"][0] > 0
    assert value(record, "tapa_score", "random_codes") == pytest.approx(0, abs=0.4)
    assert value(record, "match_score", "random_codes") < 0.6
    for name in ("match_score", "tapa_score"):
        delta = value(record, name) - value(record, name, "untrained")
        assert value(record, f"delta_{name}") == pytest.approx(delta)
    assert value(record, "delta_match_score", "untrained") == 0
    assert record["protocol"]["twin_l0"] == pytest.approx([value(record, "l0")] * 3, rel=0.2)


def test_means_can_be_recomputed_from_the_rows(record):
    rows = record["per_concept"]
    assert np.mean([row["f1"] for row in rows]) == pytest.approx(value(record, "match_score"))
    in_sample = np.mean([row["f1_in_sample"] for row in rows])
    assert in_sample == pytest.approx(value(record, "match_score_in_sample"))
    add = sum(row["delta_add"] * row["n_add"] for row in rows if row["n_add"])
    rem = sum(row["delta_rem"] * row["n_rem"] for row in rows if row["n_rem"])
    tapa = add / sum(r["n_add"] for r in rows) - rem / sum(r["n_rem"] for r in rows)
    assert tapa == pytest.approx(value(record, "tapa_score"))


def test_pair_examples_name_what_switched(record, data):
    by_id = {example["pair_id"]: example for example in record["pair_examples"]}
    for pair, name in enumerate(data.labels.pair_ids):
        if name not in by_id:
            continue
        added, removed = data.labels.added[pair], data.labels.removed[pair]
        assert by_id[name]["switched_on"] == ([] if added is None else [added])
        assert by_id[name]["switched_off"] == ([] if removed is None else [removed])


def test_codes_alone_have_no_delta(data):
    codes = encode_all(true_sae(data), data.features)
    record = record_of(score_codes(codes, data.labels, PROTOCOL), data, d_in=None)
    assert value(record, "match_score") == 1
    assert record["scores"]["delta_match_score"]["value"] is None
    assert list(record["scores"]["delta_match_score"]["not_applicable"].values()) == [1]
    assert record["baselines"]["untrained"] == {}
    assert "explained_variance" not in record["scores"]
    schemas.validate("result-sae", json.loads(json.dumps(record, allow_nan=False)))


def test_a_dataset_without_pairs_has_no_tapa(data):
    labels = Labels(data.labels.concepts, data.labels.match, data.labels.score)
    features = {part: data.features[part] for part in ("match", "score")}
    scored = score_sae(true_sae(data), features, labels, PROTOCOL)
    record = record_of(scored, replace(data, labels=labels))
    assert "tapa_score" not in record["scores"]
    assert value(record, "match_score") == 1
    schemas.validate("result-sae", json.loads(json.dumps(record, allow_nan=False)))


def test_row_order_moves_no_score(record, data):
    order = {
        part: np.random.default_rng(1).permutation(len(x)) for part, x in data.features.items()
    }
    order["edited"] = order["base"]
    features = {part: x[order[part]] for part, x in data.features.items()}
    labels = Labels(
        data.labels.concepts,
        data.labels.match[order["match"]],
        data.labels.score[order["score"]],
        data.labels.present[order["base"]],
        [data.labels.added[i] for i in order["base"]],
        [data.labels.removed[i] for i in order["base"]],
        [data.labels.pair_ids[i] for i in order["base"]],
    )
    own = score_sae(true_sae(data), features, labels, PROTOCOL).own
    for name, score in own.scores.items():
        expected = value(record, name)
        assert score.value == (None if expected is None else pytest.approx(expected, rel=1e-12))


def test_row_order_moves_no_random_code(data):
    from benchmark.scoring import shuffled_codes

    names = [f"image-{i:03}" for i in range(len(data.labels.match))]
    labels = replace(data.labels, match_ids=names)
    codes = {"match": encode_all(true_sae(data), {"match": data.features["match"]})["match"]}
    order = np.random.default_rng(2).permutation(len(names))
    moved = replace(labels, match_ids=[names[i] for i in order])
    first = shuffled_codes(codes, 0, labels)["match"].toarray()
    again = shuffled_codes({"match": codes["match"][order]}, 0, moved)["match"].toarray()
    assert np.array_equal(again, first[order])


def test_an_sae_that_is_all_dead_gives_a_valid_record(data):
    sae = true_sae(data)
    dead = replace(sae, encoder_bias=np.full(sae.d_sae, -1e9, np.float32))
    record = record_of(score_sae(dead, data.features, data.labels, PROTOCOL), data)
    schemas.validate("result-sae", json.loads(json.dumps(record, allow_nan=False)))
    assert value(record, "match_score") == 0
    assert value(record, "redundant_fraction") is None


def test_the_twin_of_an_sae_that_is_always_on_is_sane(data):
    sae = true_sae(data)
    lit = replace(sae, encoder_bias=np.full(sae.d_sae, 1e3, np.float32))
    scored = score_sae(lit, data.features, data.labels, PROTOCOL)
    assert scored.twin_score("l0").value == pytest.approx(sae.d_sae, rel=0.01)
    assert abs(scored.twin_score("explained_variance").value) < 1e3


@pytest.mark.parametrize("matcher", ["fbmp", "one_to_one", "top_k_f1", "nn_omp"])
def test_every_matcher_is_set_against_its_own_twin(data, matcher):
    """One Δ a matcher: never one twin's score taken off several."""
    protocol = Protocol(bootstrap_resamples=20, matcher=matcher)
    scored = score_sae(true_sae(data), data.features, data.labels, protocol)
    record = result_record(
        scored,
        {"id": "x", "name": "x", "architecture": "relu", "d_in": 32, "d_sae": 16},
        Source(DATASET, ENCODER),
        data.labels,
        protocol,
        0.0,
    )
    assert {twin.matching.matcher for twin in scored.twins} == {matcher}
    twin = np.mean([one.scores["match_score"].value for one in scored.twins])
    delta = value(record, "match_score") - twin
    assert value(record, "delta_match_score") == pytest.approx(delta)
    assert record["protocol"]["matcher"] == matcher


def test_the_same_run_gives_the_same_record(record, data):
    again = record_of(score_sae(true_sae(data), data.features, data.labels, PROTOCOL), data)
    for key in record.keys() - {"timing"}:
        assert again[key] == record[key]


def test_an_empty_split_is_refused(data):
    with pytest.raises(UserError, match="score split has no images"):
        Labels(data.labels.concepts, data.labels.match, data.labels.score[:0])
