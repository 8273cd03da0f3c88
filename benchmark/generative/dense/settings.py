"""What decides the scores of a CLIP model beside its weights, for the key of their cache."""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

_PLAIN = (bool, int, float, str, type(None))


def settings_sha256(model: torch.nn.Module, mean: Sequence[float], std: Sequence[float]) -> str:
    """Hex SHA-256 over the pixel statistics and the settings of every part of a model."""
    digest = hashlib.sha256(json.dumps([list(mean), list(std)]).encode())
    for name, module in model.named_modules():
        digest.update(f"\n{name}:{_name_of(type(module))}".encode())
        for key, text in sorted(_settings(module)):
            digest.update(f"\n {key}={text}".encode())
    return digest.hexdigest()


def runtime_of(model: torch.nn.Module, device: torch.device) -> str:
    """Device, and versions of PyTorch and of the package that the model's class is from."""
    where = torch.backends.cpu.get_cpu_capability()
    if device.type == "cuda":
        where = f"cuda {torch.version.cuda}, {torch.cuda.get_device_name(device)}"
    elif device.type != "cpu":
        where = device.type
    package = type(model).__module__.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    return f"torch {torch.__version__}, {where}, {package} {version}"


def _settings(module: torch.nn.Module) -> Iterator[tuple[str, str]]:
    """Names and values of plain attributes, functions and configurations of one part."""
    for key, value in vars(module).items():
        if key.startswith("_") or key == "training":
            continue
        if hasattr(value, "to_dict"):
            yield key, json.dumps(value.to_dict(), sort_keys=True, default=str)
        elif _is_plain(value):
            yield key, repr(value)
        elif callable(value) and hasattr(value, "__qualname__"):
            yield key, _name_of(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, (*value, *value.values())))
    return isinstance(value, _PLAIN)


def _name_of(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{thing.__qualname__}"
