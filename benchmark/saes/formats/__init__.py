"""File formats of SAEs, one module each; ``load_sae`` finds the one that fits by content."""

from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.registry import Registry
from benchmark.saes.formats.base import Format, Hints
from benchmark.saes.formats.files import open_files
from benchmark.saes.hub import fetch, is_hub_id
from benchmark.saes.sae import Sae

FORMATS = Registry(
    "SAE format",
    {
        "assay": "benchmark.saes.formats.assay:FORMAT",
        "saelens": "benchmark.saes.formats.saelens:FORMAT",
        "dictionary_learning": "benchmark.saes.formats.dictionary_learning:FORMAT",
        "sparsify": "benchmark.saes.formats.sparsify:FORMAT",
        "openai": "benchmark.saes.formats.openai:FORMAT",
        "overcomplete": "benchmark.saes.formats.overcomplete:FORMAT",
        "prisma": "benchmark.saes.formats.prisma:FORMAT",
        "gemma_scope": "benchmark.saes.formats.gemma_scope:FORMAT",
        "bare": "benchmark.saes.formats.bare:FORMAT",
    },
)


def load_sae(path: Any, *, k: int | None = None, architecture: str | None = None) -> Sae:
    """Load an SAE from a folder or file in any supported format.

    Args:
        path: the folder, the weights file or the settings file; or a Hub repository as
            ``owner/name[/folder]@revision`` with the full 40-digit revision.
        k: active latents a row, for a file that does not say.
        architecture: ``topk`` or ``relu``, for a file that does not say.

    Returns:
        The SAE. Its tensors are checked for shape and finiteness; ``notes`` says what was assumed.

    Raises:
        UserError: nothing there, no known format, or files that contradict themselves.
    """
    place = fetch(str(path)) if is_hub_id(str(path)) else Path(path)
    files = open_files(place)
    hints = Hints(k, architecture)
    known: list[Format] = [FORMATS.load(name) for name in FORMATS.entries]
    for form in known:
        if form.matches(files):
            return form.load(files, hints)
    names = ", ".join(sorted(files.tensors)[:12]) or "none"
    raise UserError(
        f"{files.weights}: no supported SAE format; its tensors are {names}; "
        f"supported: {'; '.join(form.looks_like for form in known)}"
    )
