"""The files of an SAE read as data: tensors and settings, nothing executed, sizes checked first."""

import json
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.tensors import read_tensors

CONFIGS = ("config.json", "cfg.json")
_NAMES = ("sae.safetensors", "sae_weights.safetensors", "ae.pt", "params.npz", "weights.pt")
_SUFFIXES = (".safetensors", ".pt", ".pth", ".npz")
_BESIDE = ("sparsity.safetensors", "expected.safetensors")
_MAX_CONFIG = 1_000_000
_MAX_RATIO = 100


@dataclass(frozen=True)
class SaeFiles:
    """What the files of one SAE hold.

    Attributes:
        weights: the file the tensors are from.
        tensors: arrays by name; views of the file where the format allows it.
        config: settings beside the weights, {} where there are none.
        config_path: where the settings are from.
        plain: other values of a pickled dictionary (numbers, texts), by name.
    """

    weights: Path
    tensors: Mapping[str, np.ndarray]
    config: Mapping[str, Any]
    config_path: Path | None = None
    plain: Mapping[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> Path:
        """The file to name in an error about settings."""
        return self.config_path or self.weights


def open_files(path: Path) -> SaeFiles:
    """Read the SAE at ``path``: a weights file, its settings file, or the folder of both.

    Raises:
        UserError: no weights there, more than one candidate, or a file that cannot be read.
    """
    if not path.exists():
        raise UserError(f"{path}: no such file or folder; expected an SAE")
    folder = path if path.is_dir() else path.parent
    weights = path if path.is_file() and path.name not in CONFIGS else _find_weights(folder)
    settings = [folder / name for name in CONFIGS if (folder / name).is_file()]
    if len(settings) > 1:
        raise UserError(f"{folder}: both {' and '.join(CONFIGS)} are there; keep the right one")
    config_path = settings[0] if settings else None
    config = read_config(config_path) if config_path else {}
    tensors, plain = _read_weights(weights)
    return SaeFiles(weights, tensors, config, config_path, plain)


def _find_weights(folder: Path) -> Path:
    for name in _NAMES:
        if (folder / name).is_file():
            return folder / name
    found = sorted(
        item
        for item in folder.iterdir()
        if item.is_file() and item.suffix in _SUFFIXES and item.name not in _BESIDE
    )
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(item.name for item in found[:5])
        raise UserError(f"{folder}: several weight files ({names}); name the one to load")
    raise UserError(
        f"{folder}: no weights here; expected one file ending in {', '.join(_SUFFIXES)}"
    )


def _read_weights(path: Path) -> tuple[Mapping[str, np.ndarray], Mapping[str, Any]]:
    if path.suffix == ".safetensors":
        return read_tensors(path)[0], {}
    if path.suffix == ".npz":
        return read_npz(path), {}
    if path.suffix in (".pt", ".pth"):
        return read_pickled(path)
    raise UserError(f"{path}: not a weights file; expected one ending in {', '.join(_SUFFIXES)}")


def read_config(path: Path) -> dict[str, Any]:
    """A JSON object, refused when large, malformed or not an object."""
    if path.stat().st_size > _MAX_CONFIG:
        raise UserError(f"{path}: larger than {_MAX_CONFIG} bytes; expected a small JSON object")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: expected a JSON object, found {type(document).__name__}")
    return document


def read_pickled(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and plain values of a ``.pt`` file, through ``weights_only=True``.

    Nested dictionaries are joined by dots. Anything that would need code is refused.
    """
    import torch

    if path.stat().st_size == 0:
        raise UserError(f"{path}: 0 bytes; expected tensors saved by torch.save")
    try:
        mapped = zipfile.is_zipfile(path)
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        if "weights" in str(error).lower() and "only" in str(error).lower():
            raise UserError(
                f"{path}: holds a pickled module, which could run any code; where you trust it, "
                "export it with: torch.save(module.state_dict(), 'state_dict.pt')"
            ) from None
        raise UserError(f"{path}: not a readable torch file; it may be cut short") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: not a readable torch file ({reason})") from None
    if not isinstance(content, Mapping):
        raise UserError(f"{path}: holds {type(content).__name__}; expected tensors by name")
    tensors: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    _flatten(content, "", tensors, plain)
    return tensors, plain


def _flatten(
    content: Mapping[Any, Any], prefix: str, tensors: dict[str, np.ndarray], plain: dict[str, Any]
) -> None:
    import torch

    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, torch.Tensor):
            wide = value.detach()
            if wide.dtype in (torch.bfloat16, torch.float16):
                wide = wide.float()
            tensors[name] = wide.numpy()
        elif isinstance(value, Mapping):
            _flatten(value, f"{name}.", tensors, plain)
        else:
            plain[name] = value


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Arrays of a ``.npz`` file; every header is checked against the bytes there are."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                entry.filename.removesuffix(".npy"): _read_npy(archive, entry, path)
                for entry in archive.infolist()
            }
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, NotImplementedError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path}: not a readable npz file ({error})") from None


def _read_npy(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> np.ndarray:
    if entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
        raise UserError(f"{path}: {entry.filename} unpacks to {entry.file_size:,} bytes; refused")
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        if dtype.hasobject:
            raise UserError(f"{path}: {entry.filename} holds Python objects; expected numbers")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if count * dtype.itemsize > entry.file_size:
            raise UserError(
                f"{path}: {entry.filename} claims shape {shape} in {entry.file_size:,} bytes"
            )
        data = np.frombuffer(bytearray(stream.read(count * dtype.itemsize)), dtype)
    if len(data) != count:
        raise UserError(f"{path}: {entry.filename} is cut short")
    return data.reshape(shape, order="F" if fortran else "C")
