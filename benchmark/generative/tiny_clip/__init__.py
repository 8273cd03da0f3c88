"""``assay-tiny-clip``: a small CLIP for the demo and the tests, trained on captioned avatars.

It knows voxel-art avatars and the phrases it was trained with, nothing else: its numbers compare
with nothing outside the demo. ``CARD.md`` says how it was made and how well it does.
"""

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    from benchmark.generative.dense.open_clip_tower import OpenClipTower
    from benchmark.generative.tiny_clip.network import TinyClip

NAME = "assay-tiny-clip"
FILE = "assay-tiny-clip.safetensors"
WEIGHTS_SHA256 = "b851b12ba43864a35f9bb082cb20d4014b56e43fd93b976ae70ef3e8d0916bbf"
"""Of the file in this package."""

QUALITY_FILE = "assay-tiny-clip.json"
CONCEPTS_FILE = "concepts.json"
TRUSTED_AUC = 0.95


def load(which: str = "") -> "OpenClipTower":
    """The model with the weights of this package, or of the safetensors file ``which``.

    Raises:
        UserError: weights missing, or other than the published ones.
    """
    if which:
        return load_file(Path(which), name=f"{NAME}:{which}")
    with as_file(files(__package__) / FILE) as path:
        if not path.is_file():
            raise UserError(
                f"the weights of {NAME} are not in this installation; "
                "python -m generation.tiny_clip makes them"
            )
        if (found := file_sha256(path)) != WEIGHTS_SHA256:
            raise UserError(f"{path}: SHA-256 {found}, expected {WEIGHTS_SHA256}: install again")
        return load_file(path, name=NAME)


def quality() -> dict[str, Any]:
    """How well the model tells each phrase, on avatars it was not trained on.

    Returns:
        ``images``, their number, and ``attributes``, one row a phrase: ``attribute``, ``share`` of
        the pictures that show it, ``area`` of a picture that it covers where it shows, ``ra`` and
        ``clip`` (``auc``, ``cohens_d``, ``hellinger``, ``one_minus_ovl``, and for RA-CLIPScore the
        fraction ``saturated``), ``patch_auc`` and ``patch_auc_refined``.
    """
    table: dict[str, Any] = json.loads((files(__package__) / QUALITY_FILE).read_text("utf-8"))
    return table


def concepts() -> dict[str, str]:
    """Phrase → the concept of synAvatars that it stands for; a file for ``--label-names`` too."""
    table: dict[str, str] = json.loads((files(__package__) / CONCEPTS_FILE).read_text("utf-8"))
    return table


def trusted(least: float = TRUSTED_AUC) -> list[str]:
    """Phrases whose RA-CLIPScore tells presence with an AUC of at least ``least``."""
    return [row["attribute"] for row in quality()["attributes"] if row["ra"]["auc"] >= least]


def load_file(path: Path, *, name: str) -> "OpenClipTower":
    """The model of a file that ``save`` wrote."""
    import numpy as np
    import torch

    from benchmark.generative.dense.open_clip_tower import OpenClipTower
    from benchmark.generative.tiny_clip.network import Shape, TinyClip
    from benchmark.generative.tiny_clip.words import Words

    tensors, metadata = read_tensors(path)
    try:
        vocabulary = json.loads(metadata["words"])
        model = TinyClip(len(vocabulary), Shape(**json.loads(metadata["shape"])))
        state = {key: torch.from_numpy(np.array(v, np.float32)) for key, v in tensors.items()}
        model.load_state_dict(state)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a file of {NAME}: {reason}") from error
    tower = OpenClipTower(model, Words(vocabulary), name=name)
    tower.statistics_fixed = True
    return tower


def save(path: Path, model: "TinyClip", vocabulary: list[str], shape: dict[str, int]) -> None:
    """Write the weights in half precision, with the vocabulary and the sizes beside them."""
    tensors = {key: value.detach().half().numpy() for key, value in model.state_dict().items()}
    metadata = {"words": json.dumps(vocabulary), "shape": json.dumps(shape, sort_keys=True)}
    write_tensors(path, tensors, metadata)
