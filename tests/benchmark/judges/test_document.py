"""The judgement as a document, and its place in records and cards."""

import copy
import json

import pytest
from judge_reference import Rows, Scripted, random_codes
from result_records import make_record

import schemas
from benchmark.errors import UserError
from benchmark.judges.document import file_name, join, judgement_document, with_c3
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.random_judge import RandomJudge
from benchmark.judges.run import judge_latents

IDS = [f"row-{number:03d}" for number in range(120)]
SOURCE = Rows(IDS)
PROTOCOL = JudgeProtocol(per_quartile=3, also=("amplitude", "detection"))


def made(judge=None, kind="image", record=None, protocol=PROTOCOL, codes=None):
    record = record or a_record()
    judge = judge or RandomJudge()
    codes = random_codes(120, 20) if codes is None else codes
    document = judgement_document(
        judge_latents(codes, SOURCE, judge, protocol),
        judge,
        SOURCE,
        kind=kind,
        submission=record["submission"],
        dataset=record["dataset"],
        encoder=record["encoder"],
        started=0.0,
    )
    schemas.validate("judge", document)
    return json.loads(json.dumps(document, allow_nan=False))


def a_record(judgeable=True):
    record = make_record()
    record["submission"]["weights_sha256"] = "a" * 64 if judgeable else None
    return record


def test_a_document_says_everything_a_score_is_made_of():
    document = made()
    assert document["judge"] == {
        "name": "random",
        "kind": "random",
        "model": None,
        "settings": {"seed": 0},
        "prompts": None,
    }
    assert document["protocol"]["also"] == ["detection", "amplitude"]
    assert document["protocol"]["kind"] == "image"
    assert "contexts" not in document
    assert [row["quartile"] for row in document["quartiles"]] == [1, 2, 3, 4]
    assert sum(row["mass"] for row in document["quartiles"]) == pytest.approx(1)
    latents = document["latents"]
    assert [one["latent"] for one in latents] == sorted(one["latent"] for one in latents)
    above = below = 0.0
    for row in document["quartiles"]:
        own = [one for one in latents if one["quartile"] == row["quartile"]]
        assert row["scored"] == len(own) == 3
        assert row["eligible"] + sum(row["ineligible"].values()) == row["alive"] == 5
        for key, name in (("mean", "score"), ("detection",) * 2, ("amplitude",) * 2):
            assert row[key] == pytest.approx(sum(one[name] for one in own) / 3)
        weights = [one["dominance"] for one in own]
        inside = sum(w * one["score"] for w, one in zip(weights, own, strict=True)) / sum(weights)
        above, below = above + row["mass"] * inside, below + row["mass"]
    assert document["scores"]["dame"]["value"] == pytest.approx(above / below)
    for one in latents:
        assert len(one["trials"]) == len(one["strongest"]) == 10
        assert one["score"] == sum(trial["correct"] for trial in one["trials"]) / 10
        for trial in one["trials"]:
            assert trial["correct"] == (trial["answer"] == trial["truth"])
            assert not set(trial["shown"]) & set(one["strongest"])


def test_the_same_run_gives_the_same_document():
    one, two = made(), made(RandomJudge(0, concurrency=4))
    for document in (one, two):
        del document["timing"]
    assert one == two


def test_texts_are_kept_where_a_dataset_has_no_pictures():
    document = made(kind="text")
    shown = {
        name
        for one in document["latents"]
        for name in [*one["strongest"], *(n for trial in one["trials"] for n in trial["shown"])]
    }
    assert document["contexts"] == {name: f"«{name}»" for name in shown}


def test_unusable_answers_and_nothing_to_judge_have_a_place():
    silent = made(Scripted(lambda *_: None, explain=lambda examples: ""))
    assert silent["counts"]["unusable_rankings"] == 120
    assert silent["latents"][0]["trials"][0]["answer"] is None
    assert silent["latents"][0]["explanation"] == ""
    empty = made(codes=random_codes(120, 20, rate=0.05))
    assert empty["latents"] == []
    assert empty["scores"]["dame"]["value"] is None
    assert empty["quartiles"][0]["mean"] is None
    record = join(a_record(), empty)
    schemas.validate("result-sae", record)


def test_joining_adds_one_judge_and_keeps_the_others():
    record = a_record()
    before = copy.deepcopy(record)
    document = made(record=record)
    other = copy.deepcopy(document)
    other["judge"] |= {"name": "openai/m", "kind": "openai", "model": "m"}
    other["judge"]["prompts"] = {"version": 1, "sha256": "b" * 64}
    schemas.validate("judge", other)
    joined = join(join(record, document), other)
    schemas.validate("result-sae", joined)
    assert record == before
    assert joined["scores"]["dame"] == {
        "random": document["scores"]["dame"],
        "openai/m": document["scores"]["dame"],
    }
    assert joined["dame"]["openai/m"]["prompts_sha256"] == "b" * 64
    assert joined["dame"]["random"] == {
        "quartile_means": [row["mean"] for row in document["quartiles"]],
        "eligible": [5] * 4,
        "alive": [5] * 4,
        "q1_deficit": document["scores"]["q1_deficit"],
        "prompts_sha256": None,
        "protocol_version": 1,
    }
    assert {**joined, "scores": 0, "dame": 0, "card": 0} == {
        **record,
        "scores": 0,
        "dame": 0,
        "card": 0,
    }
    assert join(joined, document) == joined
    if "card" in record:
        assert joined["card"]["c3"] == {"dame": joined["scores"]["dame"], "reason": None}


def test_a_card_takes_a_judges_score():
    document = made()
    c3 = {"dame": None, "reason": "needs a judge"}
    card = with_c3({"c3": c3, "c4": 1}, document)
    assert card == {"c3": {"dame": {"random": document["scores"]["dame"]}, "reason": None}, "c4": 1}


@pytest.mark.parametrize(
    ("part", "key", "what"),
    [
        ("submission", "weights_sha256", "another SAE"),
        ("dataset", "fingerprint", "another dataset"),
        ("encoder", "name", "another encoder"),
        ("encoder", "weights_sha256", "another encoder's weights"),
    ],
)
def test_a_judgement_of_something_else_is_refused(part, key, what):
    record = a_record()
    document = made(record=record)
    document[part] = {**document[part], key: "f" * 64}
    with pytest.raises(UserError, match=what) as caught:
        join(record, document)
    assert "\n" not in str(caught.value)


def test_a_record_without_weights_takes_no_judgement():
    record = a_record(judgeable=False)
    with pytest.raises(UserError, match="another SAE"):
        join(record, made(record=record))


BROKEN = [
    (("scores", "dame", "value"), 1.5),
    (("scores", "amplitude", "value"), -1.5),
    (("scores", "extra"), None),
    (("protocol", "kind"), "sound"),
    (("protocol", "also"), ["detection", "detection"]),
    (("judge", "kind"), "human"),
    (("latents", 0, "trials", 0, "truth"), [0, 0, 1]),
    (("latents", 0, "trials", 0, "answer"), [0, 1, 3]),
    (("latents", 0, "trials", 0, "shown"), ["a", "a", "b"]),
    (("latents", 0, "quartile"), 0),
    (("latents", 0, "explanation"), "a" * 201),
    (("latents", 0, "secret"), "x"),
    (("quartiles", 0, "ineligible"), {"few": 0}),
    (("counts",), {"x": 0.5}),
    (("contexts",), {"x": 1}),
]


@pytest.mark.parametrize(("path", "value"), BROKEN)
def test_the_schema_refuses(path, value):
    document = made()
    target = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(schemas.SchemaError):
        schemas.validate("judge", document)


def test_a_cards_c3_has_a_score_or_a_reason():
    record = join(a_record(), made())
    schemas.validate("result-sae", record)
    for c3 in (
        {"dame": None, "reason": None},
        {"dame": {}, "reason": None},
        {"dame": record["scores"]["dame"], "reason": "needs a judge"},
    ):
        record["card"]["c3"] = c3
        with pytest.raises(schemas.SchemaError):
            schemas.validate("result-sae", record)


def test_file_names_keep_judges_apart():
    assert file_name("topk", "annotations") == "topk.annotations.json"
    names = {file_name("topk", judge) for judge in ("openai/a.b", "openai/a-b", "OPENAI/a-b", "é")}
    assert len(names) == 4
    assert all(name.startswith("topk.") and name.isascii() for name in names)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"per_quartile": 0}, "per_quartile is 0"),
        ({"trials": 1001}, "trials is 1001"),
        ({"seed": -1}, "seed is -1"),
        ({"also": ("ranking",)}, "expected detection or amplitude"),
    ],
)
def test_protocols_out_of_range_are_one_line(setting, message):
    with pytest.raises(UserError, match=message):
        JudgeProtocol(**setting)
