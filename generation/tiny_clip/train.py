"""The training loop of ``assay-tiny-clip``: a fixed number of seeded steps.

Two sigmoid losses over all prompts of both forms: one on the class token, one on every patch with
the true region masks. Without the second, patches of the masked last block say nothing about where
an attribute is. Each prompt's positives and negatives weigh the same; without that, training stays
for long on the answer "absent".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmark.generative.attributes import WITH, without
from benchmark.generative.dense.base import last_block_mask
from benchmark.generative.tiny_clip.network import Shape, TinyClip
from benchmark.generative.tiny_clip.words import Words, words_of
from generation.tiny_clip.data import CELL, CELLS, SIDE, Avatars
from generation.tiny_clip.phrases import PHRASES

MAX_SHIFT = 5
"""Cells by which a training image moves at most, each way: 21 % of its side."""

Report = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights, beside the avatars."""

    steps: int = 1600
    batch: int = 32
    rate: float = 1.5e-3
    warm_up: int = 150
    decay: float = 0.02
    dense_weight: float = 1.0
    seed: int = 0


def vocabulary() -> list[str]:
    """Every word of every prompt, sorted."""
    return sorted({word for prompt in prompts() for word in words_of(prompt)})


def prompts() -> list[str]:
    """The claiming prompts of all phrases, then the denying ones."""
    names = list(PHRASES.values())
    return [WITH.format(name) for name in names] + [without(name) for name in names]


def train(avatars: Avatars, recipe: Recipe | None = None, report: Report | None = None) -> TinyClip:
    """Train the model; the same avatars, recipe, threads and libraries give the same weights.

    Args:
        avatars: of ``generation.tiny_clip.data``.
        recipe: the published one by default.
        report: called every 50 steps with the step and the two losses.
    """
    recipe = recipe or Recipe()
    torch.manual_seed(recipe.seed)
    words = vocabulary()
    ids = Words(words)(prompts(), max(len(words_of(prompt)) for prompt in prompts()))
    model = TinyClip(len(words), Shape(side=SIDE)).train()
    bias = torch.nn.Parameter(torch.zeros(2))
    optimiser = torch.optim.AdamW(
        [*model.parameters(), bias], lr=recipe.rate, betas=(0.9, 0.98), weight_decay=recipe.decay
    )
    batches = _Batches(avatars, recipe)
    mask = last_block_mask(model.visual.grid_size[0] ** 2, torch.zeros(1))
    for step in range(recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * _schedule(step, recipe)
        pixels, present, places = batches.draw()
        texts = model.encode_text(ids)
        tokens = model.visual.tokens(pixels, mask)
        logits = model.logit_scale.exp() * (tokens @ texts.T)
        whole = _balanced_loss(logits[:, 0] + bias[0], present, batches.rate)
        local = _balanced_loss(logits[:, 1:] + bias[1], places, batches.local_rate)
        loss = whole + recipe.dense_weight * local
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if report is not None and (step + 1) % 50 == 0:
            report(step + 1, whole.item(), local.item())
    return model.eval()


def _schedule(step: int, recipe: Recipe) -> float:
    """Factor of the learning rate: linear warm-up, then half a cosine down to a fiftieth."""
    if step < recipe.warm_up:
        return (step + 1) / recipe.warm_up
    done = (step - recipe.warm_up) / max(1, recipe.steps - recipe.warm_up)
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))


def _balanced_loss(logits: Tensor, claimed: Tensor, rate: Tensor) -> Tensor:
    """Sigmoid loss of both prompt forms; true and false weigh the same for each phrase.

    Args:
        logits: (..., 2 A).
        claimed: (..., A), 1 where the claiming prompt is true.
        rate: (A,), how often it is.
    """
    weight = claimed / (2 * rate) + (1 - claimed) / (2 * (1 - rate))
    target = torch.cat([claimed, 1 - claimed], dim=-1)
    return functional.binary_cross_entropy_with_logits(
        logits, target, torch.cat([weight, weight], dim=-1)
    )


class _Batches:
    """Seeded batches of moved and mirrored avatars."""

    def __init__(self, avatars: Avatars, recipe: Recipe) -> None:
        self.avatars = avatars
        self.batch = recipe.batch
        self.generator = np.random.default_rng(recipe.seed)
        self.order = np.empty(0, np.int64)
        self.rate = torch.from_numpy(avatars.labels.mean(axis=0)).float().clamp(0.02, 0.98)
        sample = place_targets(torch.from_numpy(avatars.masks[:500].astype(np.float32) / 255))
        self.local_rate = sample.mean(dim=(0, 1)).clamp(0.01, 0.99)

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Pixels (B, 3, side, side), labels (B, A) and patch targets (B, P, A)."""
        if len(self.order) < self.batch:
            self.order = self.generator.permutation(len(self.avatars.labels))
        rows, self.order = self.order[: self.batch], self.order[self.batch :]
        images = self.avatars.images[rows]
        masks = self.avatars.masks[rows]
        for k, row in enumerate(rows):
            down, right = self.generator.integers(-MAX_SHIFT, MAX_SHIFT + 1, size=2)
            mirrored = bool(self.generator.integers(2))
            images[k], masks[k] = moved(
                images[k], masks[k], self.avatars.backgrounds[row], (down, right), mirrored
            )
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float().div(255).sub(0.5).div(0.25)
        places = place_targets(torch.from_numpy(masks.astype(np.float32) / 255))
        return pixels, torch.from_numpy(self.avatars.labels[rows]).float(), places


def moved(
    image: np.ndarray,
    masks: np.ndarray,
    background: np.ndarray,
    shift: tuple[int, int],
    mirrored: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """An avatar and its masks moved by (down, right) cells and perhaps mirrored.

    What moves in is the picture's own background, and belongs to the region of that attribute.

    Args:
        image: uint8 (SIDE, SIDE, 3).
        masks: uint8 (A, CELLS, CELLS).
    """
    if mirrored:
        image, masks = image[:, ::-1], masks[:, :, ::-1]
    moved_image = np.broadcast_to(background, image.shape).copy()
    moved_masks = np.zeros_like(masks)
    behind = [k for k, concept in enumerate(PHRASES) if concept.startswith("background: ")]
    moved_masks[[k for k in behind if masks[k].any()]] = 255
    there, here = zip(*(_overlap(step, CELLS) for step in shift), strict=True)
    moved_masks[:, there[0], there[1]] = masks[:, here[0], here[1]]
    there, here = zip(*(_overlap(CELL * step, SIDE) for step in shift), strict=True)
    moved_image[there] = image[here]
    return moved_image, moved_masks


def _overlap(step: int, length: int) -> tuple[slice, slice]:
    """Where a line moved by ``step`` lands, and where it comes from."""
    return (
        slice(max(0, step), min(length, length + step)),
        slice(max(0, -step), min(length, length - step)),
    )


def place_targets(masks: Tensor) -> Tensor:
    """Which patches show each attribute, 0 or 1, (B, P, A) from masks (B, A, CELLS, CELLS).

    A patch does where a quarter of it is in the region, or for small parts half as much as in the
    patch that holds most of it.
    """
    share = functional.avg_pool2d(masks, CELLS // (SIDE // Shape().patch)).flatten(2)
    most = share.amax(dim=2, keepdim=True)
    shows = (share >= (most / 2).clamp(max=0.25)) & (most > 0)
    return shows.float().transpose(1, 2)
