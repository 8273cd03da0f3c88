"""From a plan and its source to a trained classifier, once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from generation.devices import find_device
from generation.verifying import classifier as store
from generation.verifying.checkpoint import Checkpoints
from generation.verifying.classifier import Classifier
from generation.verifying.network import ARCHITECTURE, first_weights, new_network, torchvision
from generation.verifying.recipe import TRAINER_VERSION, Recipe
from generation.verifying.split import split_rows
from generation.verifying.thresholds import mean_average_precision, validate_concepts
from generation.verifying.train import Lesson, Progress, train
from generation.work import Plan, Work

TRAINING = "training"
"""Folder of an unfinished training, inside the stage's."""


@dataclass(frozen=True)
class Options:
    """How to get the classifier.

    Attributes:
        recipe: how to train it.
        weights: what to begin with, as ``new_network`` takes it.
        device: as ``find_device`` takes it.
        train_on_bases: also learn from the pictures that edits are made of.
    """

    recipe: Recipe
    weights: str = "imagenet"
    device: str = "auto"
    train_on_bases: bool = False


def training_rows(source: Dataset, plan: Plan, on_bases: bool) -> tuple[np.ndarray, int]:
    """Rows of the source's match split to learn from, and how many were left out.

    A picture that an edit is made of is left out: the classifier would be asked about a picture
    whose answer it was told.

    Raises:
        UserError: nothing to speak of is left.
    """
    rows = source.split("match")
    bases = {source.locate(edit.base) for edit in plan.edits}
    kept = rows if on_bases else np.array([r for r in rows.tolist() if r not in bases], np.int64)
    if len(kept) < 4:
        raise UserError(
            f"{len(kept)} of the {len(rows)} pictures in the match split of {source.name} are left "
            "to train on, the others are base pictures of the plan; plan fewer edits, or give "
            "--train-on-bases"
        )
    return kept, len(rows) - len(kept)


def classifier_for(
    work: Work, source: Dataset, options: Options, progress: Progress | None = None
) -> Classifier:
    """The classifier of a work folder: read where the same one is there, else trained.

    Raises:
        UserError: see ``new_network``, ``train`` and ``training_rows``.
    """
    rows, left_out = training_rows(source, work.plan, options.train_on_bases)
    # by name, so that the order of the source's rows does not matter
    rows = np.array(sorted(rows.tolist(), key=lambda row: source.ids[row]), dtype=np.int64)
    names = [source.ids[row] for row in rows]
    labels = np.asarray(source.annotations[rows], dtype=bool)
    training, validation = split_rows(names, labels, options.recipe.validation, options.recipe.seed)
    about = _about(work, source, options, names)
    if (kept := store.load(work.verify, about["key"])) is not None:
        return kept
    device = find_device(options.device)
    network, _ = new_network(len(source.concepts), options.weights, options.recipe.seed)
    checkpoints = Checkpoints(work.verify / TRAINING, about["key"])
    lesson = Lesson(lambda row: source.images[int(rows[row])], labels, training, validation)
    trained = train(network, lesson, options.recipe, checkpoints, device, progress)
    trained_on = labels[training].sum(axis=0)
    found = labels[validation]
    reports = validate_concepts(
        source.concepts, trained.probabilities, found, trained_on, options.recipe.least
    )
    record = {
        **about,
        "device": str(device),
        "concepts": [report.as_dict() for report in reports],
        "best_epoch": trained.best_epoch,
        "history": list(trained.history),
        "validation_map": mean_average_precision(trained.probabilities, found),
        "pictures": {
            "training": len(training),
            "validation": len(validation),
            "left_out": left_out,
        },
    }
    result = store.save(work.verify, network, record)
    checkpoints.clear()
    return result


def _about(work: Work, source: Dataset, options: Options, names: list[str]) -> dict[str, Any]:
    """What the classifier depends on, and the key over all of it."""
    import torch

    about = {
        "schema_version": 1,
        "architecture": ARCHITECTURE,
        "plan_hash": work.plan.hash,
        "source": {
            "name": source.name,
            "revision": source.revision,
            "fingerprint": source.fingerprint,
        },
        "recipe": options.recipe.as_dict(),
        "trainer_version": TRAINER_VERSION,
        "first_weights": first_weights(options.weights)[1],
        "trained_on_bases": options.train_on_bases,
    }
    text = json.dumps([about, sorted(names)], sort_keys=True)
    versions = {"torch": torch.__version__, "torchvision": torchvision().__version__}
    return {**about, "key": hashlib.sha256(text.encode()).hexdigest(), "versions": versions}
