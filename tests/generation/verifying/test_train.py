"""Training: the best epoch really comes back, and a killed run ends as an unbroken one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from benchmark.errors import UserError
from generation.verifying import train as module
from generation.verifying.checkpoint import Checkpoints
from generation.verifying.recipe import Recipe
from generation.verifying.train import Lesson, positive_weights, predict, train

RECIPE = Recipe(size=32, epochs=3, batch_size=8, learning_rate=0.01, seed=5)
CPU = torch.device("cpu")


def tiny(outputs: int = 2, seed: int = 0) -> nn.Module:
    """A small network with what a ResNet has: convolution, batch norm, pooling, one layer."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=4),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, outputs),
        )


def make_lesson(count: int = 45) -> Lesson:
    """Red or not, bright or not."""
    rng = np.random.default_rng(2)
    labels = rng.random((count, 2)) < 0.4
    labels[:2] = [[True, False], [False, True]]

    def load(row: int) -> Image.Image:
        red, bright = labels[row]
        level = 200 if bright else 60
        colour = (level, 20 if red else level, 20 if red else level)
        noise = np.random.default_rng(row).integers(-20, 20, (40, 30, 3))
        return Image.fromarray((np.array(colour) + noise).clip(0, 255).astype(np.uint8))

    rows = np.arange(count)
    return Lesson(load, labels, rows[:33], rows[33:])


def values(network: nn.Module) -> list[torch.Tensor]:
    return [value.clone() for value in network.state_dict().values()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_best_epoch_is_restored_and_judged_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = iter([0.4, 0.9, 0.9, 0.1])
    monkeypatch.setattr(module, "mean_average_precision", lambda *_: next(reached))
    seen: list[list[torch.Tensor]] = []
    keep = Checkpoints.keep

    def spying(self: Checkpoints, state: Any, network: nn.Module, optimiser: Any) -> None:
        seen.append(values(network))
        keep(self, state, network, optimiser)

    monkeypatch.setattr(Checkpoints, "keep", spying)
    network, lesson = tiny(), make_lesson()
    recipe = Recipe(**{**RECIPE.as_dict(), "epochs": 4})
    found = train(network, lesson, recipe, Checkpoints(tmp_path / "t", "k"), CPU)
    # of equal ones the first
    assert found.best_epoch == 2
    assert found.history == (0.4, 0.9, 0.9, 0.1)
    assert same(values(network), seen[1])
    for other in (seen[0], seen[2], seen[3]):
        assert not same(values(network), other)
    # batch norm's running values too, and what thresholds are tuned on is said by these weights
    again = predict(network, lesson.load, lesson.validation, recipe, CPU)
    assert np.array_equal(found.probabilities, again)
    assert [path.name for path in sorted((tmp_path / "t").iterdir())] == [
        "best-2.safetensors",
        "state.safetensors",
    ]


def test_it_learns(tmp_path: Path) -> None:
    lesson = make_lesson()
    recipe = Recipe(**{**RECIPE.as_dict(), "epochs": 8, "learning_rate": 0.03})
    found = train(tiny(), lesson, recipe, Checkpoints(tmp_path, "k"), CPU)
    assert max(found.history) > 0.95


@pytest.mark.parametrize("stop", [(1, 3), (2, 1), (3, 5)])
def test_a_killed_training_ends_as_an_unbroken_one(tmp_path: Path, stop: tuple[int, int]) -> None:
    whole, lesson = tiny(), make_lesson()
    expected = train(whole, lesson, RECIPE, Checkpoints(tmp_path / "whole", "k"), CPU)

    def killed(title: str, done: int, _total: int) -> None:
        if (title, done) == (f"epoch {stop[0]} of 3", stop[1]):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tiny(), lesson, RECIPE, Checkpoints(tmp_path / "t", "k"), CPU, killed)
    titles = []
    resumed = tiny(seed=9)  # whatever it begins with, the kept state goes before
    if stop[0] == 1:
        resumed = tiny()
    found = train(
        resumed,
        lesson,
        RECIPE,
        Checkpoints(tmp_path / "t", "k"),
        CPU,
        lambda title, *_: titles.append(title),
    )
    assert titles[0] == f"epoch {stop[0]} of 3"
    assert same(values(resumed), values(whole))
    assert found.history == expected.history
    assert np.array_equal(found.probabilities, expected.probabilities)


def test_a_state_of_something_else_or_damaged_is_passed_over(tmp_path: Path) -> None:
    lesson = make_lesson()
    one = Recipe(**{**RECIPE.as_dict(), "epochs": 1})
    train(tiny(), lesson, one, Checkpoints(tmp_path, "k"), CPU)
    network = tiny()
    optimiser = torch.optim.AdamW(network.parameters())
    assert Checkpoints(tmp_path, "other").resume(network, optimiser) is None
    assert Checkpoints(tmp_path, "k").resume(network, optimiser) is not None
    state = tmp_path / "state.safetensors"
    state.write_bytes(state.read_bytes()[:100])
    assert Checkpoints(tmp_path, "k").resume(network, optimiser) is None


def test_what_is_said_of_a_picture_does_not_depend_on_the_others() -> None:
    network, lesson = tiny(), make_lesson()
    rows = np.arange(20)
    together = predict(network, lesson.load, rows, RECIPE, CPU)
    for row in (0, 7, 19):
        alone = predict(network, lesson.load, rows[row : row + 1], RECIPE, CPU)
        assert np.array_equal(alone[0], together[row])


def test_positives_weigh_as_much_as_negatives() -> None:
    labels = np.zeros((12, 3), bool)
    labels[:2, 0] = True
    labels[:, 1] = True
    lesson = Lesson(make_lesson().load, labels, np.arange(10), np.arange(10, 12))
    # 8 negatives to 2 positives; only positives; only negatives
    assert positive_weights(lesson, RECIPE).tolist() == [4, 1, 1]
    capped = Recipe(most_weight=3)
    assert positive_weights(lesson, capped).tolist() == [3, 1, 1]


def test_too_little_to_learn_from_is_said() -> None:
    lesson = make_lesson()
    rows = np.arange(1)
    few = Lesson(lesson.load, lesson.labels, rows, np.arange(5))
    with pytest.raises(UserError, match="1 pictures to train on"):
        train(tiny(), few, RECIPE, Checkpoints(Path("unused"), "k"), CPU)
    blank = Lesson(lesson.load, np.zeros((45, 2), bool), lesson.training, lesson.validation)
    with pytest.raises(UserError, match="no validation picture shows any concept"):
        train(tiny(), blank, RECIPE, Checkpoints(Path("unused"), "k"), CPU)
