"""Trained SAEs on disk: written once, trained again only when something differs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.saes.formats import load_sae
from benchmark.saes.formats.assay import CONFIG, FORMAT
from benchmark.saes.formats.files import read_config
from benchmark.saes.sae import Sae
from benchmark.saes.training.loop import Progress, train
from benchmark.saes.training.recipe import Recipe

TRAINER_VERSION = 1
"""Raised when the same recipe gives other weights."""


def train_to_folder(
    folder: Path,
    recipe: Recipe,
    features: np.ndarray,
    origin: Mapping[str, Any],
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
) -> Sae:
    """Train and write an SAE, or load it where the same one is there already.

    Args:
        folder: where it is written.
        recipe: what to train.
        features: float32 (N, D), the match split.
        origin: dataset and encoder of the features, kept with the SAE and compared.
        progress: called with (epochs done, epochs).
        overwrite: replace an SAE that was trained with other settings.

    Raises:
        UserError: the folder holds something else, or an SAE of other settings; training that
            ended in NaN. What was there stays as it was.
    """
    training = _training(recipe, origin)
    if folder.exists():
        if not FORMAT.matches_folder(folder):
            raise UserError(f"{folder}: exists and is not an SAE; choose another --out")
        if read_config(folder / CONFIG).get("training") == training:
            return load_sae(folder)
        if not overwrite:
            raise UserError(
                f"{folder}: holds an SAE trained with other settings; choose another --out or "
                "give --overwrite"
            )
    return save_trained(folder, train_finite(features, recipe, progress), recipe, origin)


def train_finite(features: np.ndarray, recipe: Recipe, progress: Progress | None = None) -> Sae:
    """Train an SAE; ``UserError`` where its weights ended in NaN or infinity."""
    sae = train(features, recipe, progress)
    for name in ("encoder", "decoder"):
        if not np.isfinite(getattr(sae, name)).all():
            raise UserError(
                f"training {recipe.architecture} ended in NaN or infinity in its {name}; "
                "lower the learning rate or the sparsity"
            )
    return sae


def save_trained(folder: Path, sae: Sae, recipe: Recipe, origin: Mapping[str, Any]) -> Sae:
    """Write an SAE trained elsewhere, in place of one that is there; returns it as a reader does.

    Raises:
        UserError: the folder holds something else than an SAE.
    """
    if folder.exists() and not FORMAT.matches_folder(folder):
        raise UserError(f"{folder}: exists and is not an SAE; choose another --out")
    FORMAT.save(sae, folder, _training(recipe, origin))
    return load_sae(folder)


def kept_sae(folder: Path, recipe: Recipe, origin: Mapping[str, Any]) -> Sae | None:
    """The SAE in a folder if it was trained by this recipe on these features, else None."""
    try:
        if not FORMAT.matches_folder(folder):
            return None
        if read_config(folder / CONFIG).get("training") != _training(recipe, origin):
            return None
        return load_sae(folder)
    except UserError:
        # damaged: trained again
        return None


def _training(recipe: Recipe, origin: Mapping[str, Any]) -> dict[str, Any]:
    return {**recipe.as_dict(), "trainer_version": TRAINER_VERSION, **origin}
