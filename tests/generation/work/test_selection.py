import pytest
from work_cases import decision, edit_record, failed_record, small_plan, verdict

from generation.work import Dropped, select

OTHER = "cd" * 32
PLAN = small_plan(1)
EDIT = PLAN.edits[0].id
MADE = {EDIT: edit_record(PLAN, EDIT)}
GOOD = {EDIT: verdict(PLAN, EDIT)}


def fate(edits=MADE, verdicts=GOOD, said=(), adjudicated=None, plan=PLAN, **more):
    reviews = {f"r{n}": {EDIT: decision(plan, EDIT, word)} for n, word in enumerate(said)}
    final = {} if adjudicated is None else {EDIT: decision(plan, EDIT, adjudicated)}
    found = select(plan, edits, verdicts, reviews, final, **more)
    assert len(found.kept) + len(found.dropped) == 1
    return found.dropped.get(EDIT)


def test_made_and_verified_makes_it():
    assert fate() is None
    assert fate(said=["accept", "accept"]) is None


@pytest.mark.parametrize(
    ("edits", "reason"),
    [({}, "not made yet"), ({EDIT: failed_record(PLAN, EDIT, "black: x")}, "black: x")],
)
def test_without_a_picture_it_falls_out_first(edits, reason):
    assert fate(edits, {}, ["reject"]) == Dropped("edit", reason)


def test_verdicts_count_where_the_plan_filters():
    bad = {EDIT: verdict(PLAN, EDIT, kept=False, reasons=("not yellow: p 0.2",))}
    assert fate(verdicts=bad) == Dropped("verify", "not yellow: p 0.2")
    assert fate(verdicts={}) == Dropped("verify", "not verified yet")
    stale = {EDIT: verdict(PLAN, EDIT, image_sha256=OTHER)}
    assert fate(verdicts=stale) == Dropped("verify", "not verified yet")
    reported = small_plan(1, verify="report_only")
    made = {EDIT: edit_record(reported, EDIT)}
    for verdicts in ({}, bad, stale):
        assert fate(made, verdicts, plan=reported) is None


@pytest.mark.parametrize(
    ("said", "adjudicated", "reason"),
    [
        (["reject"], None, "rejected"),
        (["unsure"], None, "unsure"),
        (["accept", "reject"], None, "reviewers disagree"),
        (["accept", "unsure"], None, "reviewers disagree"),
        (["accept", "reject"], "accept", None),
        (["accept", "accept"], "reject", "adjudicated as reject"),
        ([], "unsure", "adjudicated as unsure"),
    ],
)
def test_reviewers_must_agree_or_be_adjudicated(said, adjudicated, reason):
    found = fate(said=said, adjudicated=adjudicated)
    assert found == (None if reason is None else Dropped("review", reason))


def test_who_reviews_reviews_all():
    plan = small_plan(2)
    first, second = (edit.id for edit in plan.edits)
    edits = {name: edit_record(plan, name) for name in (first, second)}
    verdicts = {name: verdict(plan, name) for name in (first, second)}
    reviews = {"ann": {first: decision(plan, first, "accept")}, "bob": {}}
    found = select(plan, edits, verdicts, reviews)
    assert [edit.id for edit in found.kept] == [first]
    assert found.dropped == {second: Dropped("review", "not reviewed yet")}
    assert len(select(plan, edits, verdicts, {"bob": {}}).kept) == 2
    assert not select(plan, edits, verdicts, {}, require_review=True).kept


def test_decisions_on_an_earlier_picture_count_as_none():
    stale = {"ann": {EDIT: decision(PLAN, EDIT, "accept", edit_sha256=OTHER)}}
    assert select(PLAN, MADE, GOOD, stale).dropped[EDIT].reason == "not reviewed yet"


def test_table_counts_kinds_of_reasons_by_stage():
    plan = small_plan(4)
    names = [edit.id for edit in plan.edits]
    edits = {name: edit_record(plan, name) for name in names[:2]}
    edits[names[2]] = failed_record(plan, names[2], "black: one")
    edits[names[3]] = failed_record(plan, names[3], "black: two")
    verdicts = {names[0]: verdict(plan, names[0])}
    found = select(plan, edits, verdicts, {})
    assert found.table == [("edit", "black", 2), ("verify", "not verified yet", 1)]
