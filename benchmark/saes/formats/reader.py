"""Taking tensors and settings one by one, so that none is missing, unknown or misshapen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.saes.formats.files import SaeFiles

_BLOCK = 1 << 24


class Reader:
    """Hands out the tensors of one SAE and remembers which were taken."""

    def __init__(
        self, files: SaeFiles, kind: str, tensors: Mapping[str, np.ndarray] | None = None
    ) -> None:
        self.files = files
        self.kind = kind
        self._tensors = files.tensors if tensors is None else tensors
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def shape(self, name: str) -> tuple[int, int]:
        """Shape of a matrix."""
        found = self._get(name).shape
        if len(found) != 2 or 0 in found:
            raise UserError(
                f"{self.files.weights}: tensor {name!r} has shape {found}; expected a matrix"
            )
        return found[0], found[1]

    def _get(self, name: str) -> np.ndarray:
        if name not in self._tensors:
            names = ", ".join(sorted(self._tensors)[:12])
            raise UserError(
                f"{self.files.weights}: tensor {name!r} is missing from a {self.kind} SAE; "
                f"found {names}"
            )
        return self._tensors[name]

    def take(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Tensor ``name`` as finite float32 of ``shape``; a view of the file where it can be."""
        tensor = self._get(name)
        self._taken.add(name)
        if tensor.shape != shape:
            raise UserError(
                f"{self.files.weights}: tensor {name!r} has shape {tensor.shape}; expected {shape}"
            )
        if tensor.dtype.kind != "f":
            raise UserError(
                f"{self.files.weights}: tensor {name!r} has dtype {tensor.dtype}; expected floats"
            )
        values = tensor.astype(np.float32, copy=False)
        _check_finite(values, name, self.files)
        return values

    def take_columns(self, name: str, shape: tuple[int, int]) -> np.ndarray:
        """A matrix stored the other way round, ``shape`` as stored; handed out transposed."""
        return self.take(name, shape).T

    def number(self, name: str) -> float:
        """A tensor of one number."""
        tensor = self._get(name)
        self._taken.add(name)
        if tensor.size != 1 or not np.isfinite(tensor).all():
            raise UserError(
                f"{self.files.weights}: tensor {name!r} is {tensor.tolist()!r:.60}; "
                "expected one finite number"
            )
        return float(tensor.reshape(()))

    def ignore(self, *names: str) -> None:
        """Tensors that may be there and say nothing about encoding."""
        self._taken.update(names)

    def finish(self) -> None:
        """Refuse tensors that nobody took: the SAE would do something else than we would."""
        if unknown := sorted(set(self._tensors) - self._taken):
            raise UserError(
                f"{self.files.weights}: unknown tensor {unknown[0]!r} in a {self.kind} SAE"
            )

    def agree(self, key: str, value: Any, found: int) -> None:
        """A size in the settings must be that of the tensors."""
        if value is not None and value != found:
            raise UserError(f"{self.files.where}: {key} is {value!r}, but the tensors say {found}")


def _check_finite(values: np.ndarray, name: str, files: SaeFiles) -> None:
    flat = values.reshape(-1) if values.flags.c_contiguous else values.T.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        part = np.isfinite(flat[start : start + _BLOCK])
        if not part.all():
            place = start + int(np.argmin(part))
            shape = values.shape if values.flags.c_contiguous else values.T.shape
            index = [int(i) for i in np.unravel_index(place, shape)]
            raise UserError(f"{files.weights}: tensor {name!r} holds NaN or infinity at {index}")


def positive_k(value: Any, d_sae: int, files: SaeFiles, name: str = "k") -> int:
    """k as a whole number from 1 to d_sae."""
    if isinstance(value, bool) or not isinstance(value, int | float) or int(value) != value:
        raise UserError(f"{files.where}: {name} is {value!r}; expected a whole number")
    if not 1 <= value <= d_sae:
        raise UserError(f"{files.where}: {name} is {value}; expected 1 to {d_sae}")
    return int(value)
