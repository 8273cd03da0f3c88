"""Checking what an SAE's files say: every tensor and setting is named in errors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError

_MAX_CONFIG = 1_000_000


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
    values = np.array(tensor, dtype=np.float32, order="C")
    if not np.isfinite(values).all():
        index = np.unravel_index(int(np.argmin(np.isfinite(values))), shape)
        place = [int(i) for i in index]
        raise UserError(f"{where}: tensor {name!r} holds NaN or infinity at {place}")
    return values
