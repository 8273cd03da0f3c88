"""Reading weights as data: sizes checked before parsing, every tensor named in errors."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from benchmark.errors import UserError

_MAX_HEADER = 100_000_000
_MAX_CONFIG = 1_000_000


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file whose header is sane and whose length is what it claims."""
    size = path.stat().st_size
    if size < 8:
        raise UserError(f"{path}: {size} bytes; too short for a safetensors file")
    with path.open("rb") as stream:
        (header,) = struct.unpack("<Q", stream.read(8))
    if header > min(_MAX_HEADER, size - 8):
        raise UserError(
            f"{path}: a header of {header} bytes in a file of {size}; truncated, or not safetensors"
        )
    try:
        return load_file(path)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a readable safetensors file ({reason})") from None


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


def take(
    tensors: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...], where: Path
) -> np.ndarray:
    """Tensor ``name`` as finite float32 of ``shape``, or an error with both shapes."""
    if name not in tensors:
        raise UserError(f"{where}: tensor {name!r} is missing; found {', '.join(sorted(tensors))}")
    tensor = tensors[name]
    if tensor.shape != shape:
        raise UserError(f"{where}: tensor {name!r} has shape {tensor.shape}; expected {shape}")
    if tensor.dtype.kind != "f":
        raise UserError(f"{where}: tensor {name!r} has dtype {tensor.dtype}; expected floats")
    values = np.ascontiguousarray(tensor, dtype=np.float32)
    if not np.isfinite(values).all():
        index = np.unravel_index(int(np.argmin(np.isfinite(values))), shape)
        place = [int(i) for i in index]
        raise UserError(f"{where}: tensor {name!r} holds NaN or infinity at {place}")
    return values
