"""ResNet-50 with one output per concept, and where its first weights come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.files import file_sha256

if TYPE_CHECKING:
    import torch
    from torch import nn

ARCHITECTURE = "resnet50"
IMAGENET = "imagenet"
NONE = "none"
_HEAD = ("fc.weight", "fc.bias")
_LEAST_BYTES = 2**20


def new_network(concepts: int, weights: str, seed: int) -> tuple[nn.Module, str]:
    """A network to train.

    Args:
        concepts: outputs.
        weights: ``"imagenet"`` (torchvision's, from the cache of ``torch.hub``), ``"none"``, or a
            file of a ResNet-50: ``.safetensors``, or ``.pth`` read without running anything in it.
        seed: of the new layer, and of all layers for ``"none"``.

    Returns:
        The network, and what its weights are in a few words.

    Raises:
        UserError: torchvision or the weights are not there, or are of another network.
    """
    import torch

    values, origin = first_weights(weights)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build(concepts)
    if values is not None:
        _fill(network, values, weights)
    return network, origin


def build(concepts: int) -> nn.Module:
    """A ResNet-50 of untrained weights drawn from PyTorch's generator."""
    network: nn.Module = torchvision().models.resnet50(weights=None, num_classes=concepts)
    return network


def torchvision() -> Any:
    """The library of the architecture; ``UserError`` where it is not installed."""
    try:
        import torchvision
    except ImportError:
        raise UserError(
            "verifying needs torchvision; pip install 'concept-assay[generation]'"
        ) from None
    return torchvision


def first_weights(weights: str) -> tuple[dict[str, torch.Tensor] | None, str]:
    """Tensors to begin with, None for none, and what they are in a few words."""
    if weights == NONE:
        return None, "random initialisation"
    path = _cached() if weights == IMAGENET else Path(weights)
    if not path.is_file():
        raise UserError(_missing(path, weights))
    name = f"torchvision {path.stem}" if weights == IMAGENET else path.name
    return _read(path), f"{name}, SHA-256 {file_sha256(path)}"


def _cached() -> Path:
    """Where ``torch.hub`` keeps torchvision's ImageNet weights once they are fetched."""
    import torch

    return Path(torch.hub.get_dir()) / "checkpoints" / Path(_address()).name


def _address() -> str:
    address: str = torchvision().models.ResNet50_Weights.DEFAULT.url
    return address


def _missing(path: Path, weights: str) -> str:
    if weights != IMAGENET:
        return f"no weights file {path}; expected a file, {IMAGENET!r} or {NONE!r}"
    return (
        f"ImageNet weights are not at {path}; fetch them: curl --create-dirs -o {path} "
        f"{_address()}, or give --weights FILE, or --weights none to begin at random"
    )


def _read(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a weights file; nothing in it is run."""
    import pickle

    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if path.stat().st_size < _LEAST_BYTES:
        raise UserError(f"{path}: too small for the weights of a ResNet-50; fetch it again")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise UserError(f"{path}: no weights that can be read safely ({reason})") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected named tensors of a ResNet-50")
    return {str(name): value for name, value in found.items()}


def _fill(network: nn.Module, values: dict[str, torch.Tensor], source: str) -> None:
    """Put tensors into every layer but the last, which is for other classes."""
    import torch

    wanted = network.state_dict()
    for name, own in wanted.items():
        if name in _HEAD or name.endswith("num_batches_tracked"):
            continue
        value = values.get(name)
        if not isinstance(value, torch.Tensor) or value.shape != own.shape:
            raise UserError(
                f"weights {source}: no tensor {name} of shape {tuple(own.shape)}; expected those "
                "of a ResNet-50"
            )
        if not bool(torch.isfinite(value).all()):
            raise UserError(f"weights {source}: tensor {name} holds NaN or infinity")
        own.copy_(value)
