"""The place in a model where activations are read, and where a direction can be added."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.torch_threads import one_thread

_LISTED = 5


class _Reached(Exception):
    """What is behind the hooked module need not run."""


class Hook:
    """A module of a model by its path, such as ``encoder.layer.3`` or ``model.layers.5``.

    What is read is the module's output, or the first entry where it gives several.
    """

    def __init__(self, network: Any, name: str) -> None:
        modules = dict(network.named_modules())
        if not name or name not in modules:
            close = get_close_matches(name, modules, n=_LISTED, cutoff=0.3)
            raise UserError(
                f"no module {name!r} in {type(network).__name__}; close: "
                f"{', '.join(close) or ', '.join(list(modules)[1 : _LISTED + 1])}"
            )
        self.name = name
        self.network = network
        # one hook for good, told by each thread what to do: a hook that comes and goes would
        # change the module's table while another thread walks through it
        self._wanted = threading.local()
        modules[name].register_forward_hook(self._act)

    def _act(self, _module: Any, _given: Any, output: Any) -> Any:
        action = getattr(self._wanted, "action", None)
        return None if action is None else action(output)

    def read(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Activations of a batch: float32 (B, L, D) for int64 ids and mask (B, L).

        The model is left at the hook. May be called by several threads at once.
        """
        seen: list[Any] = []

        def keep(output: Any) -> None:
            seen.append(_first(output))
            raise _Reached

        with suppress(_Reached):
            self._forward(ids, mask, keep)
        return self._checked(seen, ids.shape)

    def probe(self, ids: np.ndarray, mask: np.ndarray) -> int:
        """Width D of the activations; looks at one batch in full.

        Raises:
            UserError: the module does not run, runs more than once, or gives no (B, L, D).
        """
        seen: list[Any] = []

        def keep(output: Any) -> None:
            seen.append(_first(output))

        self._forward(ids, mask, keep)
        if len(seen) > 1:
            raise UserError(f"module {self.name} runs {len(seen)} times on an input; expected once")
        return int(self._checked(seen, ids.shape).shape[2])

    def logits(
        self,
        ids: np.ndarray,
        mask: np.ndarray,
        places: Sequence[int] | np.ndarray,
        added: np.ndarray | None = None,
    ) -> np.ndarray:
        """Logits at one place of each row, float32 (B, V).

        Args:
            ids, mask: int64 (B, L).
            places: position in each row.
            added: float32 (D,), added to the activation at that place; None leaves it.
        """
        rows, where = torch.arange(len(ids)), torch.as_tensor(np.asarray(places, np.int64))

        def change(output: Any) -> Any:
            first = _first(output).clone()
            first[rows, where] += torch.from_numpy(added)
            return first if isinstance(output, torch.Tensor) else (first, *output[1:])

        found = self._forward(ids, mask, None if added is None else change)
        return np.asarray(found.logits[rows, where].float().numpy())

    def _forward(
        self, ids: np.ndarray, mask: np.ndarray, action: Callable[[Any], Any] | None
    ) -> Any:
        self._wanted.action = action
        try:
            with torch.inference_mode(), one_thread():
                return self.network(
                    input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)
                )
        finally:
            self._wanted.action = None

    def _checked(self, seen: list[Any], shape: tuple[int, ...]) -> np.ndarray:
        if not seen:
            raise UserError(f"module {self.name} does not run when the model reads a text")
        found = seen[0]
        if not isinstance(found, torch.Tensor) or found.shape[:2] != shape or found.ndim != 3:
            given = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
            raise UserError(
                f"module {self.name} gives {given}; expected (rows, tokens, width) = "
                f"({shape[0]}, {shape[1]}, …)"
            )
        return np.asarray(found.float().numpy())


def _first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple | list) else output
