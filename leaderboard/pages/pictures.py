"""Pictures of edit pairs and of examples, written only where their licence allows it."""

import hashlib
import io
from collections.abc import Iterable, Mapping
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
_THUMBNAIL = 112
_COLOURS = 64
"""Of a thumbnail: a page of examples holds hundreds."""


@dataclass(frozen=True)
class Picture:
    """An image file of the site: its path from the site's root, and its size in px."""

    path: str
    width: int
    height: int

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]


class Pictures:
    """Images of a dataset, each written once under a name made of its content.

    ``used`` holds the names that were asked for since it was last emptied.
    """

    def __init__(self, dataset: "Dataset | None", folder: Path) -> None:
        self.used: set[str] = set()
        self.folder = folder
        self._dataset = dataset
        self._rows: dict[str, int] = {}
        self._pair_rows: dict[str, int] = {}
        self._made: dict[str, tuple[Picture, Picture]] = {}
        self._thumbnails: dict[str, Picture] = {}
        shown = dataset is not None and dataset.name in SHOWABLE
        self._pairs = dataset.pairs if dataset is not None and shown else None
        if self._pairs is not None:
            self._pair_rows = {pair: row for row, pair in enumerate(self._pairs.ids)}
        if dataset is not None and shown:
            self._rows = {name: row for row, name in enumerate(dataset.ids)}

    def why_not(self, source: Mapping[str, Any]) -> str | None:
        """Why the pictures of the ``source`` dataset are not shown; None where they are."""
        if source["name"].partition(":")[0] in WITHOUT_PICTURES:
            return "This dataset holds activations, not pictures."
        if source["name"] not in SHOWABLE:
            return (
                "Pictures are shown only of datasets whose licence is known to allow it, "
                f"and {source['name']} is not one of them."
            )
        if self._dataset is None:
            return "Built without the dataset's images: numbers only."
        if self._dataset.name not in SHOWABLE or self._dataset.fingerprint != source["fingerprint"]:
            return (
                "The images at hand are not the ones this record was measured on "
                "(their fingerprints differ): numbers only."
            )
        return None

    def pair(self, pair_id: str) -> tuple[Picture, Picture] | None:
        """Base and edited picture of a pair, or None where the dataset has no such pair."""
        if pair_id not in self._pair_rows:
            return None
        if pair_id not in self._made:
            row, pairs = self._pair_rows[pair_id], self._pairs
            assert pairs is not None
            self._made[pair_id] = self._write(pairs.base[row]), self._write(pairs.edited[row])
        self.used.update(picture.name for picture in self._made[pair_id])
        return self._made[pair_id]

    def thumbnails(self, names: Iterable[str]) -> Mapping[str, Picture]:
        """Small pictures by row name; names that the dataset does not have are left out."""
        wanted = {name for name in names if name in self._rows}
        # In row order, in which the dataset reads each part of a file once.
        for name in sorted(wanted - self._thumbnails.keys(), key=self._rows.__getitem__):
            assert self._dataset is not None
            image = self._dataset.images[self._rows[name]]
            self._thumbnails[name] = self._write(image, _THUMBNAIL, _COLOURS)
        self.used.update(self._thumbnails[name].name for name in wanted)
        return {name: self._thumbnails[name] for name in sorted(wanted)}

    def _write(self, image: Any, largest: int = _LARGEST, colours: int | None = None) -> Picture:
        shown = image.convert("RGB")
        shown.thumbnail((largest, largest))
        size = shown.size
        if colours is not None:
            shown = shown.quantize(colours, dither=0)
        buffer = io.BytesIO()
        shown.save(buffer, format="PNG", optimize=True)
        data = buffer.getvalue()
        name = f"{hashlib.sha256(data).hexdigest()[:20]}.png"
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_bytes(data)
        return Picture(f"{self.folder.name}/{name}", *size)


class NoPictures(Pictures):
    """None of them, for a reason that was found elsewhere."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, Path())
        self._reason = reason

    def why_not(self, source: Mapping[str, Any]) -> str | None:
        return self._reason
