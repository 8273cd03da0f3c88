"""Columns of the pairs of a generated dataset: those of every dataset folder, and how it was made.

========================  ============================================================
column                    what
========================  ============================================================
``source``                id of the base picture in the dataset that it comes from
``class``                 class of the base picture, null where the source has none
``attribute_kind``        what was edited: attribute, object, material, lighting, …
``prompt``                what the model was told
``references``            ids of the pictures that the model was shown besides
``model``                 Hub id, or the name of a local folder
``model_revision``        its full commit, or a hash over the folder's files
``seed``                  of the noise
``steps``                 denoising steps
``guidance``              that had an effect, null where none had
``outside_change``        share of pixels outside the edited part that changed, null if unknown
``classifier_agrees``     whether the classifier sees every change; null where it cannot say
``accepted_by``           reviewers who accepted this very picture
========================  ============================================================
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from benchmark.datasets.layout import PAIR_COLUMNS, SOURCE, features

_OF_THE_MAKING: dict[str, pa.DataType] = {
    SOURCE: pa.string(),
    "class": pa.string(),
    "attribute_kind": pa.string(),
    "prompt": pa.string(),
    "references": pa.list_(pa.string()),
    "model": pa.string(),
    "model_revision": pa.string(),
    "seed": pa.int64(),
    "steps": pa.int64(),
    "guidance": pa.float64(),
    "outside_change": pa.float64(),
    "classifier_agrees": pa.bool_(),
    "accepted_by": pa.int64(),
}
COLUMNS: dict[str, pa.DataType] = {**PAIR_COLUMNS, **_OF_THE_MAKING}
REPEATING = ["group", "class", "attribute_kind", "prompt", "model", "model_revision"]
"""Columns of few different values, which are written as a dictionary."""

_NAMES = {pa.string(): "string", pa.int64(): "int64", pa.float64(): "float64", pa.bool_(): "bool"}


def typed(concepts: Sequence[str]) -> dict[str, Any]:
    """The columns as the Hub's ``datasets`` library types them."""
    return features(PAIR_COLUMNS, concepts) | {
        name: _feature(kind) for name, kind in _OF_THE_MAKING.items()
    }


def _feature(kind: pa.DataType) -> dict[str, Any]:
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    return {"dtype": _NAMES[kind], "_type": "Value"}


def arrow_schema(concepts: Sequence[str]) -> pa.Schema:
    """Arrow schema with the features in its metadata, which the Hub's viewer reads."""
    metadata = {"huggingface": json.dumps({"info": {"features": typed(concepts)}})}
    return pa.schema(list(COLUMNS.items()), metadata=metadata)
