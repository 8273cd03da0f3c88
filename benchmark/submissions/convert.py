"""Weights of other kinds of file written as safetensors, every code as it was."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.errors import UserError
from benchmark.submissions.documents import WEIGHTS
from benchmark.submissions.folders import MAX_FOLDER
from benchmark.submissions.saes import hint

if TYPE_CHECKING:
    from benchmark.submissions.make import Source


def convert(source: "Source", folder: Path) -> str:
    """Write the weights as safetensors with the codes unchanged; whose format they are in then."""
    weights = source.files.weights
    check_size(8 * source.sae.d_in * source.sae.d_sae, weights)
    for whose, write in (("the suite's own", _own_format), ("their library's", _same_tensors)):
        inner = folder / "converted"
        try:
            write(source, inner)
            same = _is_same(source, inner)
        except (TypeError, ValueError, UserError):
            same = False
        if same:
            for file in sorted(inner.iterdir()):
                file.replace(folder / file.name)
            inner.rmdir()
            return whose
        shutil.rmtree(inner, ignore_errors=True)
    raise UserError(
        f"{weights}: cannot be converted to safetensors without a change; save it so in its "
        "library's format"
    )


def _own_format(source: "Source", folder: Path) -> None:
    from benchmark.saes.formats.assay import FORMAT

    FORMAT.save(source.sae, folder, {})


def _same_tensors(source: "Source", folder: Path) -> None:
    """The tensors under the names they have, beside the settings they have."""
    from benchmark.tensors import write_tensors

    folder.mkdir()
    write_tensors(folder / f"ae{WEIGHTS}", source.files.tensors, {})
    if source.files.config_path is not None:
        shutil.copyfile(source.files.config_path, folder / source.files.config_path.name)


def _is_same(source: "Source", folder: Path) -> bool:
    from benchmark.runs import weights_sha256
    from benchmark.saes import load_sae

    found = load_sae(folder, k=source.block.get("k"), architecture=hint(source.block))
    same_kind = found.architecture == source.sae.architecture
    return same_kind and weights_sha256(found) == weights_sha256(source.sae)


def check_size(size: int, weights: Path) -> None:
    """Refuse weights that no folder holds, saying where to put them."""
    if size > MAX_FOLDER - 2**16:
        raise UserError(
            f"{weights}: {size:,} bytes, but a folder holds at most {MAX_FOLDER:,}; put it on the "
            "Hub as safetensors and give owner/name@REVISION with the full 40-digit commit"
        )
