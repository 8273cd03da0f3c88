"""synCUB: pictures of birds and their edits with one attribute of CUB exchanged."""

from __future__ import annotations

from pathlib import Path

from benchmark.datasets.base import Dataset
from benchmark.datasets.names import read_vocabulary
from benchmark.datasets.published import VOCABULARY, Columns, open_published
from benchmark.datasets.published_source import HubPairs
from benchmark.datasets.source import Source

NAME = "syncub"
COLUMNS = Columns(
    removed=("old_attr_idx", "old_attr"),
    added=("new_attr_idx", "new_attr"),
    base_concepts="orig_attr_idx",
    edited_concepts="syn_attr_idx",
)


def open_syncub(folder: Path) -> Dataset:
    """Open a folder in the authors' layout; its vocabulary is ``attributes.txt``."""
    vocabulary = read_vocabulary(folder / VOCABULARY)
    return open_published(folder, name=NAME, columns=COLUMNS, vocabulary=vocabulary)


PAIRS = HubPairs(NAME, repo="jokl/syncub", tag="v1.0", open_published=open_syncub)

SOURCE = Source(
    name=NAME,
    summary="2,933 generated pictures of birds and edits that exchange one attribute of CUB; "
    "pairs only: --dataset cub --pairs syncub",
    licence="CC-BY-NC-4.0",
    citation="J. Klotz, C. F. Dantas, P. Jain, D. Marcos, B. Demir: Evaluating the "
    "Interpretability of Sparse Autoencoders with Concept Annotations. ECCV 2026, "
    "arXiv 2606.24716.",
    load=PAIRS.load,
    fetch=PAIRS.fetch,
    at=PAIRS.at,
)
