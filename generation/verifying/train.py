"""Fine-tuning of a multi-label classifier; goes on after the last whole epoch when killed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchmark.errors import UserError
from generation.verifying.checkpoint import Checkpoint, Checkpoints
from generation.verifying.pictures import Load, batches, normalised, parts
from generation.verifying.recipe import Recipe
from generation.verifying.thresholds import mean_average_precision

if TYPE_CHECKING:
    import torch
    from torch import nn

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What to learn from.

    Attributes:
        load: picture by row number, RGB.
        labels: bool (N, A).
        training, validation: row numbers, int64.
    """

    load: Load
    labels: np.ndarray = field(repr=False)
    training: np.ndarray = field(repr=False)
    validation: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of a training.

    Attributes:
        best_epoch: from 1; the network holds the weights it had after it.
        history: validation mAP after each epoch.
        probabilities: float32 (V, A) on the validation pictures, worked out from these weights.
    """

    best_epoch: int
    history: tuple[float, ...]
    probabilities: np.ndarray = field(repr=False)


def train(
    network: nn.Module,
    lesson: Lesson,
    recipe: Recipe,
    checkpoints: Checkpoints,
    device: torch.device,
    progress: Progress | None = None,
) -> Trained:
    """Train a network in place and leave it with the weights of its best epoch.

    AdamW, the rate along a half cosine to 0, binary cross-entropy with positives weighted by
    negatives / positives; half of the pictures, drawn anew each epoch, are mirrored. The best
    epoch is the first of highest validation mAP.

    Raises:
        UserError: too few pictures, no positives to validate on, or a loss that is not finite.
    """
    import torch

    _check(lesson)
    network.to(device)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    state = checkpoints.resume(network, optimiser) or Checkpoint(0, 0, ())
    while state.epoch < recipe.epochs:
        epoch = state.epoch + 1
        title = f"epoch {epoch} of {recipe.epochs}"
        _one_epoch(network, optimiser, lesson, recipe, epoch, device, progress, title)
        reached = _map(predict(network, lesson.load, lesson.validation, recipe, device), lesson)
        better = not state.history or reached > max(state.history)
        state = Checkpoint(epoch, epoch if better else state.best, (*state.history, reached))
        checkpoints.keep(state, network, optimiser)
    checkpoints.restore_best(state, network)
    network.to(device)
    found = predict(network, lesson.load, lesson.validation, recipe, device, progress)
    return Trained(state.best, state.history, found)


def _check(lesson: Lesson) -> None:
    if len(lesson.training) < 2 or len(lesson.validation) < 2:
        raise UserError(
            f"{len(lesson.training)} pictures to train on and {len(lesson.validation)} to validate "
            "on; expected at least 2 of each"
        )
    if not lesson.labels[lesson.validation].any():
        raise UserError("no validation picture shows any concept; expected some that do")


def _map(probabilities: np.ndarray, lesson: Lesson) -> float:
    reached = mean_average_precision(probabilities, lesson.labels[lesson.validation])
    assert reached is not None
    return reached


def _one_epoch(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    lesson: Lesson,
    recipe: Recipe,
    epoch: int,
    device: torch.device,
    progress: Progress | None,
    title: str,
) -> None:
    import torch

    # what an epoch draws depends on its number, so that a resumed run draws the same
    rng = np.random.default_rng((recipe.seed, epoch))
    rows = parts(lesson.training[rng.permutation(len(lesson.training))], recipe.batch_size)
    weights = torch.from_numpy(positive_weights(lesson, recipe)).to(device)
    loss_of = torch.nn.BCEWithLogitsLoss(pos_weight=weights)
    total = recipe.epochs * len(rows)
    network.train()
    for number, pixels in enumerate(batches(lesson.load, rows, recipe.size)):
        mirrored = rng.random(len(pixels)) < 0.5
        pixels[mirrored] = pixels[mirrored, :, ::-1]
        step = (epoch - 1) * len(rows) + number
        for group in optimiser.param_groups:
            group["lr"] = recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * step / total))
        targets = torch.from_numpy(lesson.labels[rows[number]].astype(np.float32)).to(device)
        loss = loss_of(network(normalised(pixels, device)), targets)
        if not bool(torch.isfinite(loss)):
            raise UserError(f"the loss is {loss.item()} in {title}; lower the learning rate")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if progress:
            progress(title, number + 1, len(rows))


def positive_weights(lesson: Lesson, recipe: Recipe) -> np.ndarray:
    """float32 (A,): negatives / positives in training, at most ``recipe.most_weight``."""
    positives = lesson.labels[lesson.training].sum(axis=0)
    ratio = (len(lesson.training) - positives) / np.maximum(positives, 1)
    # without positives, or without negatives, there is nothing to balance
    ratio = np.where((positives > 0) & (ratio > 0), ratio, 1.0)
    weights: np.ndarray = np.minimum(ratio, recipe.most_weight).astype(np.float32)
    return weights


def predict(
    network: nn.Module,
    load: Load,
    rows: np.ndarray,
    recipe: Recipe,
    device: torch.device,
    progress: Progress | None = None,
) -> np.ndarray:
    """float32 (len(rows), A) in [0, 1]: what the network says of pictures.

    Every batch has ``recipe.batch_size`` pictures, the last one padded, so that what is said of a
    picture does not depend on how many there are.
    """
    import torch

    size = recipe.batch_size
    chunks = [rows[start : start + size] for start in range(0, len(rows), size)]
    found = []
    network.eval()
    with torch.inference_mode():
        for number, pixels in enumerate(batches(load, chunks, recipe.size)):
            padded = np.zeros((size, *pixels.shape[1:]), np.uint8)
            padded[: len(pixels)] = pixels
            said = torch.sigmoid(network(normalised(padded, device)))[: len(pixels)]
            found.append(said.cpu().numpy())
            if progress:
                progress("validating", number + 1, len(chunks))
    return np.concatenate(found)
