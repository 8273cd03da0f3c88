"""The device that a network works on, and whether its memory ran out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.errors import UserError

if TYPE_CHECKING:
    import torch

TYPES = ("cpu", "cuda", "mps", "xpu")
"""Kinds of devices that keep the values of a tensor."""


def find_device(name: str) -> torch.device:
    """The device called ``name``, for ``"auto"`` a graphics card where there is one.

    Raises:
        UserError: it is not there, or is of a kind that keeps no values.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        if name.partition(":")[0] not in TYPES:
            raise RuntimeError(f"not one of {', '.join(TYPES)}")
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = (str(error).splitlines() or ["not there"])[0][:120]
        raise UserError(
            f"device {name!r} cannot be used ({reason}); give auto, cpu or cuda:N"
        ) from None
    # there is one processor, whatever number it is given
    return torch.device("cpu") if device.type == "cpu" else device


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was not enough memory, of a card or of the machine."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )
