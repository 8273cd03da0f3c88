"""Ranks, ties, missing values, and which records stand on one board."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_records import make_record, score

from benchmark.errors import UserError
from leaderboard.ranking.boards import Rank, make_boards, rank
from leaderboard.reading.records import Record, Score, load_records


def scored(value: float | None, half: float = 0.0) -> Score:
    if value is None:
        return Score(None, None, 0, {"no pairs": 1})
    return Score(value, (value - half, value + half), 10, {})


def record(sae: str, value: float | None = 0.1, **changes: Any) -> Record:
    document = make_record(**changes)
    document["submission"]["id"] = sae
    document["scores"]["delta_match_score"] = score(value, 0.01)
    return Record(document, Path(f"{sae}.json"))


def test_ties_share_a_rank_and_the_next_is_skipped() -> None:
    ranks = rank([scored(0.2), scored(0.5), scored(0.2), scored(0.1), scored(None), None])
    assert [r.place if r else None for r in ranks] == [2, 1, 2, 4, None, None]


def test_possible_ranks_follow_the_intervals() -> None:
    ranks = rank([scored(0.50, 0.02), scored(0.47, 0.02), scored(0.30, 0.02)])
    assert ranks == [Rank(1, 1, 2), Rank(2, 1, 2), Rank(3, 3, 3)]
    assert [r.span for r in ranks if r] == ["1–2", "1–2", "3"]


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(0, 0.3)) | st.none(),
        max_size=12,
    )
)
def test_best_place_and_worst_are_in_order(values: list[tuple[float, float] | None]) -> None:
    scores = [None if v is None else scored(*v) for v in values]
    known = sum(s is not None for s in scores)
    for found in rank(scores):
        assert found is None or 1 <= found.best <= found.place <= found.worst <= known


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3]), st.floats(0, 0.2)), max_size=12),
    st.booleans(),
)
def test_ranks_are_those_of_counting_one_by_one(
    values: list[tuple[float, float]], higher: bool
) -> None:
    """A brute force over all pairs, for both directions."""
    scores = [scored(*v) for v in values]
    sign = 1 if higher else -1
    ends = [sorted((sign * (v - half), sign * (v + half))) for v, half in values]
    for found, (low, high), (value, _) in zip(
        rank(scores, higher=higher), ends, values, strict=True
    ):
        place = 1 + sum(sign * other > sign * value for other, _ in values)
        best = 1 + sum(other_low > high for other_low, _ in ends)
        worst = sum(other_high >= low for _, other_high in ends)
        assert found == Rank(place, min(best, place), max(worst, place))


@given(st.permutations([("a", 0.2), ("b", 0.3), ("c", 0.2), ("d", None), ("e", 0.1)]))
def test_order_does_not_depend_on_files(order: list[tuple[str, float | None]]) -> None:
    (board,) = make_boards([record(sae, value) for sae, value in order])
    assert [entry.record.id for entry in board.entries] == ["b", "a", "c", "e", "d"]
    assert [e.rank.place if e.rank else None for e in board.entries] == [1, 2, 2, 4, None]


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": {"fingerprint": "ab" * 32}},
        {"dataset": {"name": "other"}},
        {"encoder": {"weights_sha256": "cd" * 32}},
        {"protocol": {"beta": 1.0}},
        {"protocol": {"matcher": "one_to_one"}},
        {"pairs_dataset": {"name": "syncub", "revision": "1", "fingerprint": "0" * 64}},
    ],
)
def test_what_cannot_be_compared_is_not_ranked_together(change: dict[str, Any]) -> None:
    boards = make_boards([record("a"), record("b", **change)])
    assert sorted(len(board.entries) for board in boards) == [1, 1]
    assert len({board.slug for board in boards}) == 2


def test_a_twins_own_settings_do_not_split_a_board() -> None:
    changes = {"protocol": {"twin_l0": [31.0]}, "dataset": {"revision": "1.0"}}
    assert len(make_boards([record("a"), record("b", **changes)])) == 1


def test_one_sae_twice_on_a_board_is_refused() -> None:
    twice = [record("a", 0.1), Record(record("a", 0.2).document, Path("again.json"))]
    with pytest.raises(UserError, match=r"again\.json: SAE 'a' is already measured .* a\.json"):
        make_boards(twice)


def test_references_show_the_range_of_the_baselines() -> None:
    (board,) = make_boards([record("a", d_sae=128), record("b", d_sae=2048)])
    assert [reference.key for reference in board.references] == [
        "untrained",
        "random",
        "prevalence",
    ]
    twin, _, prevalence = board.references
    assert twin.cells["delta_match_score"] == twin.cells["delta_tapa_score"] == "–"
    assert (twin.note, prevalence.note) == ("lowest – highest", "")
    assert "0.3" in twin.cells["match_score"]
    assert prevalence.cells["match_score"] == "0.280"
    assert prevalence.cells["tapa_score"] == ""


def test_broken_files_are_named(write_results: Callable[..., Path]) -> None:
    folder = write_results([make_record()])
    for content, message in [
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "1 problem against schema"),
        (json.dumps(make_record() | {"schema_version": 2}).encode(), "schema_version: found 2"),
        (json.dumps(make_record(scores={"l0": score(float("nan"))})).encode(), "found NaN"),
    ]:
        (folder / "broken.json").write_bytes(content)
        with pytest.raises(UserError) as caught:
            load_records(folder)
        assert str(folder / "broken.json") in str(caught.value)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_no_records_names_the_folder_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no result records .*`assay demo`"):
        load_records(tmp_path)
