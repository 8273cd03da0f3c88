"""Annotated images and edit pairs: ``load_dataset(name)`` gives a ``Dataset``."""

from benchmark.datasets.base import Activations, Dataset, ImageSequence, Pair, PairSequence
from benchmark.datasets.check import CheckReport, check_folder
from benchmark.datasets.fingerprint import ImageRow, PairRow, fingerprint
from benchmark.datasets.registry import DATASETS, load_dataset

__all__ = [
    "DATASETS",
    "Activations",
    "CheckReport",
    "Dataset",
    "ImageRow",
    "ImageSequence",
    "Pair",
    "PairRow",
    "PairSequence",
    "check_folder",
    "fingerprint",
    "load_dataset",
]
