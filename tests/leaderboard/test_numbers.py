"""How numbers are rounded, aligned and called missing."""

import pytest

from leaderboard.numbers import fixed, number, pad, plain, rounded, spread, visible
from leaderboard.reading.records import Score


def score(value: float | None, low: float | None = None, high: float | None = None) -> Score:
    reasons = {"no pairs": 3} if value is None else {}
    ci95 = None if low is None or high is None else (low, high)
    return Score(value, ci95, 800, reasons)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.50349, 3, "0.503"),
        (0.0004, 3, "0.0004"),
        (-0.00013, 3, "−0.0001"),
        (0.0, 3, "0.000"),
        (1e-9, 3, "0.000"),
        (35.25, 1, "35.2"),
        (0.04, 1, "0.04"),
    ],
)
def test_decimals_are_those_of_the_kind(value: float, decimals: int, text: str) -> None:
    """More of them only where the number would show as 0."""
    assert rounded(value, decimals) == plain(value, decimals).text == text


@pytest.mark.parametrize("half", [0.0001, 0.006, 0.02, 0.3])
def test_an_interval_takes_no_digits_from_its_value(half: float) -> None:
    assert number(score(0.08149, 0.08149 - half, 0.08149 + half)).text == "0.081"


def test_value_and_interval_are_rounded_alike() -> None:
    shown = number(score(0.50349, 0.4871, 0.5203))
    assert (shown.text, shown.interval) == ("0.503", "[0.487, 0.520]")
    assert shown.sort_key == "0.50349"
    assert shown.note == "0.503490, n = 800"
    assert number(score(0.012, 0.0004, 0.02)).interval == "[0.0004, 0.020]"


def test_without_interval_the_default_holds() -> None:
    assert number(score(0.5), 3).text == "0.500"
    assert number(score(0.5), 3).interval is None


def test_negative_numbers_have_a_minus_sign_and_zero_has_none() -> None:
    assert fixed(-0.126, 2) == "−0.13"
    assert fixed(-0.001, 2) == "0.00"
    assert number(score(-0.5, -0.52, -0.48)).interval == "[−0.520, −0.480]"


def test_missing_says_why() -> None:
    assert number(None).text == "n/a"
    assert number(None).note == "not measured"
    assert number(score(None)).text == "n/a"
    assert number(score(None)).note == "not applicable: no pairs (3)"
    assert number(score(None)).sort_key is None
    assert plain(None).text == "n/a"


def test_pad_keeps_decimal_points_in_line() -> None:
    assert pad(number(score(0.5), 2), 3) == " pad1"
    assert pad(number(score(35.0), 0), 1) == " pad1 point"
    assert pad(number(score(0.5, 0.497, 0.503)), 3) == ""
    assert pad(number(None), 3) == ""


def test_spread_is_rounded_as_its_scores_are() -> None:
    assert spread([score(0.4213, 0.41, 0.43), score(0.3811, 0.35, 0.41)]) == "0.381 – 0.421"
    assert spread([score(0.4, 0.38, 0.42), score(0.4, 0.38, 0.42)]) == "0.400"
    assert spread([score(None)]) == "n/a"


def test_direction_overrides_and_controls_become_visible() -> None:
    assert visible("a\u202eb\x00c\u2066d") == "a\ufffdb\ufffdc\ufffdd"
    assert visible("a\uffffb\ufffec\ufdd0d\U0010fffe") == "a\ufffdb\ufffdc\ufffdd\ufffd"
    assert visible("héllo 日本 👩‍🔬") == "héllo 日本 👩‍🔬"
