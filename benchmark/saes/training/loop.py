"""The training loop: seeded, on one thread, so that the same seed gives the same file."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from benchmark.saes.activations import Relu
from benchmark.saes.baselines import threshold_for
from benchmark.saes.normalisation import NORMALISATIONS
from benchmark.saes.sae import Sae, check_features
from benchmark.saes.training.objectives import Objective, Weights, make_objective
from benchmark.saes.training.recipe import Recipe
from benchmark.torch_threads import one_thread

Progress = Callable[[int, int], None]


def train(features: Any, recipe: Recipe, progress: Progress | None = None) -> Sae:
    """Train one SAE on features.

    Args:
        features: float (N, D), finite; the match split.
        recipe: what to train.
        progress: called with (epochs done, epochs).

    Returns:
        The trained SAE; BatchTopK and Matryoshka carry the global threshold that gives a mean L0
        of k on ``features``.

    Raises:
        UserError: features that are not finite.
    """
    rows = check_features(features, features.shape[-1])
    # how a product is split over threads moves its last bits, and then the file's hash
    with one_thread():
        x = NORMALISATIONS[recipe.normalisation](torch.from_numpy(rows.copy()))[0]
        generator = torch.Generator().manual_seed(recipe.seed)
        weights = Weights(recipe.d_sae, x.mean(dim=0), generator)
        objective = make_objective(recipe)
        _fit(x, weights, objective, recipe, generator, progress)
        return _finish(weights, objective, recipe, rows)


def _fit(
    x: torch.Tensor,
    weights: Weights,
    objective: Objective,
    recipe: Recipe,
    generator: torch.Generator,
    progress: Progress | None,
) -> None:
    parameters = [*weights.parameters(), *objective.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=recipe.learning_rate, betas=(0.9, 0.99), fused=True)
    batches = -(-len(x) // recipe.batch_size)
    total = recipe.epochs * batches
    step = 0
    for epoch in range(recipe.epochs):
        order = torch.randperm(len(x), generator=generator)
        for rows in order.split(recipe.batch_size):
            loss = objective.loss(weights, x[rows], step / max(1, total - 1))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            _unit_rows(weights.decoder)
            step += 1
        if progress:
            progress(epoch + 1, recipe.epochs)


@torch.no_grad()
def _unit_rows(decoder: torch.nn.Parameter) -> None:
    decoder.div_(decoder.norm(dim=1, keepdim=True))


def _finish(weights: Weights, objective: Objective, recipe: Recipe, rows: Any) -> Sae:
    draft = Sae(
        architecture=recipe.architecture,
        encoder=weights.encoder.detach().numpy(),
        encoder_bias=weights.encoder_bias.detach().numpy(),
        decoder=weights.decoder.detach().numpy(),
        decoder_bias=weights.decoder_bias.detach().numpy(),
        activation=Relu(),
        normalisation=recipe.normalisation,
    )
    activation = objective.activation(lambda: threshold_for(draft, rows, recipe.k * len(rows)))
    return replace(draft, activation=activation)
