"""Which pairs a page shows, and what it says of them."""

from typing import Any

from result_records import make_record

from leaderboard.pages.examples import pick_examples


def row(concept: str, add: float | None, rem: float | None, f1: float = 0.5) -> dict[str, Any]:
    return {
        "concept": concept,
        "f1": f1,
        "coalition": [3],
        "delta_add": add,
        "delta_rem": rem,
    }


def pair(name: str, added: str | None, removed: str | None) -> dict[str, Any]:
    return {
        "pair_id": name,
        "added": added,
        "removed": removed,
        "delta_add": None if added is None else 1,
        "delta_rem": None if removed is None else 0,
        "switched_on": [3],
        "switched_off": [],
    }


def test_best_and_worst_by_how_they_follow_never_both() -> None:
    document = {
        "per_concept": [row("a", 0.9, -0.9), row("b", 0.1, None), row("c", None, -0.5)],
        "pair_examples": [pair("p1", "a", "c"), pair("p2", "b", None)],
    }
    best, worst = pick_examples(document, None)
    assert [example.concept for example in best] == ["a", "c"]
    assert [example.concept for example in worst] == ["b"]
    assert best[0].follows == "0.900"


def test_pairs_take_turns_whatever_their_outcome() -> None:
    pairs = [pair(f"p{i}", "a", None) for i in range(4)] + [pair("q", None, "a")]
    best, _ = pick_examples({"per_concept": [row("a", 0.5, -0.5)], "pair_examples": pairs}, None)
    assert [shown.pair_id for shown in best[0].pairs] == ["p0", "q", "p1"]


def test_sides_say_what_happened_and_whether_it_should() -> None:
    document = {
        "per_concept": [row("a", 0.9, -0.9), row("c", None, -0.5)],
        "pair_examples": [pair("p1", "a", "c")],
    }
    best, _ = pick_examples(document, None)
    added, removed = best[0].pairs[0].sides
    assert (added.sign, added.outcome, added.good) == ("+", "switches on", True)
    assert (removed.sign, removed.outcome, removed.good) == ("−", "does not change", False)
    assert best[0].pairs[0].switched_on == "3"
    assert best[0].pairs[0].switched_off == "none"


def test_no_pairs_no_examples() -> None:
    record = make_record()
    record["pair_examples"] = []
    assert pick_examples(record, None) == ((), ())
