"""Reading judgement documents, and the records they belong to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judgement_documents import make_judgement
from result_records import make_record, score

import schemas
from benchmark.errors import UserError
from leaderboard import build_site
from leaderboard.ranking.boards import make_boards
from leaderboard.reading.judgements import Judgement, attach, judge_slug, load_judgements
from leaderboard.reading.records import Record

Writer = Callable[..., Path]


def loaded(document: dict[str, Any], name: str = "a.json") -> Judgement:
    return Judgement(document, Path(name))


def of(record: dict[str, Any]) -> Record:
    return Record(record, Path("record.json"))


@pytest.mark.parametrize("text", [False, True])
def test_the_helpers_documents_are_valid(text: bool) -> None:
    for judge in ("annotations", "random", "openai/a-model"):
        schemas.validate("judge", make_judgement(make_record(), judge, text=text))


def test_they_load_in_an_order_that_files_do_not_decide(write_judgements: Writer) -> None:
    documents = [make_judgement(make_record("topk", d)) for d in (512, 128, 256)]
    one = load_judgements(write_judgements(documents, "one"))
    other = load_judgements(write_judgements(documents[::-1], "other"))
    assert [each.text for each in one] == [each.text for each in other]
    assert json.loads(one[0].text) == documents[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["scores"]["dame"].update(value=46.2), r"scores\.dame\.value: found 46\.2"),
        (lambda d: d["quartiles"].reverse(), "quartiles are not 1, 2, 3, 4"),
        (lambda d: d["latents"].append(d["latents"][0]), "a latent stands there twice"),
        (lambda d: d["latents"][0].update(score=0.123), "a score that is not its trials'"),
        (
            lambda d: d["latents"][0]["trials"][0].update(
                correct=not d["latents"][0]["trials"][0]["correct"]
            ),
            "a trial whose correct is not its answer's",
        ),
        (lambda d: d["contexts"].clear(), "which has no context"),
    ],
)
def test_what_contradicts_itself_is_refused(
    write_judgements: Writer, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = make_judgement(make_record(), text=True)
    change(document)
    folder = write_judgements([document])
    with pytest.raises(UserError, match=message) as caught:
        load_judgements(folder)
    assert str(folder / "000.json") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no judgements .*`assay judge"):
        load_judgements(tmp_path)


def test_a_judgement_joins_every_record_of_its_sae_and_no_other() -> None:
    here, there = make_record("topk", 512), make_record("topk", 128)
    pairs = {"name": "syncub", "revision": "1", "fingerprint": "0" * 64}
    again = make_record("topk", 512, pairs_dataset=pairs)
    judgement = loaded(make_judgement(here))
    records, stray = attach([of(here), of(there), of(again)], [judgement])
    assert [list(record.judged) for record in records] == [["annotations"], [], ["annotations"]]
    assert stray == ()
    assert records[0].score("dame/annotations") == judgement.dame
    assert records[1].score("dame/annotations") is None


@pytest.mark.parametrize(
    "change",
    [
        {"submission": {"id": "another"}},
        {"submission": {"weights_sha256": "ab" * 32}},
        {"dataset": {"fingerprint": "ab" * 32}},
        {"encoder": {"name": "another"}},
        {"encoder": {"weights_sha256": "cd" * 32}},
    ],
)
def test_what_belongs_to_no_record_is_left_out_and_told(
    write_results: Writer, write_judgements: Writer, change: dict[str, dict[str, str]]
) -> None:
    results = write_results([make_record()])
    folder = write_judgements([make_judgement(make_record(**change))])
    told: list[str] = []
    index = build_site(results, results.parent / "site", judgements=folder, tell=told.append)
    assert told == [
        "1 judgement belongs to no record by SAE, data fingerprint and encoder, left out: 000.json"
    ]
    assert "DAME (annotations)" not in index.read_text()
    assert not (index.parent / "judgements").exists()


def test_one_judge_twice_is_refused() -> None:
    record, document = make_record(), make_judgement(make_record())
    twice = [loaded(document), loaded({**document, "counts": {}}, "again.json")]
    with pytest.raises(UserError, match=r"again\.json: .* already judged by 'annotations' in a\.j"):
        attach([of(record)], twice)


def test_a_record_that_says_otherwise_is_refused() -> None:
    record, document = make_record(), make_judgement(make_record())
    record["scores"]["dame"] = {"annotations": document["scores"]["dame"]}
    (joined,), _ = attach([of(record)], [loaded(document)])
    assert joined.judges == ["annotations"]
    record["scores"]["dame"] = {"annotations": score(0.9, 0.01)}
    with pytest.raises(UserError, match=r"a\.json: DAME .* but record\.json carries 0\.9"):
        attach([of(record)], [loaded(document)])


def test_each_judge_has_its_own_column() -> None:
    one, two, none = (make_record("topk", d) for d in (128, 256, 512))
    one["scores"]["dame"] = {"b/model": score(0.5, 0.02), "a": score(0.4, 0.02)}
    two["scores"]["dame"] = {"a": score(0.3, 0.02)}
    two["baselines"]["untrained"]["dame"] = {"a": score(0.2, 0.02)}
    (board,) = make_boards([of(one), of(two), of(none)])
    assert [c.head for c in board.columns[-2:]] == ["DAME (a)", "DAME (b/model)"]
    cells = {
        e.record.d_sae: [e.cells[key].text for key in ("dame/a", "dame/b/model")]
        for e in board.entries
    }
    assert cells == {128: ["0.400", "0.500"], 256: ["0.300", "n/a"], 512: ["n/a", "n/a"]}
    twin = next(reference for reference in board.references if reference.key == "untrained")
    assert (twin.cells["dame/a"], twin.cells["dame/b/model"]) == ("0.200", "")


def test_without_judges_there_is_no_column() -> None:
    (board,) = make_boards([of(make_record())])
    assert not [c.key for c in board.columns if c.key.startswith("dame")]


@given(st.sets(st.text(min_size=1, max_size=60), min_size=2, max_size=20))
def test_judges_never_share_a_file_name(names: set[str]) -> None:
    slugs = {judge_slug(name) for name in names}
    assert len(slugs) == len(names)
    assert all(slug == slug.lower() and slug.replace("-", "").isalnum() for slug in slugs)
    assert max(map(len, slugs)) <= 49
