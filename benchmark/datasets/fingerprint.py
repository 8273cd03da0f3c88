"""One hash over everything a score depends on, the same however the data is laid out.

Each row is hashed by itself, every field with its length before it so that no two contents can be
read alike; the row hashes are then hashed in the order of their ids. Shards, row order, file names
and compression therefore do not matter, while any byte of a picture, label or name does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_VERSION = b"assay-dataset-fingerprint-1"


@dataclass(frozen=True)
class ImageRow:
    """One annotated picture: split, id, bytes as stored, indices of its concepts."""

    split: str
    id: str
    encoded: bytes
    labels: Sequence[int]


@dataclass(frozen=True)
class PairRow:
    """One edit pair: id, bytes of both pictures, concept indices, concepts of the base picture."""

    id: str
    base: bytes
    edited: bytes
    added: int | None
    removed: int | None
    labels: Sequence[int]


def fingerprint(
    concepts: Sequence[str], images: Iterable[ImageRow], pairs: Iterable[PairRow] = ()
) -> str:
    """Hex SHA-256 over vocabulary (in order), annotated pictures and pairs (in any order)."""
    image_hashes = [
        (
            (row.split, row.id),
            _digest(row.split.encode(), row.id.encode(), row.encoded, _numbers(row.labels)),
        )
        for row in images
    ]
    pair_hashes = [
        (
            (row.id,),
            _digest(
                row.id.encode(),
                row.base,
                row.edited,
                _optional(row.added),
                _optional(row.removed),
                _numbers(row.labels),
            ),
        )
        for row in pairs
    ]
    parts = (
        _digest(*(concept.encode() for concept in concepts)),
        _digest(*(digest for _, digest in sorted(image_hashes))),
        _digest(*(digest for _, digest in sorted(pair_hashes))),
    )
    return _digest(_VERSION, *parts).hex()


def _digest(*fields: bytes) -> bytes:
    hasher = hashlib.sha256(len(fields).to_bytes(8, "big"))
    for each in fields:
        hasher.update(len(each).to_bytes(8, "big"))
        hasher.update(each)
    return hasher.digest()


def _numbers(values: Sequence[int]) -> bytes:
    return b"".join(int(value).to_bytes(8, "big") for value in sorted(values))


def _optional(value: int | None) -> bytes:
    return b"" if value is None else _numbers([value])
