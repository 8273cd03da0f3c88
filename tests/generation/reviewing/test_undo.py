"""What an undo takes back: the same in the file, in a server's memory and in the package."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from work_cases import decision, edit_record, small_plan

from generation.reviewing.queue import Item, Queue
from generation.work import Work, standing, write_plan

PEOPLE = ("carl", "dora")
SHAS = ("ab" * 32, "cd" * 32)
PLAN = small_plan(2)
EDITS = [edit.id for edit in PLAN.edits]


def test_an_undo_takes_back_the_latest_of_the_same_reviewer() -> None:
    said = [("carl", "accept"), ("dora", "reject"), ("carl", "undo"), ("carl", "undo")]
    lines = [decision(PLAN, EDITS[0], word, reviewer=name) for name, word in said]
    assert standing(lines) == [lines[1]]
    assert standing([*lines, decision(PLAN, EDITS[1], "undo", reviewer="dora")]) == [lines[1]]
    assert standing([*lines, decision(PLAN, EDITS[0], "undo", reviewer="dora")]) == []


def opened(work: Work, person: str, pictures: dict[str, str]) -> Queue:
    items = {
        edit.id: Item(edit, edit_record(work.plan, edit.id, sha256=pictures[edit.id]), None)
        for edit in work.plan.edits
    }
    return Queue(items, work.adjudication_log, work.plan.hash, author=person, again=True)


STEPS = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from(EDITS),
    st.sampled_from(["accept", "reject", "undo", "undo", "made again"]),
)
FIRST = EDITS[0]


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=10), st.booleans())
@example([("carl", FIRST, "accept"), ("dora", FIRST, "reject"), ("carl", FIRST, "undo")], True)
@example(
    [
        ("carl", FIRST, "accept"),
        ("carl", FIRST, "made again"),
        ("dora", FIRST, "reject"),
        ("carl", FIRST, "made again"),
        ("carl", FIRST, "accept"),
        ("carl", FIRST, "undo"),
    ],
    True,
)
def test_memory_and_file_agree_whoever_decides(
    tmp_path_factory, steps: list[tuple[str, str, str]], anew: bool
) -> None:
    work = write_plan(tmp_path_factory.mktemp("undo"), PLAN, {})
    pictures = dict.fromkeys(EDITS, SHAS[0])
    queue, author = opened(work, "carl", pictures), "carl"
    for person, edit, word in steps:
        if word == "made again":
            pictures[edit] = SHAS[1 - SHAS.index(pictures[edit])]
        if anew or person != author or word == "made again":
            queue, author = opened(work, person, pictures), person
        if word == "undo":
            others = {name: d for name, d in queue.decisions.items() if d.reviewer != person}
            queue.undo()
            assert others.items() <= queue.decisions.items()
        elif word != "made again":
            queue.decide(edit, word, "", pictures[edit])
        on_disk = work.adjudications()
        present = {name: d for name, d in on_disk.items() if d.edit_sha256 == pictures[name]}
        assert queue.decisions == present
