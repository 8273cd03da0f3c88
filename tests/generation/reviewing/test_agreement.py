"""Cohen's kappa against scikit-learn, and where reviewers differ."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from generation.reviewing import agreement_document, agreements, cohen_kappa, disagreements
from generation.work import Decision

WORDS = st.sampled_from(["accept", "reject", "unsure"])


def said(**words: str) -> dict[str, Decision]:
    return {
        edit: Decision(edit, "0" * 64, "1" * 64, word, "", "2026-01-01T00:00:00Z")  # type: ignore[arg-type]
        for edit, word in words.items()
    }


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(rows: list[tuple[str, str]]) -> None:
    one, other = ([row[side] for row in rows] for side in (0, 1))
    found = cohen_kappa(one, other)
    if len({*one, *other}) == 1:
        assert found is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found == pytest.approx(cohen_kappa_score(one, other))
    assert found == cohen_kappa(other, one)


def test_worked_example() -> None:
    # 20 both yes, 15 both no, 5 + 10 differ: p_o = .7, p_e = .5
    one = ["accept"] * 25 + ["reject"] * 25
    other = ["accept"] * 20 + ["reject"] * 5 + ["accept"] * 10 + ["reject"] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)
    assert cohen_kappa([], []) is None


def test_only_pairs_that_both_decided_on_count() -> None:
    reviews = {
        "cy": said(a="unsure"),
        "ann": said(a="accept", b="reject", c="accept"),
        "bob": said(a="accept", b="accept", d="reject"),
    }
    found = {(each.one, each.other): each for each in agreements(reviews)}
    assert list(found) == [("ann", "bob"), ("ann", "cy"), ("bob", "cy")]
    assert found["ann", "bob"].both == 2
    assert found["ann", "bob"].same == 0.5
    assert found["ann", "bob"].kappa == 0
    assert found["ann", "cy"].kappa == 0
    assert {edit: sorted(by) for edit, by in disagreements(reviews).items()} == {
        "a": ["ann", "bob", "cy"],
        "b": ["ann", "bob"],
    }
    document = agreement_document(reviews, said(b="accept", z="accept"), 4)
    assert document["disagreements"] == {"all": 2, "adjudicated": 1, "open": 1}
    assert document["reviewers"][1] == {"reviewer": "bob", "accept": 2, "reject": 1, "unsure": 0}


def test_what_is_not_defined_says_why() -> None:
    same, apart = (
        agreements({"a": said(x="accept", y="accept"), "b": said(x="accept", y="accept")})[0],
        agreements({"a": said(x="accept"), "b": said(y="accept")})[0],
    )
    assert (same.kappa, same.same, same.reason) == (None, 1, "both always said the same word")
    assert (apart.kappa, apart.same, apart.reason) == (None, None, "no pair decided on by both")
