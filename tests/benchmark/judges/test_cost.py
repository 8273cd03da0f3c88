"""The estimate against counting what a run really asks."""

import json

import pytest
from fake_chat import FakeChat

from benchmark.judges.base import Example
from benchmark.judges.chat import ChatJudge
from benchmark.judges.cost import estimate, picture_tokens
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.transcript import plain_messages


@pytest.mark.parametrize(
    ("size", "expected"),
    # worked by hand: 4096 x 8192 → 1024 x 2048 → 768 x 1536 → 2 x 3 tiles
    [((1, 1), 255), ((512, 512), 255), ((513, 512), 425), ((1024, 1024), 765), ((2048, 4096), 1105),
     ((4096, 8192), 1105), ((768, 2048), 1445)],
)  # fmt: skip
def test_tiles_of_a_picture(size, expected):
    assert picture_tokens(*size) == expected
    assert picture_tokens(*size[::-1]) == expected


ANSWERS = {"in common": "Hats.", "Yes or No": "Yes", "one number": "5", "numbers only": "2, 1, 3"}


def answer(messages):
    asked = json.dumps(plain_messages(messages[-1:]))
    return next(answer for mark, answer in ANSWERS.items() if mark in asked)


@pytest.mark.parametrize("also", [(), ("detection",), ("detection", "amplitude")])
def test_calls_and_prompt_tokens_bound_what_is_asked(also):
    protocol = JudgeProtocol(also=also)
    chat = FakeChat(answer)
    judge = ChatJudge(chat)
    texts = [Example(str(i), text=f"{i} " + "word " * 75) for i in range(40)]
    for _ in range(2):
        judge.explain(texts[:10])
        for trial in range(10):
            judge.rank("Hats. " * 30, texts[10 + trial : 13 + trial])
        for example in texts[10:]:
            if "detection" in also:
                judge.detect("Hats.", example)
            if "amplitude" in also:
                judge.rate("Hats.", example)
    assert judge.counts() == {}
    cost = estimate(2, protocol, "text", max_tokens=50)
    assert cost.calls == len(chat.asked)
    assert cost.most_calls == 2 * cost.calls
    assert cost.completion_tokens == 50 * cost.calls
    characters = sum(
        len(part["text"])
        for asked in chat.asked
        for message in asked
        for part in message["content"]
    )
    assert characters / 4 <= cost.prompt_tokens <= characters / 4 * 1.6


def test_pictures_count_by_their_size():
    small, large = (
        estimate(3, JudgeProtocol(), "image", picture_size=size)
        for size in ((100, 100), (768, 768))
    )
    # 10 pictures to explain and 3 in each of 10 trials, each 3 tiles more
    assert large.prompt_tokens - small.prompt_tokens == 3 * 40 * 3 * 170


def test_an_estimate_is_one_line():
    text = str(estimate(200, JudgeProtocol(), "image"))
    assert text.startswith("about 2,200 calls (at most 4,400")
    assert "\n" not in text
