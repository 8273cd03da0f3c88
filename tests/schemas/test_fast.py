"""The quick check never takes what the plain validator refuses, and takes what is usual."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from generator_documents import make_generator
from hypothesis import given, settings
from hypothesis import strategies as st
from judgement_documents import make_judgement
from result_records import make_gate, make_record, make_sanity
from site_submissions import generator_submission, measured, sae_submission

import schemas
from schemas.fast import compiled

DOCUMENTS: dict[str, Any] = {
    "result-sae": make_record(),
    "result-generator": make_generator("one"),
    "submission-sae": sae_submission(measured("one", 1)),
    "submission-generator": generator_submission(make_generator("one")),
    "sanity": make_sanity(),
    "gate": make_gate(),
    "judge": make_judgement(make_record()),
}
ODD = (
    None, True, False, 0, 1, -1, 3, 1.0, 0.0, -0.0, 0.5, 2.5, 1e300, float("nan"), float("inf"),
    2**53, 2**53 + 1, 2**64, -(2**70), 10**400, "", "x", "x\n", "\n", "٣", "2026-11-30T18:00:00Z",
    "٢٠٢٦-11-30T18:00:00Z", "ab" * 32, "AB" * 32, "\ud800", "\u202e", "\x1c", "https://a\x1cb",
    "https://a.b", "https://a\u3000b", "x" * 300, [], [1], [0.5, 0.4], [0.4, 0.5], [1.0, 2.0],
    [True], [None], [{}], {}, {"value": 1}, {"a": 1.0}, {"a\n": 1}, {1: 2}, (0.4, 0.5), b"x", 1j,
)  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(node, dict):
        for key in node:
            found += places(node[key], (*path, key))
    elif isinstance(node, list):
        for index in range(len(node)):
            found += places(node[index], (*path, index))
    return found


PLACES = {name: places(document) for name, document in DOCUMENTS.items()}


def plainly_valid(name: str, document: Any) -> bool:
    """What the plain validator says, without the quick check before it."""
    return not list(schemas._validator(name).iter_errors(document))


def mutated(name: str, seed: int) -> Any:
    """The document with one to three places replaced, doubled, removed or added to."""
    draw = random.Random(seed)
    document = copy.deepcopy(DOCUMENTS[name])
    for _ in range(draw.randint(1, 3)):
        *parents, last = draw.choice(PLACES[name])
        node = document
        try:
            for part in parents:
                node = node[part]
            how = draw.randrange(6)
            if isinstance(node, dict) and not isinstance(last, str):
                continue  # an earlier change put an object where a list was; keys are texts
            if how == 0:
                del node[last]
            elif how == 1 and isinstance(node, dict):
                node[draw.choice(["extra", "x\n", "value"])] = draw.choice(ODD)
            elif how == 2 and isinstance(node, list):
                node.append(copy.deepcopy(node[last]))
            elif how == 3 and isinstance(node[last], int | float):
                node[last] = float(node[last])
            else:
                node[last] = draw.choice(ODD)
        except (KeyError, IndexError, TypeError, OverflowError):
            continue  # an earlier change took this place away
    return document


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_the_quick_check_is_never_laxer(name: str, seed: int) -> None:
    quick = compiled(schemas.load(name))
    assert quick is not None
    document = mutated(name, seed)
    if quick(document):
        assert plainly_valid(name, document)
    try:
        schemas.validate(name, document)
        accepted = True
    except schemas.SchemaError:
        accepted = False
    assert accepted == plainly_valid(name, document)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_usual_document_needs_the_quick_check_only(name: str) -> None:
    quick = compiled(schemas.load(name))
    assert quick is not None
    assert quick(DOCUMENTS[name])
    assert plainly_valid(name, DOCUMENTS[name])


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("path", ["scores.l0.n", "scores.l0.value", "submission.name", "timing"])
def test_odd_values_are_judged_alike(odd: Any, path: str) -> None:
    document = copy.deepcopy(DOCUMENTS["result-sae"])
    *parents, last = path.split(".")
    node = document
    for part in parents:
        node = node[part]
    node[last] = odd
    quick = compiled(schemas.load("result-sae"))
    assert quick is not None
    assert not quick(document) or plainly_valid("result-sae", document)


@pytest.mark.parametrize("name", schemas.names())
def test_every_schema_has_a_quick_check(name: str) -> None:
    assert compiled(schemas.load(name)) is not None


def test_an_unknown_keyword_leaves_it_to_the_plain_validator() -> None:
    assert compiled({"type": "object", "dependentRequired": {"a": ["b"]}}) is None
    assert compiled({"properties": {"a": {"format": "email"}}}) is None


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        ({"type": "integer"}, 3.0),
        ({"properties": {"a": {"items": {"type": ["integer", "null"]}}}}, {"a": [None, 1.0]}),
        ({"additionalProperties": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}},
         {"x": 2.0}),
        ({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, {"a": 1.0}),
        ({"type": "array", "ascending": True}, [2, 1]),
        ({"type": "array", "uniqueBy": "id"}, [{"id": "a"}, {"id": "a"}]),
        ({"type": "string", "pattern": "^a$"}, "a\n"),
        ({"type": "number"}, float("nan")),
        ({"type": "string"}, "\ud800"),
    ],
)  # fmt: skip
def test_what_only_the_plain_validator_refuses(schema: dict[str, Any], document: Any) -> None:
    quick = compiled(schema)
    assert quick is not None
    assert not quick(document)


def test_the_repositorys_results_take_the_quick_way() -> None:
    root = Path(__file__).parents[2] / "submissions"
    for kind, schema in (("saes", "result-sae"), ("generators", "result-generator")):
        quick = compiled(schemas.load(schema))
        assert quick is not None
        for path in sorted((root / kind).glob("*/results/*/*.json")):
            assert quick(json.loads(path.read_bytes())), path
