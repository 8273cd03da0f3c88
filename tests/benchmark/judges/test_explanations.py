"""Which explanations are refused, and what is left of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.judges.explanations import MAX_CHARACTERS, MAX_WORDS, cut, problem

FIFTEEN = "a b c d e f g h i j k l m n o"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("people with round glasses", None),
        ("Round, clear glasses on a face.", None),
        ("red, round, shiny things", None),
        (FIFTEEN, None),
        (FIFTEEN + " p", "too long"),
        ("x" * 201, "too long"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("...", "empty"),
        ("- glasses\n- hats", "list-like"),
        ("1. glasses", "list-like"),
        ("glasses; hats", "list-like"),
        ("hats, glasses, beards, rings", "list-like"),
        ("one line\nand another", "list-like"),
        ("3.5 mm sockets", None),
        ("\nround glasses\n", None),
        ("眼鏡をかけた人", None),
    ],
)
def test_problems(text, expected):
    assert problem(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("people with round glasses", "people with round glasses"),
        (f"{FIFTEEN} p q", FIFTEEN),
        ("- round glasses\n- a beard", "round glasses, a beard"),
        ("1) hats\n\n  2) caps", "hats, caps"),
        ("• hats", "hats"),
        ("- - hats", "hats"),
        ("(a) hats", "hats"),
        ("", ""),
        ("a\x00b \ud800", "a b ?"),
        ("x" * 300, "x" * 200),
    ],
)
def test_cutting(text, expected):
    assert cut(text) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=400))
def test_what_is_left_is_short_plain_and_final(text):
    left = cut(text)
    assert len(left.split()) <= MAX_WORDS
    assert len(left) <= MAX_CHARACTERS
    assert len(left.splitlines()) <= 1
    left.encode()
    assert cut(left) == left
    assert problem(left) in (None, "empty", "list-like")
    if problem(text) is None and text.isprintable() and text == " ".join(text.split()):
        assert left == text
