"""A loaded image model as features see it: blocks of tokens, and a way to run them all."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from benchmark.encoders.choice import Choice, Token

# How much more than its largest layer a forward pass holds at once (skip connections, attention).
_HELD = 3


@dataclass(frozen=True, eq=False)
class Network:
    """A model of any library."""

    model: nn.Module
    run: Callable[[Tensor], Tensor]
    """Pixels (B, 3, S, S) through every block; gives the pooled embedding (B, D) where
    ``tokens`` offers it."""
    tokens: tuple[Token, ...]
    """What the model has; the first is what is taken by default."""
    blocks: Sequence[nn.Module] = ()
    """Blocks whose output is (B, T, D); none for a network without tokens."""
    norm: Callable[[Tensor], Tensor] | None = None
    """What the model does to the tokens after its last block."""
    prefix: int = 0
    """Tokens before the patches: class token first, then registers."""


class Reader:
    """Reads the chosen features from a network; several threads may call it at once."""

    def __init__(self, network: Network, choice: Choice) -> None:
        """``ValueError`` where the network has no such token or layer."""
        self._network = network
        self._token: Token = choice.token or network.tokens[0]
        self._whole = choice.layer is None
        self._seen = threading.local()
        if self._token not in network.tokens:
            raise ValueError(
                f"has no token={self._token}; expected one of {', '.join(network.tokens)}"
            )
        if self._token == "pooled":
            if not self._whole:
                others = [token for token in network.tokens if token != "pooled"]
                hint = f"; with a layer, name token={' or '.join(others)}" if others else ""
                raise ValueError(
                    f"pools after its last layer, not after layer {choice.layer}{hint}"
                )
            return
        layer = len(network.blocks) if choice.layer is None else choice.layer
        if layer > len(network.blocks):
            raise ValueError(f"has layers 1 to {len(network.blocks)}, not {layer}")
        network.blocks[layer - 1].register_forward_hook(self._keep)

    def __call__(self, pixels: Tensor) -> Tensor:
        """Features float32 (B, D) of pixels (B, 3, S, S)."""
        pooled = self._network.run(pixels)
        if self._token == "pooled":
            return pooled.float()
        tokens: Tensor = self._seen.tokens
        del self._seen.tokens
        if self._whole and self._network.norm is not None:
            tokens = self._network.norm(tokens)
        tokens = tokens.float()
        if self._token == "cls":
            return tokens[:, 0]
        patches = tokens[:, self._network.prefix :]
        return patches.mean(1) if self._token == "mean" else patches.flatten(1)

    def _keep(self, module: nn.Module, inputs: object, output: Tensor | tuple[Tensor, ...]) -> None:
        self._seen.tokens = output[0] if isinstance(output, tuple) else output


@torch.inference_mode()
def dry_run(build: Callable[[], Network], choice: Choice, side: int) -> tuple[int, int, Token]:
    """Length of a feature, bytes a forward pass needs for one picture, and the usual token.

    Nothing is computed and no weights are read: the network is built without storage.
    The bytes are an estimate, for advice on the batch shape only.
    """
    with torch.device("meta"):
        network = build()
        network.model.eval()
        largest = [0]
        for module in network.model.modules():
            if not list(module.children()):
                module.register_forward_hook(_measure(largest))
        features = Reader(network, choice)(torch.empty(1, 3, side, side))
    width = 2 if choice.dtype == "bf16" else 4
    return features.shape[1], _HELD * width * largest[0], network.tokens[0]


def _measure(largest: list[int]) -> Callable[[nn.Module, tuple[object, ...], object], None]:
    def note(module: nn.Module, inputs: tuple[object, ...], output: object) -> None:
        count = sum(x.numel() for x in (*inputs, output) if isinstance(x, Tensor))
        largest[0] = max(largest[0], count)

    return note
