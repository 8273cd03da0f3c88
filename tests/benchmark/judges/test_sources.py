"""What a judge is shown of a dataset's rows."""

import dataset_cases
import numpy as np
import pytest

from benchmark.datasets import load_dataset
from benchmark.datasets.base import Activations, Dataset
from benchmark.datasets.planted import NoPictures, Recipe, plant
from benchmark.errors import UserError
from benchmark.judges.sources import kind_of, source_for
from benchmark.text.contexts import Contexts
from benchmark.text.tokens import Context


def test_pictures_with_the_same_bytes_are_one_input(tmp_path):
    rows = dataset_cases.content()
    rows["score"][3]["image"] = rows["score"][1]["image"]
    data = load_dataset(str(dataset_cases.write(tmp_path / "tiny", rows)))
    chosen = data.split("score")
    source = source_for(data, chosen)
    assert kind_of(data) == "image"
    assert list(source.ids) == [f"score-{number}" for number in range(5)]
    assert source.groups.tolist() == [0, 1, 2, 1, 3]
    for number in range(5):
        example = source.example(number)
        assert example.id == f"score-{number}"
        assert example.picture() == rows["score"][number]["image"]["bytes"]
        assert example.text is None


def context(document, text, spans):
    return Context(document, text, np.arange(len(spans)), np.arange(len(spans)), np.array(spans))


def text_dataset():
    contexts = Contexts(
        [
            context("a", "red hats", [[0, 3], [3, 8]]),
            context("b", "a dog ran", [[0, 1], [1, 5], [5, 9]]),
        ]
    )
    numbers = np.zeros((5, 2), np.float32)
    return Dataset(
        "words", "1", (), (), [f"t{row}" for row in range(5)], np.zeros((5, 0), bool),
        NoPictures(numbers), {"match": np.arange(2), "score": np.array([4, 2, 3, 1])},
        activations=Activations(numbers, numbers[:0], numbers[:0]), contexts=contexts,
    )  # fmt: skip


def test_tokens_are_shown_in_their_context_and_a_context_is_one_input():
    data = text_dataset()
    assert kind_of(data) == "text"
    source = source_for(data, data.split("score"))
    assert list(source.ids) == ["t4", "t2", "t3", "t1"]
    assert source.groups.tolist() == [1, 1, 1, 0]
    shown = [source.example(row).text for row in range(4)]
    assert shown == ["a dog «ran»", "«a» dog ran", "a «dog» ran", "red «hats»"]


def test_activations_alone_show_nothing():
    data = plant(Recipe(match=10, score=10, pairs=0))
    with pytest.raises(UserError, match="holds activations without pictures or texts"):
        source_for(data, data.split("score"))
