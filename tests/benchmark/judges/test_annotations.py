"""The judge that knows the annotations, and the one that knows nothing."""

import numpy as np
import pytest

from benchmark.errors import UserError
from benchmark.judges import JUDGES, Example, JudgeContext, JudgeOptions, load_judge
from benchmark.judges.annotations import concept_words
from benchmark.judges.explanations import cut, problem

IDS = tuple("abcdefgh")
PRESENT = np.array([
    # hat, glasses, everywhere
    [1, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1],
], bool)  # fmt: skip
CONTEXT = JudgeContext(IDS, "image", ("hat: red", "glasses", "everywhere"), PRESENT)


def judge(seed=0, context=CONTEXT, name="annotations"):
    return load_judge(name, JudgeOptions(seed=seed), context)


def shown(names):
    return [Example(name) for name in names]


def test_explains_by_the_share_beyond_prevalence():
    # ab: hat 2/2 − 3/8; abd: hat 2/3 − 3/8 above glasses 1/3 − 4/8; gh: 0 − 0 for all present
    assert judge().explain(shown("ab")) == "hat red"
    assert judge().explain(shown("abd")) == "hat red"
    assert judge().explain(shown("de")) == "glasses"
    assert judge().explain(shown("gh")) == "everywhere"


def test_equal_shares_go_to_the_lower_index():
    present = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]], bool)
    context = JudgeContext(IDS[:3], "image", ("x", "y", "z"), present)
    assert judge(context=context).explain(shown("ab")) == "y"


def test_detects_rates_and_ranks_by_presence():
    one = judge()
    assert one.detect("hat red", Example("a")) is True
    assert one.detect("hat red", Example("d")) is False
    assert one.rate("hat red", Example("a")) == 10
    assert one.rate("hat red", Example("d")) == 0
    assert one.rank("glasses", shown("adg"))[0] == 1
    assert one.rank("glasses", shown("dga"))[0] == 0
    assert set(one.rank("glasses", shown("ede"))[:2]) <= {0, 1, 2}
    assert one.detect("words of another", Example("a")) is None
    assert one.rank("words of another", shown("adg")) is None


def test_lots_are_fair_and_do_not_follow_the_order_shown():
    orders = []
    for seed in range(600):
        names = np.random.default_rng(seed).permutation(list("abg"))
        order = judge(seed).rank("everywhere", shown(names))
        again = judge(seed).rank("everywhere", shown(names[::-1]))
        assert [names[i] for i in order] == [names[::-1][i] for i in again]
        orders.append(tuple(order))
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert all(60 < count < 140 for count in counts)


def test_same_seed_same_answers():
    assert judge(3).rank("everywhere", shown("abg")) == judge(3).rank("everywhere", shown("abg"))
    assert judge(3).identity()["settings"] == {"seed": 3, "concepts": 3}
    assert judge().name == "annotations"


def test_without_annotations_it_is_one_line():
    for context in (JudgeContext(IDS), JudgeContext(IDS, "image", ("a",), np.zeros((8, 1), bool))):
        with pytest.raises(UserError, match="no concept is annotated") as caught:
            judge(context=context)
        assert "\n" not in str(caught.value)


def test_names_become_plain_distinct_explanations():
    names = ["glasses: clear", "glasses_clear", "", "- a; b, c, d, e", "1) x", "w " * 40, "w " * 40]
    names += ["ü" * 500, "has_bill_shape::all-purpose"]
    words = concept_words(names)
    assert words[0] == "glasses clear"
    assert words[1] == "glasses clear concept 1"
    assert words[-1] == "has bill shape all purpose"
    assert len(set(words)) == len(names)
    for text in words:
        assert problem(text) is None
        assert cut(text) == text


def test_guesses_depend_on_the_question_alone():
    one = judge(1, name="random")
    again = judge(1, name="random")
    orders = {
        one.rank("x", shown(names)) == again.rank("x", shown(names)) for names in ("abc", "cde")
    }
    assert orders == {True}
    ratings = {one.rate("x", Example(f"e{number}")) for number in range(200)}
    assert ratings == set(range(11))
    fits = [one.detect("x", Example(f"e{number}")) for number in range(400)]
    assert 160 < sum(fits) < 240


def test_an_unknown_judge_lists_the_known_ones():
    assert JUDGES.names() == ["annotations", "openai", "random", "transformers"]
    with pytest.raises(UserError, match="unknown judge 'annotation'; known: annotations, openai"):
        judge(name="annotation")
