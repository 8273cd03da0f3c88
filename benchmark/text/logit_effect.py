"""What two latents do to a language model's next token: the logit effect, §4.

Each decoder row is added to the hooked activation, both at the same norm, and the changes of the
logits are compared by their cosine. A sharded pair that reads different things and still writes
the same one has a cosine near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.saes.sae import Sae
from benchmark.text.dataset import TextDataset
from benchmark.text.hook import Hook
from benchmark.text.model import find_model, is_causal, load_network

_LOGIT_BYTES = 1 << 28


@dataclass(frozen=True)
class LogitProtocol:
    """Choices behind the number; written into the card.

    Attributes:
        norm_fraction: norm of what is added, as a fraction of the mean norm of the activations.
        positions: tokens of the score split that it is added at, one at a time.
        seed: of their draw.
    """

    norm_fraction: float = 0.25
    positions: int = 32
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As it stands in a card's protocol."""
        return {
            "logit_effect_norm_fraction": self.norm_fraction,
            "logit_effect_positions": self.positions,
            "logit_effect_seed": self.seed,
            "logit_effect_at": "logits of the next token at the changed one, mean cosine",
        }


class LogitEffect:
    """Cosines between the logit changes of directions, at fixed positions.

    Args:
        hook: where a direction is added, in a model that gives logits.
        inputs: ids and mask, int64 (P, L), and the changed position of each row, int64 (P,).
        norm: Euclidean norm at which every direction is added, > 0.
    """

    def __init__(
        self, hook: Hook, inputs: tuple[np.ndarray, np.ndarray, np.ndarray], norm: float
    ) -> None:
        self._hook, self._inputs, self._norm = hook, inputs, norm
        vocabulary = int(hook.network.config.vocab_size)
        per_row = 4 * vocabulary * inputs[0].shape[1]
        self._rows = max(1, min(len(inputs[0]), _LOGIT_BYTES // per_row))
        self._base = self._logits(None)

    def change(self, direction: np.ndarray) -> np.ndarray | None:
        """Change of the logits, float64 (P, V), by a direction (D,); None for a zero one."""
        length = float(np.linalg.norm(np.asarray(direction, np.float64)))
        if not (np.isfinite(length) and length > 0):
            return None
        scaled = np.asarray(direction, np.float64) * (self._norm / length)
        return self._logits(scaled.astype(np.float32)) - self._base

    def _logits(self, added: np.ndarray | None) -> np.ndarray:
        ids, mask, places = self._inputs
        parts = []
        for start in range(0, len(ids), self._rows):
            rows = slice(start, start + self._rows)
            parts.append(self._hook.logits(ids[rows], mask[rows], places[rows], added))
        return np.concatenate(parts).astype(np.float64)


def cosine(first: np.ndarray | None, second: np.ndarray | None) -> float | None:
    """Mean over positions of the cosine of two changes (P, V); None where there is none.

    A position that either direction leaves as it was has no cosine and is left out.
    """
    if first is None or second is None:
        return None
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    moved = lengths > 0
    if not moved.any():
        return None
    found = (first * second).sum(axis=1)[moved] / lengths[moved]
    return float(np.clip(found.mean(), -1, 1))


def pair_cosines(
    effect: LogitEffect,
    decoder: np.ndarray,
    pairs: Sequence[Sequence[int]],
) -> list[float | None]:
    """Logit effect of pairs of latents, rows of ``decoder`` (d_sae, D)."""
    latents = sorted({latent for pair in pairs for latent in pair})
    changes = {latent: effect.change(decoder[latent]) for latent in latents}
    return [cosine(changes[i], changes[j]) for i, j in pairs]


def effect_on(
    dataset: TextDataset, protocol: LogitProtocol, model: str | None = None
) -> LogitEffect:
    """The measurement for a dataset, with the model it was collected from.

    Args:
        dataset: activations of a causal model.
        protocol: the choices to follow.
        model: folder or Hub id of the model, by default where it was when they were collected.

    Raises:
        UserError: no such model, another one, or one without logits.
    """
    stated = dataset.manifest["model"]
    files = find_model(model or stated["source"])
    if files.weights_sha256 != stated["weights_sha256"]:
        raise UserError(
            f"{files.source}: its weights are not those the activations are from ({stated['name']})"
        )
    network = load_network(files)
    if not is_causal(network):
        raise UserError(f"{type(network).__name__} gives no logits of a next token")
    hook = Hook(network, dataset.manifest["hook"])
    norm = protocol.norm_fraction * float(dataset.manifest["norm"]["mean"])
    if norm <= 0:
        raise UserError("all activations are zero")
    return LogitEffect(hook, drawn_inputs(dataset, protocol), norm)


def drawn_inputs(
    dataset: TextDataset, protocol: LogitProtocol
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs around drawn tokens of the score split: ids, mask (P, L) and places (P,).

    Tokens are drawn in the order of their names, so that the order of rows does not matter. What
    stands after a token is left out: a causal model does not look ahead.
    """
    rows = dataset.split("score")
    rows = rows[np.argsort(np.array([dataset.ids[row] for row in rows.tolist()]), kind="stable")]
    draw = np.random.default_rng(protocol.seed)
    chosen = draw.choice(rows, size=min(protocol.positions, len(rows)), replace=False)
    found = [dataset.tokens.find(int(row)) for row in chosen]
    contexts = [dataset.tokens.contexts[number] for number, _ in found]
    places = np.array(
        [one.places[token] for one, (_, token) in zip(contexts, found, strict=True)], np.int64
    )
    shape = (len(found), int(places.max()) + 1)
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, (one, place) in enumerate(zip(contexts, places, strict=True)):
        ids[row, : place + 1] = one.input_ids[: place + 1]
        mask[row, : place + 1] = 1
    return ids, mask, places


def add_logit_effect(
    card: dict[str, Any],
    sae: Sae,
    dataset: TextDataset,
    model: str | None = None,
    protocol: LogitProtocol | None = None,
) -> dict[str, Any]:
    """Put ``logit_effect_cosine`` beside each listed sharded pair, or the reason why not.

    Returns:
        The choices behind it, for the card's protocol.
    """
    protocol = protocol or LogitProtocol()
    sharding = card["c1"]["sharding"]
    pairs = sharding["pairs"]
    if not pairs:
        sharding["logit_effect_reason"] = "no sharded pairs are listed"
        return protocol.as_dict()
    reason: str | None = None
    found: list[float | None] = [None] * len(pairs)
    try:
        effect = effect_on(dataset, protocol, model)
    except UserError as error:
        reason = str(error)[:200]
    else:
        found = pair_cosines(effect, sae.decoder, [pair["latents"] for pair in pairs])
        if None in found:
            reason = "a decoder row is zero or changes no logit"
    for pair, value in zip(pairs, found, strict=True):
        pair["logit_effect_cosine"] = value
    sharding["logit_effect_reason"] = reason
    return protocol.as_dict()
