"""Names, columns and limits of a dataset folder; both the reader and the builders use them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

MANIFEST = "manifest.json"
CARD = "README.md"
SCHEMA_VERSION = 1
SPLITS = ("match", "score")
PAIR_SPLIT = "test"

MAX_MANIFEST_BYTES = 4 * 2**20
# Uncompressed, as the file's footer states it.
MAX_ROW_GROUP_BYTES = 2**30
MAX_CELLS = 2**31

_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
IMAGE_COLUMNS: dict[str, pa.DataType] = {
    "id": pa.string(),
    "image": _IMAGE,
    "concepts": pa.list_(pa.int64()),
}
PAIR_COLUMNS: dict[str, pa.DataType] = {
    "id": pa.string(),
    "base": _IMAGE,
    "edited": _IMAGE,
    "added": pa.int64(),
    "removed": pa.int64(),
    "group": pa.string(),
    "base_concepts": pa.list_(pa.int64()),
    "edited_concepts": pa.list_(pa.int64()),
}
SOURCE = "source"
"""Optional text column of the pairs: the picture of another dataset that ``base`` is."""
PICTURES = ("image", "base", "edited")
_CLASS_LABELS = ("added", "removed")


def features(columns: dict[str, pa.DataType], concepts: Sequence[str]) -> dict[str, Any]:
    """The columns as the Hub's ``datasets`` library types them."""
    label = {"names": list(concepts), "_type": "ClassLabel"}
    typed: dict[str, Any] = {}
    for name, kind in columns.items():
        if name in PICTURES:
            typed[name] = {"_type": "Image"}
        elif pa.types.is_list(kind):
            typed[name] = {"feature": label, "_type": "List"}
        elif name in _CLASS_LABELS:
            typed[name] = label
        else:
            typed[name] = {"dtype": "string", "_type": "Value"}
    return typed


def schema(columns: dict[str, pa.DataType], concepts: Sequence[str]) -> pa.Schema:
    """Arrow schema with the features in its metadata, which the Hub's viewer reads."""
    metadata = {"huggingface": json.dumps({"info": {"features": features(columns, concepts)}})}
    return pa.schema(list(columns.items()), metadata=metadata)
