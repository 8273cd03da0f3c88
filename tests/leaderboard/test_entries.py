"""From submissions to entries: newest results, history, older data, withdrawals, exposure."""

import json
from pathlib import Path
from typing import Any

import pytest
from generator_documents import make_generator
from result_records import make_record, score
from site_submissions import generator_submission, measured, sae_submission, write_submission

from benchmark.errors import UserError
from leaderboard.building.cache import Cache
from leaderboard.building.content import Content, Sources, read_content
from leaderboard.building.pool import Pool
from leaderboard.ranking.boards import Board


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    return tmp_path / "submissions"


def read(submissions: Path | None, results: Path | None = None) -> Content:
    root = (submissions or results or Path()).parent
    with Pool(1) as pool:
        return read_content(Sources(results, submissions), Cache(root / "cache"), pool)


def at(record: dict[str, Any], day: str, value: float | None = None) -> dict[str, Any]:
    """The record measured on another day, perhaps with another ΔMATCHScore."""
    copy: dict[str, Any] = json.loads(json.dumps(record))
    copy["timing"]["measured_at"] = f"{day}T12:00:00Z"
    if value is not None:
        copy["scores"]["delta_match_score"] = score(value, 0.01)
    return copy


def add(root: Path, record: dict[str, Any], *later: dict[str, Any], **changes: Any) -> Path:
    return write_submission(root, "saes", sae_submission(record, **changes), record, *later)


def only(content: Content) -> Board:
    (board,) = content.boards
    return board


def test_the_newest_result_counts_and_older_ones_are_history(submissions: Path) -> None:
    first = at(measured("one", 1), "2026-10-01", 0.05)
    add(submissions, first, at(first, "2026-11-01", 0.09), at(first, "2026-12-01", 0.07))
    (entry,) = only(read(submissions)).entries
    assert entry.version == 3
    assert entry.cells["delta_match_score"].value == 0.07
    assert [past.version for past in entry.history] == [2, 1]
    assert [past.date for past in entry.history] == ["2026-11-01", "2026-10-01"]
    assert [past.values["delta_match_score"].value for past in entry.history] == [0.09, 0.05]
    assert not any(past.older_data for past in entry.history)


def test_what_a_submission_says_is_with_its_entry(submissions: Path) -> None:
    record = measured("one", 1)
    trained = [{"dataset": "SynAvatars", "splits": ["match", "score"]}]
    claimed = {"synavatars": {"match_score": 0.9}, "cub": {"match_score": 0.1}}
    add(submissions, record, training_data=trained, claimed=claimed)
    (entry,) = only(read(submissions)).entries
    assert entry.submission is not None
    assert entry.submission.licence == "Apache-2.0"
    assert entry.exposure == ("score images",)
    assert entry.claimed == {"match_score": 0.9}
    assert entry.place == "synavatars"


def test_an_older_state_of_the_data_is_never_ranked_with_the_newest(submissions: Path) -> None:
    old = at(measured("aged", 1, dataset={"fingerprint": "ab" * 32}), "2026-10-01", 0.9)
    new = at(measured("fresh", 2), "2026-11-01", 0.05)
    moved = at(measured("moved", 3, dataset={"fingerprint": "ab" * 32}), "2026-10-02", 0.8)
    again = at(measured("moved", 3), "2026-11-02", 0.04)
    add(submissions, old)
    add(submissions, new)
    add(submissions, moved, again)
    board = only(read(submissions))
    assert [entry.record.id for entry in board.entries] == ["fresh", "moved"]
    assert [entry.record.id for entry in board.older] == ["aged"]
    assert board.older[0].older_data
    assert board.older[0].rank is None
    assert [past.older_data for past in board.entries[1].history] == [True]
    assert board.dataset["fingerprint"] == new["dataset"]["fingerprint"]


def test_older_data_that_nobody_measured_again_still_has_a_board(submissions: Path) -> None:
    old = at(measured("aged", 1, dataset={"fingerprint": "ab" * 32}), "2026-10-01")
    new = at(measured("fresh", 2, encoder={"name": "another"}), "2026-11-01")
    add(submissions, old)
    add(submissions, new)
    boards = {board.encoder["name"]: board for board in read(submissions).boards}
    assert [entry.record.id for entry in boards["efficientnet-lite0"].older] == ["aged"]
    assert boards["efficientnet-lite0"].entries == ()
    assert [entry.record.id for entry in boards["another"].entries] == ["fresh"]


def test_a_withdrawn_entry_leaves_the_ranking(submissions: Path) -> None:
    add(submissions, at(measured("stays", 1), "2026-11-01", 0.05))
    add(
        submissions,
        at(measured("leaves", 2), "2026-11-01", 0.5),
        withdrawn={"date": "2026-12-01", "reason": "a mistake"},
    )
    board = only(read(submissions))
    assert [entry.record.id for entry in board.entries] == ["stays"]
    assert board.entries[0].rank is not None
    assert board.entries[0].rank.worst == 1
    (gone,) = board.withdrawn
    assert gone.rank is None
    assert gone.withdrawn == {"date": "2026-12-01", "reason": "a mistake"}
    assert "leaves" not in [entry.record.id for entry in board.older]


def test_a_record_alone_and_a_submission_stand_on_one_board(tmp_path: Path) -> None:
    results, submissions = tmp_path / "results", tmp_path / "submissions"
    results.mkdir()
    (results / "a.json").write_text(json.dumps(make_record()))
    add(submissions, measured("submitted", 1))
    board = only(read(submissions, results))
    assert {entry.record.id for entry in board.entries} == {"submitted", "demo-topk-512-s0"}
    alone = next(e for e in board.entries if e.record.id != "submitted")
    assert alone.submission is None
    assert alone.exposure == ()
    assert alone.history == ()


def test_one_sae_twice_on_a_board_names_both_files(tmp_path: Path) -> None:
    results, submissions = tmp_path / "results", tmp_path / "submissions"
    results.mkdir()
    other = measured("one", 1)
    other["submission"]["weights_sha256"] = "ef" * 32
    (results / "twin.json").write_text(json.dumps(other))
    add(submissions, measured("one", 1))
    with pytest.raises(UserError, match=r"already measured on this board") as caught:
        read(submissions, results)
    assert "twin.json" in str(caught.value)
    assert "submissions/saes/one/results/synavatars/1.json" in str(caught.value)


def test_a_result_of_another_submission_is_refused(submissions: Path) -> None:
    folder = add(submissions, measured("one", 1))
    (folder / "results" / "synavatars" / "2.json").write_text(json.dumps(measured("two", 1)))
    with pytest.raises(UserError, match=r"2\.json: a measurement of 'two' in the folder of 'one'"):
        read(submissions)


def test_a_broken_document_is_named_with_its_fault(submissions: Path) -> None:
    folder = add(submissions, measured("one", 1))
    document = json.loads((folder / "submission.json").read_text())
    (folder / "submission.json").write_text(json.dumps({**document, "verified": True}))
    with pytest.raises(UserError, match=r"saes/one/submission\.json.*verified"):
        read(submissions)


def test_nothing_to_show_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "submissions" / "saes").mkdir(parents=True)
    with pytest.raises(UserError, match="no measured submissions in"):
        read(tmp_path / "submissions")
    with pytest.raises(UserError, match="no folder"):
        read(tmp_path / "absent")


def test_a_submission_without_results_waits(submissions: Path) -> None:
    add(submissions, measured("one", 1))
    folder = add(submissions, measured("two", 2))
    for file in (folder / "results").rglob("*.json"):
        file.unlink()
    assert [entry.record.id for entry in only(read(submissions)).entries] == ["one"]


def add_generator(
    root: Path, document: dict[str, Any], *later: dict[str, Any], **more: Any
) -> None:
    write_submission(root, "generators", generator_submission(document), document)


def test_generators_are_ranked_by_the_least_divergence(submissions: Path) -> None:
    for name, shift in (("far", 0.6), ("near", 0.1), ("same", 0.0)):
        add_generator(submissions, make_generator(name, shift))
    (board,) = read(submissions).generators
    values = [entry.cells["sad"].value for entry in board.entries]
    assert values == sorted(values, key=lambda value: value or 0.0)
    assert [entry.rank.place for entry in board.entries if entry.rank] == [1, 2, 3]
    first = board.entries[0]
    null = first.record.document["null"]["sad"]
    assert first.nulls["sad"].value == null["q95"]
    assert first.record.inside_null("sad") == null["inside"]


@pytest.mark.parametrize(
    ("part", "change", "boards"),
    [
        ("protocol", {"batch_size": 7}, 1),
        ("protocol", {"permutations": 7}, 2),
        ("model", {"weights_sha256": "ab" * 32}, 2),
        ("real", {"split": "match"}, 2),
        ("encoder", {"weights_sha256": "ab" * 32}, 2),
    ],
)
def test_generators_are_compared_only_where_they_can_be(
    submissions: Path, part: str, change: dict[str, Any], boards: int
) -> None:
    other = make_generator("other")
    other[part] |= change
    add_generator(submissions, make_generator("one"))
    add_generator(submissions, other)
    assert len(read(submissions).generators) == boards


def test_an_outcome_in_the_protocol_does_not_split_a_board(submissions: Path) -> None:
    documents = [make_generator(name) for name in ("one", "other")]
    for document, deviation in zip(documents, (0.001, 0.002), strict=True):
        kid = {"deviation": deviation, "subset_size": 300, "subsets": 100}
        document["protocol"]["quality"] = {"kid": kid, "nearest": 5}
        add_generator(submissions, document)
    (board,) = read(submissions).generators
    assert len(board.entries) == 2
