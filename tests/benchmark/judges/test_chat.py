"""Asking once more, giving up, and counting both."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_chat import FakeChat, saying

from benchmark.judges.base import Example
from benchmark.judges.chat import ChatJudge, Reply

EXAMPLES = [Example(f"id-{i}", text=f"a «token{i}» here") for i in range(3)]
LONG = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen six"
)


def last_text(messages):
    return messages[-1]["content"][0]["text"]


def test_a_usable_explanation_is_asked_for_once():
    chat = saying("Explanation: round hats.")
    judge = ChatJudge(chat)
    assert judge.explain(EXAMPLES) == "round hats."
    assert len(chat.asked) == 1
    assert judge.counts() == {}


@pytest.mark.parametrize(
    ("first", "kind", "said"),
    [
        (LONG, "explanation_too_long", "too long"),
        ("- hats\n- caps", "explanation_list_like", "list-like"),
        ("hats; caps", "explanation_list_like", "list-like"),
        ("", "explanation_empty", "empty"),
        ("<think>hats", "explanation_empty", "empty"),
    ],
)
def test_an_explanation_that_breaks_the_rules_is_asked_for_once_more(first, kind, said):
    chat = saying(first, "Round hats.")
    judge = ChatJudge(chat)
    assert judge.explain(EXAMPLES) == "Round hats."
    assert judge.counts() == {kind: 1}
    assert len(chat.asked) == 2
    assert said in last_text(chat.asked[1])
    assert chat.asked[1][:1] == chat.asked[0]


def test_a_second_broken_explanation_is_given_back_to_be_cut():
    judge = ChatJudge(saying("- hats\n- caps", LONG))
    assert judge.explain(EXAMPLES) == LONG
    assert judge.counts() == {"explanation_list_like": 1, "explanation_too_long": 1}


ASKING = {
    "rank": (lambda judge: judge.rank("Hats.", EXAMPLES), "2 > 1 > 3", (1, 0, 2)),
    "detect": (lambda judge: judge.detect("Hats.", EXAMPLES[0]), "No.", False),
    "rate": (lambda judge: judge.rate("Hats.", EXAMPLES[0]), "7/10", 7.0),
}


@pytest.mark.parametrize("task", ASKING)
def test_an_unreadable_reply_is_asked_for_once_more_then_none(task):
    ask, good, expected = ASKING[task]
    judge = ChatJudge(saying(good))
    assert ask(judge) == expected
    assert judge.counts() == {}
    judge = ChatJudge(saying("well, hm", good))
    assert ask(judge) == expected
    assert judge.counts() == {"unparseable_first": 1}
    chat = saying("<think>1</think>well, hm", "hm")
    judge = ChatJudge(chat)
    assert ask(judge) is None
    assert judge.counts() == {"unparseable": 1, "unparseable_first": 1}
    assert chat.asked[1][1]["content"][0]["text"] == "well, hm"


@pytest.mark.parametrize("task", ASKING)
def test_what_is_refused_is_not_asked_again(task):
    chat = saying(Reply("", {"refused": 1, "timeout": 2}))
    judge = ChatJudge(chat)
    assert ASKING[task][0](judge) is None
    assert judge.counts() == {"refused": 1, "timeout": 2}
    chat = saying(Reply("", {"refused": 1}))
    judge = ChatJudge(chat)
    assert judge.explain(EXAMPLES) == ""
    assert judge.counts() == {"explanation_empty": 1, "refused": 1}


def test_identity_and_name():
    judge = ChatJudge(saying(model="a/b-7"))
    assert judge.name == "openai/a/b-7"
    identity = judge.identity()
    assert set(identity) == {"kind", "model", "settings", "prompts"}
    assert identity["prompts"]["version"] == 1
    assert len(identity["prompts"]["sha256"]) == 64


def test_counts_do_not_depend_on_the_number_of_threads():
    def answer(messages):
        odd = messages[0]["content"][1]["text"].count("1")
        return Reply("hm" if odd or len(messages) > 1 else "2, 1, 3", {"timeout": odd})

    def counts(workers):
        judge = ChatJudge(FakeChat(answer))
        examples = [[Example(str(i), text=f"t{i}"), *EXAMPLES[1:]] for i in range(200)]
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(lambda three: judge.rank("Hats.", three), examples))
        return found, judge.counts()

    assert counts(1) == counts(16)
    assert counts(16)[1]["unparseable"] > 10
