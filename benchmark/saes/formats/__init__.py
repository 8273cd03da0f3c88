"""File formats of SAEs, one module each; ``load_sae`` finds the one that fits by content."""

from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.registry import Registry
from benchmark.saes.sae import Sae

FORMATS = Registry(
    "SAE format",
    {
        "assay": "benchmark.saes.formats.assay:FORMAT",
    },
)


def load_sae(path: Any) -> Sae:
    """Load an SAE from a folder or file in any supported format.

    Args:
        path: the folder, or a file in it.

    Returns:
        The SAE; its weights are checked for shape and finiteness.

    Raises:
        UserError: nothing there, no known format, or a file that contradicts itself.
    """
    place = Path(path)
    if not place.exists():
        raise UserError(f"{place}: no such file or folder; expected an SAE")
    for name in FORMATS.names():
        form = FORMATS.load(name)
        if form.matches(place):
            sae: Sae = form.load(place)
            return sae
    raise UserError(
        f"{place}: no supported SAE here; expected one of: "
        + "; ".join(FORMATS.load(name).looks_like for name in FORMATS.names())
    )
