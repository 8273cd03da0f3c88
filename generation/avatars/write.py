"""Writing a finished build as an ordinary Hub dataset folder, the same bytes every time."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark import files
from benchmark.datasets.fingerprint import ImageRow, PairRow, fingerprint
from benchmark.datasets.layout import (
    CARD,
    IMAGE_COLUMNS,
    MANIFEST,
    PAIR_COLUMNS,
    PAIR_SPLIT,
    SCHEMA_VERSION,
    schema,
)
from generation.avatars.card import card
from generation.avatars.licence import StyleLicence, licences
from generation.avatars.probe import pixel_probe
from generation.avatars.space import CONCEPTS, GROUPS, STYLE_GROUP

NAME = "synavatars"
VERSION = "1.0"
# Small enough to look at one picture without reading many.
_ROW_GROUP = 100
_PACKAGES = ("dicebear-core", "dicebear-styles", "resvg-py", "pillow", "numpy", "pyarrow")


@dataclass(frozen=True)
class Picture:
    """A row of the configuration ``images``."""

    id: str
    png: bytes
    concepts: tuple[int, ...]


@dataclass(frozen=True)
class PicturePair:
    """A row of the configuration ``pairs``."""

    id: str
    base: bytes
    edited: bytes
    added: int | None
    removed: int | None
    group: str
    base_concepts: tuple[int, ...]
    edited_concepts: tuple[int, ...]


@dataclass(frozen=True)
class Content:
    """Everything a build has drawn."""

    seed: int
    splits: dict[str, list[Picture]]
    pairs: list[PicturePair]


def write_folder(folder: Path, content: Content) -> tuple[str, dict[str, float]]:
    """Write Parquet, manifest and card; returns the fingerprint and the probes' scores."""
    for split, pictures in content.splits.items():
        _write(folder / "images" / f"{split}-00000-of-00001.parquet", _image_table(pictures))
    pairs = folder / "pairs" / f"{PAIR_SPLIT}-00000-of-00001.parquet"
    _write(pairs, _pair_table(content.pairs))
    probes = pixel_probe(content.splits["match"], content.splits["score"], len(CONCEPTS))
    styles = licences()
    document = _manifest(content, styles, probes)
    files.write_json(folder / MANIFEST, document)
    files.write_bytes(folder / CARD, card(document, statistics(content)).encode())
    return document["fingerprint"], probes


def statistics(content: Content) -> list[dict[str, Any]]:
    """Per concept: how many pictures of each split show it, how many pairs add or remove it."""
    rows: list[dict[str, Any]] = []
    for index, name in enumerate(CONCEPTS):
        row: dict[str, Any] = {"concept": name}
        for split, pictures in content.splits.items():
            row[split] = sum(index in picture.concepts for picture in pictures)
        row["added"] = sum(pair.added == index for pair in content.pairs)
        row["removed"] = sum(pair.removed == index for pair in content.pairs)
        rows.append(row)
    return rows


def _manifest(
    content: Content, styles: Sequence[StyleLicence], probes: dict[str, float]
) -> dict[str, Any]:
    kinds = {
        "pairs_add": sum(pair.removed is None for pair in content.pairs),
        "pairs_remove": sum(pair.added is None for pair in content.pairs),
        "pairs_swap": sum(None not in (pair.added, pair.removed) for pair in content.pairs),
    }
    return {
        "schema_version": SCHEMA_VERSION,
        "name": NAME,
        "version": VERSION,
        "fingerprint": _fingerprint(content),
        "seed": content.seed,
        "concepts": [
            {"name": name, "group": group, "editable": group != STYLE_GROUP}
            for name, group in zip(CONCEPTS, GROUPS, strict=True)
        ],
        "counts": {
            **{split: len(pictures) for split, pictures in content.splits.items()},
            "pairs": len(content.pairs),
            "concepts": len(CONCEPTS),
            **kinds,
        },
        "styles": [asdict(style) for style in styles],
        "packages": {
            "python": platform.python_version(),
            **{package: version(package) for package in _PACKAGES},
        },
        "probes": probes,
    }


def _fingerprint(content: Content) -> str:
    images = (
        ImageRow(split, picture.id, picture.png, picture.concepts)
        for split, pictures in content.splits.items()
        for picture in pictures
    )
    pairs = (
        PairRow(each.id, each.base, each.edited, each.added, each.removed, each.base_concepts)
        for each in content.pairs
    )
    return fingerprint(CONCEPTS, images, pairs)


def _embedded(png: bytes, name: str) -> dict[str, Any]:
    return {"bytes": png, "path": f"{name}.png"}


def _image_table(pictures: Sequence[Picture]) -> pa.Table:
    rows = [
        {"id": each.id, "image": _embedded(each.png, each.id), "concepts": each.concepts}
        for each in pictures
    ]
    return pa.Table.from_pylist(rows, schema=schema(IMAGE_COLUMNS, CONCEPTS))


def _pair_table(pairs: Sequence[PicturePair]) -> pa.Table:
    rows = [
        {
            **asdict(each),
            "base": _embedded(each.base, f"{each.id}-base"),
            "edited": _embedded(each.edited, f"{each.id}-edited"),
        }
        for each in pairs
    ]
    return pa.Table.from_pylist(rows, schema=schema(PAIR_COLUMNS, CONCEPTS))


def _write(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # PNG is compressed already; the page index lets the viewer fetch single rows.
    pq.write_table(
        table,
        path,
        row_group_size=_ROW_GROUP,
        compression="snappy",
        use_dictionary=["group"] if "group" in table.column_names else False,
        write_page_index=True,
    )
