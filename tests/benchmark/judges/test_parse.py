"""Reading replies: one meaning is read, two are refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.judges import parse

ORDERS = [
    # lists
    ("2, 1, 3", "213"),
    ("2,1,3", "213"),
    ("2 1 3", "213"),
    ("213", "213"),
    ("[2, 1, 3]", "213"),
    ('{"order": [3, 1, 2]}', "312"),
    ('["2", "1", "3"]', "213"),
    ("```json\n[2, 1, 3]\n```", "213"),
    ("2 > 1 > 3", "213"),
    ("2>1>3", "213"),
    ("2 -> 1 -> 3", "213"),
    ("2 → 1 → 3", "213"),
    ("(2), (1), (3)", "213"),
    ("#2, #1, #3", "213"),
    ("**2**, **1**, **3**", "213"),
    ("2, 1, 3.", "213"),
    ("2, 1 and 3", "213"),
    ("2, then 1, then 3", "213"),
    ("Example 2, Example 1, Example 3", "213"),
    ("Image 2 > Image 1 > Image 3", "213"),
    ("Picture 2 fits best, followed by picture 1, and then picture 3.", "213"),
    # text around
    ("The order is 2, 1, 3.", "213"),
    ("Order: 2, 1, 3", "213"),
    ("Ranking of the 3 pictures: 2, 1, 3", "213"),
    ("Top 3: 3, 2, 1", "321"),
    ("From best to worst: 2, 1, 3", "213"),
    ("I rank them as 2, 1, 3 because image 2 shows a hat and image 3 does not.", "213"),
    ("2, 1, 3\n\nExample 2 shows a hat, example 1 a cap, example 3 is least related to it.", "213"),
    ("2, 1, 3 (90% sure)", "213"),
    ("I first thought 1, 2, 3.\nFinal answer: 2, 1, 3", "213"),
    ("Examples 1, 2 and 3 all show hats.\nAnswer: 2, 3, 1", "231"),
    ("<think>1, 2, 3 or 3, 2, 1?</think>2, 1, 3", "213"),
    ("1, 2, 3 look alike</think>\n\n2, 1, 3", "213"),
    (
        "<|channel|>analysis<|message|>1, 2, 3<|end|><|channel|>final<|message|>3, 1, 2<|return|>",
        "312",
    ),
    # below each other, numbered, labelled
    ("2\n1\n3", "213"),
    ("Example 2\nExample 1\nExample 3", "213"),
    ("1. Example 2\n2. Example 1\n3. Example 3", "213"),
    ("1. **Image 3** – round glasses\n2. **Image 1** – a monocle\n3. **Image 2** – none", "312"),
    ("1. 2\n2. 1\n3. 3", "213"),
    ("Best: 2, middle: 1, worst: 3", "213"),
    ("Worst: 3, best: 2, middle: 1", "213"),
    ("1st: image 3\n2nd: image 1\n3rd: image 2", "312"),
    ("Rank 1: Example 3\nRank 2: Example 2\nRank 3: Example 1", "321"),
    (
        "1. Example 1: a hat\n2. Example 2: none\n3. Example 3: a cap\n\nOrder: 1, 3, 2",
        "132",
    ),
    # letters
    ("B > A > C", "213"),
    ("B, A, C", "213"),
]

NO_ORDERS = [
    "",
    "   \n",
    "I cannot see any pictures.",
    "1",
    "1, 2",
    "1, 2, 3, 4",
    "2, 2, 1",
    "1, 1, 2, 3",
    "0, 1, 2",
    "[1, 0, 2]",
    "4, 5, 6",
    "3 < 1 < 2",
    "1 = 2 > 3",
    "1.5, 2, 3",
    "-1, 2, 3",
    "2 or 1, then 3",
    "2, 1, 3 or 1, 2, 3",
    "1, 2, 3\n3, 2, 1",
    "Worst to best: 3, 1, 2",
    "From least to most fitting: 3, 1, 2",
    "In ascending order: 3, 1, 2",
    "Worst first: 3, 1, 2",
    "Examples 1, 2 and 3 are equal.",
    "1, 2, 3 (all equally)",
    "All of 1, 2 and 3 show a hat.",
    "The order is not 1, 2, 3.",
    "Example 1: 2, Example 2: 1, Example 3: 3",
    "1 -> 2, 2 -> 1, 3 -> 3",
    "Example 2 does not fit, example 1 fits best, example 3 somewhat.",
    "1. Example 2\n2. Example 2\n3. Example 3",
    "1. Example 2\n3. Example 1\n2. Example 3",
    "Best: 2, middle: 1, worst: 1",
    "1. Example 1: a hat\n2. Example 2: none\n3. Example 3: a cap\nSo 2, 1, 3",
    "B > B > C",
    "A hat, a cap, and nothing",
    "<think>2, 1, 3",
    "2, 1, 3</think>",
    "I think 2, 1, 3. Final answer: 1, 2",
    "11, 2, 3",
    "2024-01-03",
    "1/2, 3",
    "2/1/3",
]


@pytest.mark.parametrize(("reply", "expected"), ORDERS)
def test_orders_with_one_reading(reply, expected):
    assert parse.order(reply, 3) == tuple(int(digit) - 1 for digit in expected)


@pytest.mark.parametrize("reply", NO_ORDERS)
def test_orders_with_none_or_several_are_refused(reply):
    assert parse.order(reply, 3) is None


@given(
    st.permutations(range(1, 6)),
    st.sampled_from([", ", ",", " > ", " ", "; ", " → "]),
    st.sampled_from(["", "Order: ", "The ranking is ", "["]),
    st.sampled_from(["", "Example ", "#", "image "]),
)
def test_every_order_in_every_form(numbers, between, before, noun):
    reply = before + between.join(noun + str(number) for number in numbers)
    assert parse.order(reply, 5) == tuple(number - 1 for number in numbers)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_a_plain_list_is_read_iff_it_names_every_position_once(numbers):
    whole = sorted(numbers) == [1, 2, 3, 4]
    expected = tuple(number - 1 for number in numbers) if whole else None
    assert parse.order(", ".join(map(str, numbers)), 4) == expected


@given(st.text(alphabet="123 ,.>:\n-<thinkabcExampleorNo/[]\"'", max_size=60), st.integers(1, 4))
def test_any_text_gives_a_permutation_or_nothing(text, count):
    found = parse.order(text, count)
    assert found is None or sorted(found) == list(range(count))
    assert parse.yes_or_no(text) in (True, False, None)
    value = parse.number(text, 0, 10)
    assert value is None or 0 <= value <= 10


@pytest.mark.parametrize(
    "piece", ["(", "1, ", "best:(", " ", "\n", "example ", "<think>", "yes. ", "7 of 10 "]
)
def test_long_replies_take_no_time(piece):
    started = time.perf_counter()
    for text in (piece * (100_000 // len(piece)), piece * 30_000 + "2, 1, 3"):
        parse.order(text, 3)
        parse.yes_or_no(text)
        parse.number(text, 0, 10)
        parse.explanation(text)
    assert time.perf_counter() - started < 20  # quadratic work would take minutes


YES = [
    "Yes",
    "yes.",
    "YES",
    "**Yes**",
    "Yes, there is no dog but a hat.",
    "Answer: yes",
    '{"fits": true}',
    "Yes it does",
    "There is a hat.\nYes",
    "<think>no</think> yes",
    "True",
    "There is a hat. Answer: Yes.",
]
NO = [
    "No",
    "no.",
    "No, it shows a dog.",
    "No - a dog",
    "Answer: no",
    '{"answer": "no"}',
    "No it does not",
    "There is a dog.\nNo.",
    "false",
    "The answer is no.",
]
NEITHER = [
    "",
    "Maybe",
    "Yes and no. No.",
    "Yes. No.",
    "yes or no?\nNo. Yes.",
    "There is no hat in the picture",
    "No idea",
    "Answer: yes. Answer: no",
    "<think>yes",
    "Not sure",
    "Yesterday",
    "North",
]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [*((r, True) for r in YES), *((r, False) for r in NO), *((r, None) for r in NEITHER)],
)
def test_yes_or_no(reply, expected):
    assert parse.yes_or_no(reply) is expected


NUMBERS = [
    ("7", 7),
    ("7.5", 7.5),
    ("7/10", 7),
    ("7 / 10", 7),
    ("7 out of 10", 7),
    ("Rating: 7", 7),
    ("**8**", 8),
    ('{"rating": 3}', 3),
    ("I would rate it a 6.", 6),
    ("0", 0),
    ("10", 10),
    ("10/10", 10),
    ("On a scale of 0-10: 4", 4),
    ("a score of 10", 10),
    ("Rating: 7 (3 of its hats are red)", 7),
    ("<think>2</think>9", 9),
    ("Between 0 and 10, I say 5", 5),
    ("7 7", 7),
]
NO_NUMBERS = [
    "",
    "seven",
    "7 or 8",
    "7-8",
    "-3",
    "11",
    "70%",
    "7,5",
    "8/100",
    "7 and 3",
    "1e1",
    "<think>7",
    "10.5",
    "Rating: 7 or 8",
    "NaN",
    "inf",
    "v2",
    "5/7",
]


@pytest.mark.parametrize(("reply", "expected"), [*NUMBERS, *((r, None) for r in NO_NUMBERS)])
def test_numbers(reply, expected):
    assert parse.number(reply, 0, 10) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Round glasses.", "Round glasses."),
        ('"Round glasses."', "Round glasses."),
        ("Explanation: round glasses", "round glasses"),
        ("**Explanation:** 'round glasses'", "round glasses"),
        ("<think>what is it</think>\nround glasses", "round glasses"),
        ("<think>never ends", ""),
        ('"Hats" and "caps"', '"Hats" and "caps"'),
        ("- hats\n- caps", "- hats\n- caps"),
        ("the tags <b> and </b>", "the tags <b> and </b>"),
    ],
)
def test_explanations(reply, expected):
    assert parse.explanation(reply) == expected
