"""A tiny dataset folder made by hand, and ways to break it."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from benchmark.datasets.fingerprint import ImageRow, PairRow, fingerprint
from benchmark.datasets.layout import IMAGE_COLUMNS, PAIR_COLUMNS, schema

CONCEPTS = ("hat: tall", "hat: flat", "glasses: clear", "skin: light")
GROUPS = ("hat", "hat", "glasses", "skin")

Rows = list[dict[str, Any]]


def png(number: int) -> bytes:
    """A picture like no other."""
    pixels = np.random.default_rng(number).integers(0, 256, (6, 5, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def picture(number: int) -> dict[str, Any]:
    return {"bytes": png(number), "path": f"{number}.png"}


def image_rows(split: str, first: int, labels: list[list[int]]) -> Rows:
    return [
        {"id": f"{split}-{i}", "image": picture(first + i), "concepts": each}
        for i, each in enumerate(labels)
    ]


def pair_row(
    number: int, base: list[int], added: int | None, removed: int | None
) -> dict[str, Any]:
    edited = sorted((set(base) - {removed}) | ({added} - {None}))
    group = GROUPS[added if added is not None else removed or 0]
    return {
        "id": f"pair-{number}",
        "base": picture(1000 + 2 * number),
        "edited": picture(1001 + 2 * number),
        "added": added,
        "removed": removed,
        "group": group,
        "base_concepts": base,
        "edited_concepts": edited,
    }


def content() -> dict[str, Rows]:
    """Rows of all three files; change them, then ``write``."""
    return {
        "match": image_rows("match", 0, [[0], [1, 2], [2, 3], [0, 3], [1], [], [0, 2]]),
        "score": image_rows("score", 100, [[0, 3], [1], [2], [], [1, 2, 3]]),
        "test": [
            pair_row(0, [0, 3], 1, 0),
            pair_row(1, [3], 2, None),
            pair_row(2, [1, 2], None, 2),
        ],
    }


def manifest(rows: dict[str, Rows]) -> dict[str, Any]:
    images = [
        ImageRow(split, row["id"], row["image"]["bytes"], row["concepts"])
        for split in ("match", "score")
        for row in rows[split]
    ]
    pairs = [
        PairRow(
            row["id"],
            row["base"]["bytes"],
            row["edited"]["bytes"],
            row["added"],
            row["removed"],
            row["base_concepts"],
        )
        for row in rows["test"]
    ]
    return {
        "schema_version": 1,
        "name": "tiny",
        "version": "1.0",
        "fingerprint": fingerprint(CONCEPTS, images, pairs),
        "concepts": [
            {"name": name, "group": group, "editable": True}
            for name, group in zip(CONCEPTS, GROUPS, strict=True)
        ],
        "counts": {
            "match": len(rows["match"]),
            "score": len(rows["score"]),
            "pairs": len(rows["test"]),
            "concepts": len(CONCEPTS),
        },
    }


def table(split: str, rows: Rows) -> pa.Table:
    columns = PAIR_COLUMNS if split == "test" else IMAGE_COLUMNS
    return pa.Table.from_pylist(rows, schema=schema(columns, CONCEPTS))


def path_of(folder: Path, split: str) -> Path:
    config = "pairs" if split == "test" else "images"
    return folder / config / f"{split}-00000-of-00001.parquet"


def write_split(folder: Path, split: str, written: pa.Table, row_group: int = 3) -> None:
    path = path_of(folder, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(written, path, row_group_size=row_group)


def write(folder: Path, rows: dict[str, Rows], stated: dict[str, Any] | None = None) -> Path:
    """Write a dataset folder; by default its manifest says what the rows are."""
    for split, each in rows.items():
        write_split(folder, split, table(split, each))
    (folder / "manifest.json").write_text(json.dumps(stated or manifest(rows)))
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\n")
    return folder
