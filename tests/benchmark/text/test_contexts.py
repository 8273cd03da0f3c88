"""Tokens shown in their contexts, documents cut into contexts and put into splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_models import BOS, FIRST_WORD, PAD, UNK, ids_of, write_model

from benchmark.datasets import Activations, Dataset
from benchmark.errors import UserError
from benchmark.text.contexts import WINDOW, ContextExamples, Contexts, TokenIds
from benchmark.text.corpus import Document, read_corpus
from benchmark.text.model import find_model, load_tokenizer
from benchmark.text.tokens import Context, contexts_of, ordered, special_ids, split_documents


def context(text, spans, document="d"):
    spans = np.array(spans, np.int32).reshape(-1, 2)
    places = np.arange(1, len(spans) + 1, dtype=np.int32)
    return Context(document, text, np.zeros(len(spans) + 2, np.int32), places, spans)


def marked(text, spans, token):
    return Contexts([context(text, spans)]).marked(token)


@pytest.mark.parametrize(
    ("text", "spans", "token", "shown"),
    [
        ("a cat sat", [(0, 1), (2, 5), (6, 9)], 1, "a «cat» sat"),
        ("a cat sat", [(0, 1), (1, 5), (5, 9)], 2, "a cat «sat»"),
        ("cat", [(0, 3)], 0, "«cat»"),
        ("a\n\nb", [(0, 1), (1, 3), (3, 4)], 1, "a«⏎⏎»b"),
        ("a\n\n \n  b", [(0, 1), (7, 8)], 0, "«a»\n b"),
        ("say «so» now", [(0, 3), (4, 8), (9, 12)], 1, "say «‹so›» now"),
        ("say «so» now", [(0, 3), (4, 8), (9, 12)], 2, "say ‹so› «now»"),
        ("if:\n\tgo", [(0, 2), (2, 3), (5, 7)], 2, "if:\n\t«go»"),
        ("naïve 🐍!", [(0, 5), (6, 7), (6, 7), (7, 8)], 2, "naïve «🐍»!"),
    ],
)
def test_a_token_is_marked_where_it_stands(text, spans, token, shown):
    assert marked(text, spans, token) == shown


def test_a_long_context_is_trimmed_around_the_token():
    words = [f"t{number}" for number in range(200)]
    text, spans = " ".join(words), []
    for word in words:
        start = spans[-1][1] + 1 if spans else 0
        spans.append((start, start + len(word)))
    assert marked(text, spans, 100) == (
        "…"
        + " ".join(words[100 - WINDOW : 100])
        + " «t100» "
        + " ".join(words[101 : 101 + WINDOW])
        + "…"
    )
    assert marked(text, spans, 0).startswith("«t0» t1")
    assert marked(text, spans, 199).endswith("t198 «t199»")
    assert not marked(text, spans, WINDOW).startswith("…")


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8), st.data())
def test_without_its_marks_the_context_is_the_text(parts, data):
    text = "".join(parts)
    ends = np.cumsum([len(part) for part in parts])
    spans = [(int(end) - len(part), int(end)) for part, end in zip(parts, ends, strict=True)]
    token = data.draw(st.integers(0, len(parts) - 1))
    shown = marked(text, spans, token)
    assert shown.count("«") == shown.count("»") == 1
    inner = shown[shown.index("«") + 1 : shown.index("»")]
    assert inner

    def bare(string):
        table = str.maketrans({"«": "‹", "»": "›", "⏎": "", "⇥": ""})
        return "".join(string.translate(table).split())

    assert bare(shown.replace("«", "").replace("»", "")) == bare(text)
    assert bare(inner) == bare(parts[token])


def test_rows_follow_contexts_and_have_names_of_their_own():
    contexts = Contexts(
        [
            context("a b", [(0, 1), (2, 3)], "x/1"),
            context("c", [(0, 1)], "x"),
            context("a b", [(0, 1), (2, 3)], "x/1"),
        ]
    )
    ids = TokenIds(contexts)
    assert list(ids) == ["x/1/0/1", "x/1/0/2", "x/1/1", "x/1/2/1", "x/1/2/2"]
    assert len(set(ids)) == len(ids) == 5
    assert ids[-1] == "x/1/2/2"
    assert contexts.groups.tolist() == [0, 0, 1, 2, 2]
    with pytest.raises(IndexError):
        ids[5]


def dataset_of(contexts):
    rows = int(contexts.first[-1])
    values = np.zeros((rows, 2), np.float32)
    return Dataset(
        name="t",
        revision="1",
        concepts=(),
        groups=(),
        ids=TokenIds(contexts),
        annotations=np.zeros((rows, 0), bool),
        images=(),
        splits={},
        activations=Activations(values, values[:0], values[:0]),
        contexts=contexts,
    )


def test_examples_are_the_rows_asked_for():
    contexts = Contexts([context("a b", [(0, 1), (2, 3)]), context("c d", [(0, 1), (2, 3)])])
    examples = ContextExamples(dataset_of(contexts), np.array([3, 1]))
    assert list(examples.ids) == ["d/1/2", "d/0/2"]
    assert examples.groups.tolist() == [1, 0]
    found = examples.example(0)
    assert (found.id, found.text, found.picture) == ("d/1/2", "c «d»", None)
    no_text = dataset_of(contexts)
    object.__setattr__(no_text, "contexts", None)
    with pytest.raises(UserError, match="no token contexts"):
        ContextExamples(no_text, np.array([0]))


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return load_tokenizer(find_model(str(write_model(tmp_path_factory.mktemp("model")))))


def test_only_tokens_of_the_text_count(tokenizer):
    assert special_ids(tokenizer) == {PAD, BOS}
    text = "w1 w2 nonsense w3 <pad> w4 <s> w5"
    found = contexts_of([Document("d", text)], tokenizer, length=5, tokens=None)
    assert [one.input_ids[0] for one in found] == [BOS] * len(found)
    assert all(len(one.input_ids) <= 5 for one in found)
    kept = [int(i) for one in found for i in one.input_ids[one.places]]
    assert kept == [FIRST_WORD + 1, FIRST_WORD + 2, UNK, *(FIRST_WORD + n for n in (3, 4, 5))]
    shown = [one.text[start:stop] for one in found for start, stop in one.spans]
    assert shown == ["w1", "w2", "nonsense", "w3", "w4", "w5"]


@pytest.mark.parametrize("budget", [1, 3, 4, 5, 9, 10, 11, None])
def test_the_budget_of_tokens_is_met_exactly(tokenizer, budget):
    documents = [Document("a", "w1 w2 w3 w4 w5 w6"), Document("b", "w7 w8 w9 w10")]
    found = contexts_of(documents, tokenizer, length=5, tokens=budget)
    kept = [int(i) for one in found for i in one.input_ids[one.places]]
    expected = ids_of("w1 w2 w3 w4 w5 w6 w7 w8 w9 w10")
    assert kept == expected[:budget]


def test_a_context_needs_room(tokenizer):
    with pytest.raises(UserError, match="a context of 1 has no room"):
        contexts_of([Document("a", "w1")], tokenizer, length=1, tokens=None)


@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=30),
    st.floats(0.01, 0.99),
)
def test_splits_hold_whole_documents_and_near_the_share(sizes, share):
    contexts = [
        context("a" * size, [(i, i + 1) for i in range(size)], str(number))
        for number, size in enumerate(sizes)
    ]
    splits = split_documents(contexts, share)
    assert set(splits.values()) == {"match", "score"}
    matched = sum(size for number, size in enumerate(sizes) if splits[str(number)] == "match")
    assert abs(matched - share * sum(sizes)) <= max(sizes)
    assert split_documents(contexts[::-1], share) == splits


def test_one_document_cannot_be_split():
    with pytest.raises(UserError, match="from 1 document; expected at least 2 documents"):
        split_documents([context("a", [(0, 1)])], 0.6)
    with pytest.raises(UserError, match="gives no tokens; expected at least 2 documents"):
        split_documents([], 0.6)


def test_the_order_of_documents_depends_on_names_and_seed_alone():
    documents = list(read_corpus("pydoc").documents)
    assert ordered(documents, 0) == ordered(documents[::-1], 0)
    assert ordered(documents, 0) != ordered(documents, 1)
    assert sorted(ordered(documents, 1), key=lambda one: one.id) == documents
