"""The result record's schema: what it takes, what it refuses, and how it says so."""

import copy
import json
from typing import Any

import pytest
from result_records import make_gate, make_record, make_sanity

import schemas
from benchmark.errors import UserError
from schemas import wording


def problems(record: Any, name: str = "result-sae") -> dict[str, str]:
    """Path to "found X, expected Y" of every fault."""
    with pytest.raises(schemas.SchemaError) as caught:
        schemas.validate(name, record)
    return {p.path: f"{p.found} / {p.expected}" for p in caught.value.problems}


def changed(path: str, value: Any, document: dict[str, Any] | None = None) -> dict[str, Any]:
    record = copy.deepcopy(make_record() if document is None else document)
    *parents, last = path.split(".")
    target: Any = record
    for parent in parents:
        target = target[int(parent)] if isinstance(target, list) else target[parent]
    target[int(last) if isinstance(target, list) else last] = value
    return record


def test_a_real_looking_record_is_valid() -> None:
    schemas.validate("result-sae", make_record())
    schemas.validate("gate", make_gate())
    schemas.validate("sanity", make_sanity())


@pytest.mark.parametrize("key", ["bounds", "counts", "dominance", "redundancy", "pair_examples"])
def test_parts_not_measured_may_be_absent(key: str) -> None:
    record = make_record()
    del record[key]
    schemas.validate("result-sae", record)


def test_any_single_score_may_be_absent() -> None:
    for key in make_record()["scores"]:
        record = make_record()
        del record["scores"][key]
        schemas.validate("result-sae", record)


def test_judges_and_pairs_of_another_dataset_have_a_place() -> None:
    record = make_record()
    score = {"value": 0.61, "ci95": [0.58, 0.64], "n": 200, "not_applicable": {}}
    record["scores"]["dame"] = {"some-judge": score}
    record["pairs_dataset"] = {"name": "syncub", "revision": "1", "fingerprint": "0" * 64}
    schemas.validate("result-sae", record)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("scores.match_score.value", float("nan"), "NaN / finite number or null"),
        ("scores.match_score.value", float("inf"), "Infinity / finite number or null"),
        ("scores.match_score.value", 10**400, "finite number or null"),
        ("scores.match_score.value", True, "true / finite number or null"),
        ("scores.match_score.value", "0.5", '"0.5" / finite number or null'),
        ("scores.match_score.value", 1.2, "1.2 / at most 1: a fraction, not per cent"),
        ("scores.match_score.n", True, "true / integer"),
        ("scores.match_score.n", 3.0, "3.0 / integer"),
        ("scores.match_score.ci95", [0.6, 0.4], "[0.6, 0.4] / the lower bound first"),
        ("scores.match_score.ci95", [0.4], "[0.4] / at least 2 items"),
        ("scores.tapa_score.value", -2.1, "-2.1 / at least -2"),
        ("submission.id", "Not An Id", '"Not An Id" / lower-case letters, digits'),
        ("submission.id", "ends-in-newline\n", "lower-case letters, digits"),
        ("submission.seed", -1, "-1 / at least 0"),
        ("submission.name", "", '"" / at least 1 character'),
        ("submission.name", "x" * 201, "at most 200 characters"),
        ("submission.name", "\ud800", "/ string"),
        ("dataset.fingerprint", "5E" * 32, "a SHA-256, 64 hexadecimal digits"),
        ("schema_version", 2, "2 / 1"),
        ("schema_version", True, "true / 1"),
        ("timing.measured_at", "yesterday", '"yesterday" / a time such as 2026-12-01T'),
        ("per_concept.3.f1", float("nan"), "NaN / finite number or null"),
        ("pair_examples.0.delta_add", 0.5, "0.5 / one of -1, 0, 1, null"),
    ],
)
def test_a_wrong_value_is_named_with_its_path(path: str, value: Any, expected: str) -> None:
    where = "$." + path.replace(".3.", "[3].").replace(".0.", "[0].")
    found = problems(changed(path, value))
    assert where in found
    assert expected in found[where]


@pytest.mark.parametrize(
    "path", ["extra", "submission.licence", "scores.match_scores", "per_concept.0.f_1"]
)
def test_unknown_keys_are_refused(path: str) -> None:
    found = problems(changed(path, 1))
    assert any("unknown key" in text for text in found.values())


def test_a_missing_value_needs_its_reason() -> None:
    empty = {"value": None, "ci95": None, "n": 0, "not_applicable": {}}
    assert "reason" in str(problems(changed("scores.tapa_score", empty)))
    schemas.validate(
        "result-sae", changed("scores.tapa_score", {**empty, "not_applicable": {"no pairs": 1}})
    )


def test_a_concept_stands_only_once() -> None:
    name = make_record()["per_concept"][0]["concept"]
    assert problems(changed("per_concept.1.concept", name)) == {
        "$.per_concept[1].concept": f'"{name}" / no concept twice'
    }


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("rows.0.metric", "accuracy", "one of"),
        ("rows.1.metric", "match_score", "no metric twice"),
        ("rows.0.values.0.trained", float("nan"), "NaN / finite number or null"),
        ("rows.0.trained.ci95", [0.5, 0.4], "the lower bound first"),
        ("rows.0.own", 1, "1 / boolean"),
        ("configurations.0.l0.trained", -1, "at least 0"),
        ("configurations", [], "at least 1 item"),
        ("rows.0.verdict", 1, "unknown key"),
        ("passed", "yes", "boolean"),
    ],
)
def test_a_wrong_sanity_document_is_named(path: str, value: Any, expected: str) -> None:
    found = problems(changed(path, value, make_sanity()), "sanity")
    assert any(expected in text for text in found.values()), found


def test_every_fault_is_listed_at_once_in_one_line() -> None:
    record = make_record()
    del record["encoder"]
    record["submission"]["id"] = "?"
    record["scores"]["l0"]["value"] = False
    record["dataset"]["extra"] = 1
    assert set(problems(record)) == {
        "$.encoder",
        "$.submission.id",
        "$.scores.l0.value",
        "$.dataset.extra",
    }
    with pytest.raises(UserError) as caught:
        schemas.validate("result-sae", record)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("4 problems against schema 'result-sae': $.dataset.extra")


def test_the_sound_parts_keep_their_places() -> None:
    record = make_record()
    record["submission"] |= {"id": "?", "extra": 1, "more": 2}
    record["per_concept"][1] = "no row"
    del record["per_concept"][2]["f1"]
    record["scores"]["match_score"] |= {"value": 1.2, "ci95": "none"}
    kept = schemas.sound("result-sae", record)
    assert kept["submission"] == {**make_record()["submission"], "id": None}
    assert kept["per_concept"][1] is None
    assert kept["per_concept"][2:] == record["per_concept"][2:]
    score = make_record()["scores"]["match_score"]
    assert kept["scores"]["match_score"] == {**score, "value": None, "ci95": None}
    assert record["per_concept"][1] == "no row"


@pytest.mark.parametrize("name", ["submission-sae", "submission-generator"])
def test_people_read_no_pattern(name: str) -> None:
    def patterns(node: Any) -> Any:
        if isinstance(node, dict):
            yield from [node["pattern"]] if isinstance(node.get("pattern"), str) else []
            node = list(node.values())
        for inner in node if isinstance(node, list) else ():
            yield from patterns(inner)

    assert set(patterns(schemas.load(name))) <= set(wording._PATTERNS)


def test_a_document_that_is_no_object_is_refused() -> None:
    for document in (None, [], 3, "text"):
        assert list(problems(document)) == ["$"]


def test_unknown_schema_lists_the_known() -> None:
    with pytest.raises(UserError, match=r"known: .*gate, .*result-sae"):
        schemas.load("nope")


@pytest.mark.parametrize("name", schemas.names())
def test_schemas_are_well_formed_and_closed(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = schemas.load(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")

    def objects(node: Any) -> Any:
        if isinstance(node, dict):
            if node.get("type") == "object":
                yield node
            for value in node.values():
                yield from objects(value)
        elif isinstance(node, list):
            for value in node:
                yield from objects(value)

    for node in objects(schema):
        assert "additionalProperties" in node, json.dumps(node)[:200]
