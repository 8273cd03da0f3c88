"""Pictures of edit pairs, written beside the pages only where their licence allows it."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmark.datasets import Dataset

SHOWABLE = frozenset({"synavatars"})
"""Datasets whose licence (CC0) lets anyone publish their images."""

WITHOUT_PICTURES = frozenset({"planted"})
"""Datasets of activations."""

_LARGEST = 224


@dataclass(frozen=True)
class Picture:
    """An image file of the site: its path from the site's root, and its size in px."""

    path: str
    width: int
    height: int


class Pictures:
    """Base and edited images by pair id, each written once under a name made of its content."""

    def __init__(self, dataset: "Dataset | None", folder: Path) -> None:
        self._dataset = dataset
        self._folder = folder
        self._rows: dict[str, int] = {}
        self._made: dict[str, tuple[Picture, Picture]] = {}
        shown = dataset is not None and dataset.name in SHOWABLE
        self._pairs = dataset.pairs if dataset is not None and shown else None
        if self._pairs is not None:
            self._rows = {pair: row for row, pair in enumerate(self._pairs.ids)}

    def why_not(self, source: Mapping[str, Any]) -> str | None:
        """Why the pairs of the record's ``source`` dataset are not shown; None where they are."""
        if source["name"].partition(":")[0] in WITHOUT_PICTURES:
            return "This dataset holds activations, not pictures."
        if source["name"] not in SHOWABLE:
            return (
                "Pictures are shown only of datasets whose licence is known to allow it, "
                f"and {source['name']} is not one of them."
            )
        if self._dataset is None:
            return "Built without the dataset's images: numbers only."
        if not self._rows or self._dataset.fingerprint != source["fingerprint"]:
            return (
                "The images at hand are not the ones this record was measured on "
                "(their fingerprints differ): numbers only."
            )
        return None

    def pair(self, pair_id: str) -> tuple[Picture, Picture] | None:
        """Base and edited picture of a pair, or None where the dataset has no such pair."""
        if pair_id not in self._rows:
            return None
        if pair_id not in self._made:
            row, pairs = self._rows[pair_id], self._pairs
            assert pairs is not None
            self._made[pair_id] = self._write(pairs.base[row]), self._write(pairs.edited[row])
        return self._made[pair_id]

    def _write(self, image: Any) -> Picture:
        shown = image.convert("RGB")
        shown.thumbnail((_LARGEST, _LARGEST))
        buffer = io.BytesIO()
        shown.save(buffer, format="PNG", optimize=True)
        data = buffer.getvalue()
        name = f"{hashlib.sha256(data).hexdigest()[:20]}.png"
        self._folder.mkdir(exist_ok=True)
        (self._folder / name).write_bytes(data)
        return Picture(f"{self._folder.name}/{name}", shown.width, shown.height)
