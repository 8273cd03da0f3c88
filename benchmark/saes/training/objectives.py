"""What each architecture minimises, and what it becomes once trained."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmark.saes.activations import Activation, Gated, Relu, Threshold, TopK
from benchmark.saes.training.recipe import Recipe, matryoshka_prefixes

Tensor = torch.Tensor


class Weights(nn.Module):
    """Shared weights: encoder and decoder (d, D), one row a latent, tied at the start."""

    def __init__(self, d_sae: int, mean: Tensor, generator: torch.Generator) -> None:
        super().__init__()
        rows = torch.randn(d_sae, len(mean), generator=generator)
        rows = rows / rows.norm(dim=1, keepdim=True)
        self.encoder = nn.Parameter(rows.clone())
        self.encoder_bias = nn.Parameter(torch.zeros(d_sae))
        self.decoder = nn.Parameter(rows)
        self.decoder_bias = nn.Parameter(mean.clone())

    def pre(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x - self.decoder_bias, self.encoder, self.encoder_bias)

    def decode(self, codes: Tensor) -> Tensor:
        return codes @ self.decoder + self.decoder_bias


class Objective(nn.Module, ABC):
    """The loss of one batch, and the activation the trained SAE encodes with."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe

    @abstractmethod
    def loss(self, weights: Weights, x: Tensor, progress: float) -> Tensor:
        """Loss of a batch x (n, D); ``progress`` runs from 0 to 1 over the training."""

    @abstractmethod
    def activation(self, threshold: Callable[[], float]) -> Activation:
        """The trained rule; ``threshold()`` finds the global threshold of mean L0 k."""


def squared_error(guess: Tensor, truth: Tensor) -> Tensor:
    """Mean over rows and features."""
    return (guess - truth).pow(2).mean()


class TopKObjective(Objective):
    """TopK, BatchTopK and Matryoshka BatchTopK with the auxiliary dead-latent loss."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.silent = torch.zeros(recipe.d_sae, dtype=torch.int64)
        nested = recipe.architecture == "matryoshka"
        self.prefixes = matryoshka_prefixes(recipe.d_sae) if nested else [recipe.d_sae]

    def loss(self, weights: Weights, x: Tensor, progress: float) -> Tensor:
        pre = weights.pre(x).relu()
        codes = self._select(pre)
        fired = (codes.detach() > 0).any(dim=0)
        self.silent = torch.where(fired, 0, self.silent + 1)
        losses, start, guess = [], 0, weights.decoder_bias.expand_as(x)
        for stop in self.prefixes:
            guess = guess + codes[:, start:stop] @ weights.decoder[start:stop]
            losses.append(squared_error(guess, x))
            start = stop
        main = torch.stack(losses).mean()
        return main + self._revive(weights, pre, (x - guess).detach())

    def _select(self, pre: Tensor) -> Tensor:
        k = self.recipe.k
        if self.recipe.architecture == "topk":
            values, latents = pre.topk(k, dim=1, sorted=False)
            return torch.zeros_like(pre).scatter(1, latents, values)
        flat = pre.flatten()
        values, places = flat.topk(min(k * len(pre), flat.numel()), sorted=False)
        return torch.zeros_like(flat).scatter(0, places, values).view_as(pre)

    def _revive(self, weights: Weights, pre: Tensor, residual: Tensor) -> Tensor:
        dead = torch.nonzero(self.silent >= self.recipe.dead_after).flatten()
        if dead.numel() == 0:
            return torch.zeros(())
        values, places = pre[:, dead].topk(min(self.recipe.aux_k, dead.numel()), sorted=False)
        codes = torch.zeros(len(pre), dead.numel()).scatter(1, places, values)
        return self.recipe.aux_weight * squared_error(codes @ weights.decoder[dead], residual)

    def activation(self, threshold: Callable[[], float]) -> Activation:
        if self.recipe.architecture == "topk":
            return TopK(self.recipe.k)
        return Threshold(torch.tensor(max(0.0, threshold()), dtype=torch.float32))


class JumpReluObjective(Objective):
    """JumpReLU: a threshold a latent, trained through a rectangular window around it."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.log_threshold = nn.Parameter(torch.zeros(recipe.d_sae))

    def loss(self, weights: Weights, x: Tensor, progress: float) -> Tensor:
        pre = weights.pre(x)
        codes, l0 = _jump(pre, self.log_threshold.exp(), self.recipe.bandwidth)
        return squared_error(weights.decode(codes), x) + _weight(self.recipe) * l0

    def activation(self, threshold: Callable[[], float]) -> Activation:
        return Threshold(self.log_threshold.detach().exp())


def _weight(recipe: Recipe) -> float:
    return recipe.sparsity or 0.0


class _Jump(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pre: Tensor, threshold: Tensor, bandwidth: float) -> Any:
        on = pre > threshold
        ctx.save_for_backward(pre, threshold, on)
        ctx.bandwidth = bandwidth
        return pre * on, on.sum(dim=1).float().mean()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        by_code, by_l0 = gradients
        pre, threshold, on = ctx.saved_tensors
        window = ((pre - threshold).abs() < ctx.bandwidth / 2) / ctx.bandwidth
        by_threshold = -(window * (threshold * by_code + by_l0 / len(pre))).sum(dim=0)
        return by_code * on, by_threshold, None


def _jump(pre: Tensor, threshold: Tensor, bandwidth: float) -> tuple[Tensor, Tensor]:
    codes, l0 = _Jump.apply(pre.relu(), threshold, bandwidth)
    return codes, l0


class ReluObjective(Objective):
    """ReLU with an L1 penalty; P-anneal lowers the power from 1 to ``p_end`` as it goes."""

    def loss(self, weights: Weights, x: Tensor, progress: float) -> Tensor:
        codes = weights.pre(x).relu()
        penalty = codes.sum(dim=1).mean()
        if self.recipe.architecture == "p_anneal":
            penalty = self._annealed(codes, penalty, progress)
        return squared_error(weights.decode(codes), x) + _weight(self.recipe) * penalty

    def _annealed(self, codes: Tensor, l1: Tensor, progress: float) -> Tensor:
        power = 1 + (self.recipe.p_end - 1) * progress
        raised = torch.where(codes > 0, (codes + 1e-6).pow(power), 0.0).sum(dim=1).mean()
        # the penalty keeps the size that L1 would have, so that only its shape changes
        scale = (l1 / raised.clamp_min(1e-12)).detach()
        return raised * scale

    def activation(self, threshold: Callable[[], float]) -> Activation:
        return Relu()


class GatedObjective(Objective):
    """Gated SAE: an L1-penalised gate with its own reconstruction, a tied magnitude path."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.gate_bias = nn.Parameter(torch.zeros(recipe.d_sae))
        self.log_scale = nn.Parameter(torch.zeros(recipe.d_sae))
        self.magnitude_bias = nn.Parameter(torch.zeros(recipe.d_sae))

    def _rule(self) -> Gated:
        return Gated(self.gate_bias, self.log_scale, self.magnitude_bias)

    def loss(self, weights: Weights, x: Tensor, progress: float) -> Tensor:
        rule = self._rule()
        pre = nn.functional.linear(x - weights.decoder_bias, weights.encoder)
        gate = (pre + rule.gate_bias).relu()
        decoder, bias = weights.decoder.detach(), weights.decoder_bias.detach()
        return (
            squared_error(weights.decode(rule(pre)), x)
            + squared_error(gate @ decoder + bias, x)
            + _weight(self.recipe) * gate.sum(dim=1).mean()
        )

    def activation(self, threshold: Callable[[], float]) -> Activation:
        rule = self._rule()
        return Gated(rule.gate_bias.detach(), rule.log_scale.detach(), rule.magnitude_bias.detach())


def make_objective(recipe: Recipe) -> Objective:
    """The objective of an architecture."""
    makers: dict[str, type[Objective]] = {
        "topk": TopKObjective,
        "batchtopk": TopKObjective,
        "matryoshka": TopKObjective,
        "jumprelu": JumpReluObjective,
        "relu": ReluObjective,
        "p_anneal": ReluObjective,
        "gated": GatedObjective,
    }
    return makers[recipe.architecture](recipe)
