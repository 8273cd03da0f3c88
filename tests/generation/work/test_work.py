import json
import subprocess
import sys
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work_cases import (
    decision,
    edit_record,
    failed_record,
    planned_edit,
    small_plan,
    verdict,
    work_files,
)

from benchmark.errors import UserError
from generation.work import (
    Check,
    DeclaredConcept,
    Work,
    read_plan,
    write_plan,
)
from schemas import load, validate


@pytest.fixture
def work(tmp_path):
    return write_plan(tmp_path / "work", small_plan(), {"birds/7.jpg": 'a "reason", with commas'})


def test_plan_survives_its_file(work, tmp_path):
    assert read_plan(work.root / "plan.json") == small_plan()
    assert work.plan.hash == small_plan().hash
    planned = (work.root / "planned.csv").read_text().splitlines()
    assert planned[:2] == [
        "id,image,class,removed,added,kind,references",
        "edit-00000,birds/0.jpg,001.Auk,has wing color: yellow,has wing color: blue,attribute,"
        "birds/9.jpg",
    ]
    assert len(planned) == 4
    table = (work.root / "left_out.csv").read_text().splitlines()
    assert table == ["image,reason", 'birds/7.jpg,"a ""reason"", with commas"']


def test_hash_depends_on_everything_and_on_nothing_else(tmp_path):
    plan = small_plan()
    assert plan.hash == small_plan().hash
    declared = (DeclaredConcept("lighting: night", "lighting"),)
    others = [
        small_plan(name="other"),
        small_plan(seed=1),
        small_plan(verify="report_only"),
        small_plan(declared=declared),
        small_plan(edits=plan.edits[:2]),
        small_plan(edits=(planned_edit(0, prompt="x"), *plan.edits[1:])),
    ]
    assert len({plan.hash, *(other.hash for other in others)}) == 7
    path = write_plan(tmp_path, plan, {}).root / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text())))  # other spaces, same plan
    assert read_plan(path).hash == plan.hash


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"surprise": 1}, "$.surprise: found unknown key"),
        ({"seed": True}, "$.seed: found true, expected integer"),
        ({"kind": "other"}, '$.kind: found "other"'),
        ({"schema_version": 2}, "$.schema_version"),
        ({"edits": []}, "$.edits"),
        ({"concepts": ["a"]}, "changes 'has wing color: blue', which is no concept"),
    ],
)
def test_broken_plan_is_one_line_with_file_and_key(work, change, said):
    path = work.root / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError) as raised:
        read_plan(path)
    assert str(path) in str(raised.value)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["../up", "UP", "a/b", "", "x" * 64, ".", "nul\0"])
def test_edit_ids_are_file_names(work, name):
    path = work.root / "plan.json"
    document = json.loads(path.read_text())
    document["edits"][0]["id"] = name
    path.write_text(json.dumps(document))
    with pytest.raises(UserError, match=r"edits\[0\]\.id"):
        read_plan(path)


def test_absent_and_garbled_plans(tmp_path):
    with pytest.raises(UserError, match="assay generate plan"):
        Work(tmp_path).plan  # noqa: B018
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(UserError, match="not JSON"):
        Work(tmp_path).plan  # noqa: B018


def test_another_plan_does_not_take_the_place_of_work(work):
    other = small_plan(seed=5)
    write_plan(work.root, other, {})  # nothing was done yet
    fresh = Work(work.root)
    fresh.edit_log.append(edit_record(other, "edit-00000"))
    write_plan(work.root, other, {})
    with pytest.raises(UserError, match="work done by another plan"):
        write_plan(work.root, small_plan(), {})
    assert Work(work.root).plan == other


def test_lines_are_what_their_schemas_say():
    plan = small_plan()
    check = Check("has wing color: blue", "base", False, 0.2, 0.5, True)
    lines = {
        "edit-record": edit_record(plan, "edit-00000"),
        "verdict": verdict(plan, "edit-00000", checks=(check,), reasons=("why",)),
        "review-decision": decision(plan, "edit-00000", "accept", reviewer="ann"),
    }
    for schema, line in lines.items():
        document = json.loads(json.dumps(line.as_dict()))
        validate(schema, document)
        assert type(line).from_dict(document) == line
        assert set(document) == set(load(schema)["properties"])
        assert set(document) == {each.name for each in fields(line)}
    assert "reviewer" not in decision(plan, "edit-00000", "accept").as_dict()


def test_the_last_line_of_an_edit_counts(work):
    log = work.edit_log
    log.append(failed_record(work.plan, "edit-00001", "black: nothing"))
    log.append(
        edit_record(work.plan, "edit-00001", attempt=2), edit_record(work.plan, "edit-00000")
    )
    assert [line.id for line in log] == ["edit-00001", "edit-00001", "edit-00000"]
    assert work.edits()["edit-00001"].status == "ok"


@pytest.mark.parametrize("torn", [b"{", b'{"id": "edit-00002"', b"\xff\xfe", b"x" * 9000])
def test_a_torn_line_is_passed_over_and_then_cut_off(work, torn):
    log = work.edit_log
    log.append(edit_record(work.plan, "edit-00000"))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + torn)
    assert list(work.edits()) == ["edit-00000"]
    log.append(edit_record(work.plan, "edit-00001"))
    assert log.path.read_bytes().startswith(whole)
    assert list(work.edits()) == ["edit-00000", "edit-00001"]


def test_a_whole_line_without_its_line_feed_counts(work):
    log = work.edit_log
    log.append(edit_record(work.plan, "edit-00000"), edit_record(work.plan, "edit-00001"))
    text = log.path.read_bytes()
    log.path.write_bytes(text.rstrip(b"\n"))
    assert list(work.edits()) == ["edit-00000", "edit-00001"]
    log.append(edit_record(work.plan, "edit-00002"))
    assert log.path.read_bytes().startswith(text)
    assert list(work.edits()) == ["edit-00000", "edit-00001", "edit-00002"]
    # what is whole but wrong is nobody's torn line: it is neither passed over nor cut off
    log.path.write_bytes(text + b'{"id": "edit-00002"}')
    with pytest.raises(UserError, match=r"line 3: \$"):
        work.edits()


def test_a_first_line_that_is_torn_is_cut_off(work):
    log = work.edit_log
    log.path.parent.mkdir()
    log.path.write_bytes(b'{"half')
    log.append(edit_record(work.plan, "edit-00000"))
    assert list(work.edits()) == ["edit-00000"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"nonsense\n", "line 2: not JSON"),
        (b'{"id": "edit-00001"}\n', "line 2: $."),
        (b"[]\n", "line 2"),
        (b'{"id": "edit-00000", "id": "edit-00001"}\n', "line 2: key 'id' stands twice"),
        (b"\n", "line 2"),
    ],
)
def test_a_broken_line_in_the_middle_is_an_error(work, text, said):
    log = work.edit_log
    log.append(edit_record(work.plan, "edit-00000"))
    log.path.write_bytes(log.path.read_bytes() + text)
    with pytest.raises(UserError) as raised:
        work.edits()
    assert str(log.path) in str(raised.value)
    assert said in str(raised.value)


def test_lines_of_another_plan_are_refused(work):
    other = small_plan(seed=9)
    log = work.review_log("ann")
    with pytest.raises(ValueError, match="another plan"):
        log.append(decision(other, "edit-00000", "accept"))
    log.path.parent.mkdir()
    log.path.write_text(json.dumps(decision(other, "edit-00000", "accept").as_dict()) + "\n")
    with pytest.raises(UserError, match="another version"):
        work.reviews()


@pytest.mark.parametrize("at", ["2026-13-45T99:99:99Z", "2026-02-30T00:00:00Z"])
def test_a_decision_has_a_date_that_there_is(work, at):
    work.review_log("ann").append(decision(work.plan, "edit-00000", "accept", at=at))
    with pytest.raises(UserError, match=rf"ann\.jsonl line 1: .*{at}"):
        work.reviews()


def test_an_outside_change_is_a_share(work):
    path = work.verdict_log.path
    path.parent.mkdir()
    line = verdict(work.plan, "edit-00000", outside_change=2).as_dict()
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(UserError, match=r"verdicts\.jsonl line 1: .*outside_change"):
        work.verdicts()


def test_lines_of_unknown_edits_are_refused(work):
    work.edit_log.append(edit_record(work.plan, "edit-00077"))
    with pytest.raises(UserError, match="'edit-00077' is not in"):
        work.edits()


@pytest.mark.parametrize("name", ["../x", "Ann", "", "adjudication", "a b", "é", "x" * 64])
def test_names_of_reviewers_are_file_names(work, name):
    with pytest.raises(UserError, match="expected lower-case letters"):
        work.review_log(name)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["accept", "reject", "unsure", "undo"]), max_size=12))
def test_undo_takes_back_the_latest_standing_decision(tmp_path_factory, said):
    work = write_plan(tmp_path_factory.mktemp("w"), small_plan(), {})
    log = work.review_log("ann")
    stack: list[str] = []
    for word in said:
        log.append(decision(work.plan, "edit-00001", word))
        stack = stack[:-1] if word == "undo" else [*stack, word]
    found = work.reviews().get("ann", {})
    assert [each.decision for each in found.values()] == stack[-1:]


def test_reviewers_and_adjudication_are_apart(work):
    work.review_log("bob").append(decision(work.plan, "edit-00000", "accept"))
    work.review_log("ann").append(decision(work.plan, "edit-00000", "reject"))
    work.adjudication_log.append(decision(work.plan, "edit-00000", "accept", reviewer="cy"))
    assert work.reviewers == ["ann", "bob"]
    assert work.adjudications()["edit-00000"].reviewer == "cy"


def test_files_that_are_no_reviewers_are_named_and_hidden_ones_passed_over(work):
    work.review_log("ann").append(decision(work.plan, "edit-00000", "accept"))
    (work.review / ".hidden.jsonl").write_text("x")
    assert work.reviewers == ["ann"]
    (work.review / "Bob.jsonl").write_text("")
    with pytest.raises(UserError, match=r"review/Bob\.jsonl: 'Bob' is no name .* move it away"):
        work.reviews()


@pytest.mark.parametrize(
    ("stage", "said"),
    [("edit", "an edit by the plan there is under way"), ("plan", "another plan is under way")],
)
def test_no_plan_is_written_while_another_run_edits_or_plans(work, stage, said):
    before = work_files(work.root)
    with work.locked(stage), pytest.raises(UserError, match=said) as raised:
        write_plan(work.root, small_plan(seed=5), {})
    assert "\n" not in str(raised.value)
    assert work_files(work.root) == before
    write_plan(work.root, small_plan(seed=5), {})


def test_a_stage_does_not_begin_by_a_plan_that_was_replaced(work):
    late = Work(work.root)
    assert late.plan == small_plan()
    write_plan(work.root, small_plan(seed=5), {})
    replaced = pytest.raises(UserError, match=r"plan\.json: replaced since this edit began")
    with replaced, late.locked("edit"):
        pass
    with Work(work.root).locked("edit"):
        pass


def test_a_stage_runs_once_at_a_time(work):
    script = (
        "import sys; from pathlib import Path; from generation.work import Work\n"
        "with Work(Path(sys.argv[1])).locked('edit'): pass"
    )
    with work.locked("edit"):
        run = subprocess.run(
            [sys.executable, "-c", script, str(work.root)], capture_output=True, text=True
        )
        assert "another edit is under way" in run.stderr
    with work.locked("edit"):
        pass
