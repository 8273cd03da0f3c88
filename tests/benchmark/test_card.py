"""The report card: valid JSON, exact numbers, and faults that other tools have."""

import json
from dataclasses import replace

import numpy as np
import pytest
from planted_saes import PROTOCOL, SUBMISSION, truth
from small_saes import build, rules

import schemas
from benchmark import metrics
from benchmark.card import LISTED, mean_activation, report_card
from benchmark.card_runs import card_prepared
from benchmark.measure import measure_codes
from benchmark.runs import score_prepared
from benchmark.saes.faults import duplicate, kill, silence, true_sae


@pytest.fixture(scope="module")
def case():
    return truth()


@pytest.fixture(scope="module")
def true(case):
    return true_sae(case.data.dictionary)


def finite(document):
    if isinstance(document, dict):
        return all(finite(value) for value in document.values())
    if isinstance(document, list):
        return all(finite(value) for value in document)
    return not isinstance(document, float) or np.isfinite(document)


@pytest.mark.parametrize("rule", sorted(rules(20)))
def test_every_card_is_valid_under_its_schema(case, rule):
    sae = build(rules(20)[rule], d_sae=20, d_in=24)
    document = card_prepared(sae, SUBMISSION, case.prepared, PROTOCOL)
    schemas.validate("card", json.loads(json.dumps(document, allow_nan=False)))


def test_a_record_carries_the_same_card(case, true):
    record = score_prepared(true, SUBMISSION, case.prepared, PROTOCOL)
    schemas.validate("result-sae", json.loads(json.dumps(record, allow_nan=False)))
    document = card_prepared(true, SUBMISSION, case.prepared, PROTOCOL)
    assert record["card"] == document["card"]
    for key in ("submission", "dataset", "encoder"):
        assert record[key] == document[key]
    for key, value in document["protocol"].items():
        assert record["protocol"][key] == value
    scores = record["scores"]
    assert record["card"]["c1"]["redundant_fraction"] == scores["redundant_fraction"]
    assert record["card"]["c2"]["explained_variance"] == scores["explained_variance"]
    assert record["card"]["quartiles"]["mass"] == record["dominance"]["quartile_mass"]


def test_both_schemas_describe_one_card():
    record, card = schemas.load("result-sae"), schemas.load("card")
    assert record["$defs"]["card"] == card["$defs"]["card"]
    assert record["$defs"]["score"] == card["$defs"]["score"]
    for key in ("submission", "protocol", "environment", "timing"):
        assert record["properties"][key] == card["properties"][key]


def test_the_place_of_c3_is_kept(case, true):
    assert case.card(true)["c3"] == {"dame": None, "reason": "needs a judge"}


def test_angles_are_to_the_mean_of_the_normalised_input(case):
    sae = build(rules(20)["relu"], d_sae=20, d_in=24)
    x = case.prepared.features["score"].astype(np.float64)
    scaled = (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, ddof=1, keepdims=True) + 1e-5)
    mean = mean_activation(sae, case.prepared.features["score"])
    assert mean == pytest.approx(scaled.mean(axis=0), abs=1e-5)
    alive = metrics.alive(case.codes(sae))
    geometry = case.card(sae)["geometry"]
    for name, rows in (("encoder", sae.encoder), ("decoder", sae.decoder)):
        cosine = rows @ mean / np.linalg.norm(rows, axis=1) / np.linalg.norm(mean)
        angles = np.degrees(np.arccos(cosine))[alive]
        assert geometry[name]["mean"]["value"] == pytest.approx(angles.mean(), abs=1e-3)
        expected = np.percentile(angles, [25, 50, 75])
        assert geometry[name]["quartiles"] == pytest.approx(expected, abs=1e-3)


def test_an_sae_without_encoder_rows_has_no_angles_and_no_shards(case, true):
    codes, measured = case.codes(true), case.measure(true)
    bare = replace(measured, redundancy=replace(measured.redundancy, sharded=None))
    given = case.prepared.features["score"], codes, case.prepared.labels, bare, PROTOCOL
    card = report_card(replace(true, encoder=None), *given)
    assert card["geometry"]["encoder"]["mean"]["not_applicable"] == {"no rows": 20}
    assert card["geometry"]["encoder"]["quartiles"] is None
    assert card["c1"]["sharding"]["n_pairs"] is None
    schemas.validate("card", {**case.document(true), "card": card})


def test_codes_alone_have_no_card(case, true):
    codes = {part: case.codes(true, part) for part in ("match", "score")}
    measured = measure_codes(codes, case.prepared.labels, PROTOCOL)
    given = case.prepared.features["score"], codes["score"], case.prepared.labels
    with pytest.raises(ValueError, match="needs an SAE's weights"):
        report_card(true, *given, measured, PROTOCOL)


def test_listed_pairs_are_the_strongest(case, true):
    card = case.card(duplicate(true, range(20)))["c1"]
    assert card["n_pairs"] == 20
    assert len(card["strongest"]) == LISTED
    card = case.card(duplicate(duplicate(true, range(20)), range(20)))["c1"]
    assert card["n_pairs"] == 60
    assert len(card["strongest"]) == LISTED


# Faults seen in public tools.


def test_l0_does_not_depend_on_the_batch(case):
    """A mean of batch means is wrong where the last batch is short."""
    x = case.prepared.features["score"]
    for rule in rules(20).values():
        sae = build(rule, d_sae=20, d_in=24)
        whole = sae.encode(x)
        for size in (1, 7, 256, 299):
            parts = [sae.encode(x[start : start + size]) for start in range(0, len(x), size)]
            counts = np.concatenate([np.diff(part.indptr) for part in parts])
            assert counts.tolist() == np.diff(whole.indptr).tolist()
        order = np.random.default_rng(0).permutation(len(x))
        assert metrics.l0(sae.encode(x[order])).value == metrics.l0(whole).value
        assert metrics.l0(whole).value == counts.sum() / len(x)


@pytest.mark.parametrize("factor", [-1, 0, 0.5, 1, 1.5, 2, 10])
def test_explained_variance_is_never_above_1(case, factor):
    """A ratio of variances calls a reconstruction twice too long 4."""
    x = case.prepared.features["score"]
    centred = x - x.mean(axis=0)
    score = metrics.explained_variance(centred, factor * centred, resamples=50)
    assert score.value == pytest.approx(1 - (1 - factor) ** 2, rel=1e-5, abs=1e-5)
    assert score.ci95[1] <= 1


def test_a_zero_decoder_row_is_counted_and_makes_nothing_nan(case, true):
    document = case.document(silence(true, [3, 4]))
    card = document["card"]
    assert finite(document)
    schemas.validate("card", document)
    assert card["c1"]["zero_rows"] == 2
    assert card["c1"]["n_pairs"] == 0
    assert card["c1"]["redundant_fraction"]["n"] == 18
    assert card["c1"]["redundant_fraction"]["not_applicable"] == {"decoder row is zero": 2}
    angles = card["geometry"]["decoder"]["mean"]
    assert angles["n"] == 18
    assert angles["not_applicable"] == {"row or mean activation is zero": 2}
    assert card["geometry"]["encoder"]["mean"]["n"] == 20


def test_dead_rows_are_not_counted_as_redundant(case, true):
    """The decoder rows of latents that never fire repeat one another and mean nothing."""
    twice = duplicate(true, [0, 1, 2])
    card = case.card(kill(twice, [20, 21, 0, 22]))
    assert card["c1"]["n_pairs"] == 0
    assert card["c1"]["redundant_fraction"]["n"] == 19
    assert card["quartiles"]["sizes"] == [5, 5, 5, 4]
    assert card["c4"]["dead_fraction"]["value"] == 4 / 23
    assert card["geometry"]["decoder"]["mean"]["not_applicable"] == {"dead": 4}


def test_an_sae_that_is_silent_has_a_card(case, true):
    document = case.document(kill(true, range(20)))
    schemas.validate("card", document)
    card = document["card"]
    assert card["c4"]["dead_fraction"]["value"] == 1
    assert card["c1"]["redundant_fraction"]["value"] is None
    assert card["concentration"]["gini"]["value"] is None
    assert card["geometry"]["encoder"]["mean"]["value"] is None
