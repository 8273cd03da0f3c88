"""Annotated images and edit pairs: ``load_dataset(name)`` gives a ``Dataset``."""

from benchmark.datasets.base import Activations, Dataset, ImageSequence, Pair, PairSequence
from benchmark.datasets.check import check_folder
from benchmark.datasets.check_foreign import CheckReport
from benchmark.datasets.fingerprint import ImageRow, PairRow, fingerprint
from benchmark.datasets.joined import Joined, join
from benchmark.datasets.registry import DATASETS, load_dataset, source_of_name

__all__ = [
    "DATASETS",
    "Activations",
    "CheckReport",
    "Dataset",
    "ImageRow",
    "ImageSequence",
    "Joined",
    "Pair",
    "PairRow",
    "PairSequence",
    "check_folder",
    "fingerprint",
    "join",
    "load_dataset",
    "source_of_name",
]
