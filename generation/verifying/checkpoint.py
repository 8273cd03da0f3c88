"""Where a training stands, on disk after every epoch: safetensors, replaced as a whole."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.files import replacing

if TYPE_CHECKING:
    import torch
    from torch import nn

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class Checkpoint:
    """How far a training is: epochs done, the best of them (from 1), mAP after each."""

    epoch: int
    best: int
    history: tuple[float, ...]


class Checkpoints:
    """The folder of one training.

    Args:
        folder: made with the first epoch; ``clear`` removes it.
        key: of everything the training depends on; what another key left is passed over.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._key = key

    def keep(self, state: Checkpoint, network: nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Write where the training stands; a kill at any moment leaves a state that is whole."""
        self._folder.mkdir(parents=True, exist_ok=True)
        weights = {f"model.{name}": value for name, value in network.state_dict().items()}
        if state.best == state.epoch:
            # before the state that names it
            self._write(self._best(state.best), weights, {})
        moments = {
            f"{moment}.{name}": optimiser.state[parameter][moment]
            for name, parameter in network.named_parameters()
            for moment in _MOMENTS
        }
        about = {"epoch": state.epoch, "best": state.best, "history": list(state.history)}
        self._write(self._state, {**weights, **moments}, about)
        for path in self._folder.glob("best-*.safetensors"):
            if path != self._best(state.best):
                path.unlink()

    def resume(self, network: nn.Module, optimiser: torch.optim.Optimizer) -> Checkpoint | None:
        """Put network and optimiser where they stood; None where nothing fitting is kept."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self._state, framework="pt") as file:
                metadata = file.metadata() or {}
                if metadata.get("key") != self._key:
                    return None
                about = json.loads(metadata["about"])
                values = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (FileNotFoundError, SafetensorError):
            return None
        state = Checkpoint(about["epoch"], about["best"], tuple(about["history"]))
        if not self._best(state.best).is_file():
            return None
        _fill(network, values)
        for name, parameter in network.named_parameters():
            optimiser.state[parameter] = {
                moment: values[f"{moment}.{name}"].to(
                    "cpu" if moment == "step" else parameter.device
                )
                for moment in _MOMENTS
            }
        return state

    def restore_best(self, state: Checkpoint, network: nn.Module) -> None:
        """Put the network where it stood after its best epoch."""
        from safetensors.torch import load_file

        _fill(network, load_file(self._best(state.best)))

    def clear(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _state(self) -> Path:
        return self._folder / "state.safetensors"

    def _best(self, epoch: int) -> Path:
        return self._folder / f"best-{epoch}.safetensors"

    def _write(self, path: Path, values: dict[str, torch.Tensor], about: object) -> None:
        from safetensors.torch import save_file

        kept = {name: value.detach().cpu().contiguous() for name, value in values.items()}
        metadata = {"key": self._key, "about": json.dumps(about)}
        with replacing(path) as temporary:
            save_file(kept, temporary, metadata=metadata)


def _fill(network: nn.Module, values: dict[str, torch.Tensor]) -> None:
    prefix = "model."
    network.load_state_dict(
        {name.removeprefix(prefix): v for name, v in values.items() if name.startswith(prefix)}
    )
