"""Decisions on disk: written at once and once, taken back, kept over a restart."""

from dataclasses import replace
from pathlib import Path

import pytest
from edit_work import draw_bird, edited_work, log_edit

from benchmark.errors import UserError
from generation.reviewing import Queue, current, reviewable
from generation.reviewing.server import open_session
from generation.work import Verdict, Work


def queue_of(work: Work, name: str, **options: bool) -> Queue:
    return Queue(reviewable(work), work.review_log(name), work.plan.hash, **options)


def lines(work: Work, name: str) -> list[tuple[str, str]]:
    return [(line.id, line.decision) for line in work.review_log(name)]


def decide(queue: Queue, place: int, word: str, note: str = "") -> str:
    edit = queue.ids[place]
    queue.decide(edit, word, note, queue.items[edit].sha256)
    return edit


def test_a_decision_is_on_disk_when_the_call_returns(work: Work) -> None:
    queue = queue_of(work, "disk")
    first = decide(queue, 0, "accept", " good\r\nreally ")
    line = work.reviews()["disk"][first]
    assert (line.decision, line.note) == ("accept", "good\nreally")
    assert queue.next_open() == queue.ids[1]
    assert (queue.done, queue.counts) == (1, {"accept": 1, "reject": 0, "unsure": 0})
    # the same again is no news, another word or note is
    decide(queue, 0, "accept", "good\nreally")
    assert len(lines(work, "disk")) == 1
    decide(queue, 0, "reject", "good\nreally")
    decide(queue, 0, "reject")
    assert [word for _, word in lines(work, "disk")] == ["accept", "reject", "reject"]
    assert queue.done == 1


def test_undo_takes_back_the_latest_whatever_its_pair(work: Work) -> None:
    queue = queue_of(work, "undo")
    assert queue.undo() is None
    for place, word in ((0, "accept"), (1, "reject"), (0, "unsure")):
        decide(queue, place, word)
    assert queue.undo() == queue.ids[0]
    assert queue.decisions[queue.ids[0]].decision == "accept"
    # a restart sees the same, and so does the stage that selects
    queue = queue_of(work, "undo")
    assert {edit: each.decision for edit, each in queue.decisions.items()} == {
        queue.ids[0]: "accept",
        queue.ids[1]: "reject",
    }
    assert work.reviews()["undo"] == queue.decisions
    assert queue.undo() == queue.ids[1]
    assert queue.undo() == queue.ids[0]
    assert queue.undo() is None
    assert work.reviews()["undo"] == {}
    assert queue.next_open() == queue.ids[0]


def test_open_pairs_are_found_round_the_end(work: Work) -> None:
    queue = queue_of(work, "round")
    for place in (1, 3, 4):
        decide(queue, place, "accept")
    assert queue.next_open(queue.ids[1]) == queue.ids[2]
    assert queue.next_open(queue.ids[3]) == queue.ids[0]
    assert queue.beside(queue.ids[0]) == (None, queue.ids[1])
    assert queue.beside(queue.ids[4]) == (queue.ids[3], None)
    for place in (0, 2):
        decide(queue, place, "reject")
    assert queue.next_open(queue.ids[2]) is None


def test_what_cannot_be_decided(work: Work) -> None:
    queue = queue_of(work, "wrong")
    edit = queue.ids[0]
    sha256 = queue.items[edit].sha256
    with pytest.raises(KeyError):
        queue.decide("other", "accept", "", sha256)
    for word, note, seen in (("undo", "", sha256), ("accept", "x" * 4001, sha256)):
        with pytest.raises(ValueError, match="expected"):
            queue.decide(edit, word, note, seen)
    with pytest.raises(ValueError, match="made again since"):
        queue.decide(edit, "accept", "", "0" * 64)
    assert not (work.review / "wrong.jsonl").exists()


def test_a_line_torn_by_a_crash_is_passed_over(work: Work) -> None:
    queue = queue_of(work, "torn")
    decide(queue, 0, "accept")
    path = work.review / "torn.jsonl"
    with path.open("ab") as stream:
        stream.write(path.read_bytes()[:40])
    queue = queue_of(work, "torn")
    assert queue.done == 1
    decide(queue, 1, "reject")
    assert [word for _, word in lines(work, "torn")] == ["accept", "reject"]


@pytest.mark.parametrize("name", ["../x", "", "A", "a b", "x" * 64, "adjudication", "a/b"])
def test_names_that_are_no_file_are_refused(work: Work, name: str) -> None:
    with pytest.raises(UserError, match=r"reviewer .*expected lower-case letters"):
        open_session(work, name)


def test_a_file_of_other_pictures_is_refused_unless_asked_anew(tmp_path: Path) -> None:
    work = edited_work(tmp_path, 3)
    queue = queue_of(work, "ann")
    kept, changed = decide(queue, 0, "accept"), decide(queue, 1, "accept")
    log_edit(work, work.plan.by_id[changed], draw_bird(77, ()))
    with pytest.raises(UserError, match=rf"ann\.jsonl: 1 decisions, the first on {changed}"):
        open_session(work, "ann")
    assert set(current(work)["ann"]) == {kept}
    session = open_session(work, "ann", again=True)
    assert session.queue.next_open() == changed
    decide(session.queue, 1, "reject")
    assert queue_of(work, "ann").done == 2


def test_a_file_of_another_plan_is_refused(work: Work, tmp_path: Path) -> None:
    other = edited_work(tmp_path, 4)
    decide(queue_of(other, "guest"), 0, "accept")
    source = other.review / "guest.jsonl"
    target = work.review / "guest.jsonl"
    work.review.mkdir(exist_ok=True)
    target.write_bytes(source.read_bytes())
    with pytest.raises(UserError, match=r"guest\.jsonl line 1: of plan .* another version"):
        open_session(work, "guest")
    target.unlink()


def test_people_see_what_the_classifier_keeps(tmp_path: Path) -> None:
    work = edited_work(tmp_path, 3)
    edits = work.edits()
    names = [edit.id for edit in work.plan.edits]
    assert list(reviewable(work)) == names
    work.verdict_log.append(
        *(
            Verdict(name, work.plan.hash, str(edits[name].sha256), (), 0.0, keep, ())
            for name, keep in zip(names, (True, False, True), strict=True)
        )
    )
    assert list(reviewable(work)) == [names[0], names[2]]
    # a verdict on an earlier picture says nothing of this one
    log_edit(work, work.plan.by_id[names[2]], draw_bird(5, ()))
    assert list(reviewable(work)) == [names[0]]
    lenient = Work(work.root)
    lenient.__dict__["plan"] = replace(work.plan, verify="report_only")
    lenient.plan.__dict__["hash"] = work.plan.hash
    assert list(reviewable(lenient)) == names
    assert reviewable(lenient)[names[2]].verdict is None


def test_adjudication_is_about_disagreements_and_says_who(tmp_path: Path) -> None:
    work = edited_work(tmp_path, 4)
    with pytest.raises(UserError, match="disagree on no pair"):
        open_session(work, "eve", adjudicate=True)
    ann, bob = queue_of(work, "ann"), queue_of(work, "bob")
    for place, (one, other) in enumerate((("accept", "accept"), ("accept", "reject"))):
        decide(ann, place, one, "clear")
        decide(bob, place, other)
    session = open_session(work, "eve", adjudicate=True)
    assert session.queue.ids == (ann.ids[1],)
    assert session.others[ann.ids[1]]["ann"].note == "clear"
    decide(session.queue, 0, "reject")
    assert work.adjudications()[ann.ids[1]].reviewer == "eve"
    # another adjudicator sees it decided, and takes back only what is theirs
    other = open_session(work, "joe", adjudicate=True)
    assert other.queue.done == 1
    assert other.queue.undo() is None
    decide(other.queue, 0, "reject")
    assert work.adjudications()[ann.ids[1]].reviewer == "joe"
