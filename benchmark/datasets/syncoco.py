"""synCOCO: photographs of COCO and their edits with every object of one class removed."""

from __future__ import annotations

from pathlib import Path

from benchmark.datasets.base import Dataset
from benchmark.datasets.coco import ANNOTATED, CLASSES
from benchmark.datasets.names import read_vocabulary
from benchmark.datasets.published import VOCABULARY, Columns, open_published
from benchmark.datasets.published_source import HubPairs
from benchmark.datasets.source import Source
from benchmark.datasets.syncub import SOURCE as SYNCUB

NAME = "syncoco"
COLUMNS = Columns(
    removed=("removed_cls_idx", "removed_class"),
    added=None,
    base_concepts="orig_labels",
    edited_concepts="syn_labels",
    source="coco_idx",
)


def open_syncoco(folder: Path) -> Dataset:
    """Open a folder in the authors' layout.

    Without ``attributes.txt`` the vocabulary is COCO's 80 classes in the order of their ids.
    ``coco_idx`` counts the pictures of train2017 that any region is annotated in, in the order of
    the annotation file.
    """
    file = folder / VOCABULARY
    vocabulary = read_vocabulary(file) if file.is_file() else CLASSES
    return open_published(
        folder, name=NAME, columns=COLUMNS, vocabulary=vocabulary, source_prefix=ANNOTATED
    )


PAIRS = HubPairs(NAME, repo="jokl/syncoco", tag="v2.0", open_published=open_syncoco)

SOURCE = Source(
    name=NAME,
    summary="2,534 photographs of COCO and edits that remove all objects of one class; "
    "pairs only: --dataset coco --pairs syncoco",
    licence="CC-BY-NC-4.0; its photographs are COCO's, under the Flickr terms of use",
    citation=SYNCUB.citation,
    load=PAIRS.load,
    fetch=PAIRS.fetch,
    at=PAIRS.at,
)
