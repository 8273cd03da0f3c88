"""Small folders in the layouts of CUB-200-2011, COCO 2017, synCUB and synCOCO, from plain data."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ATTRIBUTES = (
    "has_bill_shape::curved_(up_or_down)",
    "has_bill_shape::dagger",
    "has_breast_pattern::solid",
    "has_breast_pattern::striped",
    "has_wing_color::blue",
    "has_wing_color::yellow",
)
SPECIES = ("001.Black_footed_Albatross", "002.Laysan_Albatross")

Cell = tuple[int, int]


def png(number: int, size: int = 8) -> bytes:
    """A picture like no other."""
    pixels = np.random.default_rng(number).integers(0, 256, (size, size, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def put(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def numbered(names: Sequence[str]) -> str:
    return "".join(f"{number} {name}\n" for number, name in enumerate(names, start=1))


def write_cub(
    root: Path,
    present: np.ndarray,
    *,
    ids: Sequence[int] | None = None,
    certainty: Mapping[Cell, int] | None = None,
    attributes: Sequence[str] = ATTRIBUTES,
    extended: Mapping[Cell, str] | None = None,
    picture: Callable[[int], bytes] = png,
) -> Path:
    """A CUB archive unpacked into ``root``; gives the data folder.

    ``present`` is bool (N, A); every other image is for training. ``certainty`` gives cells (row,
    column) another one than 4; the rows of ``extended`` get this text in place of their last two
    values.
    """
    numbers = list(ids or range(1, len(present) + 1))
    folder = root / "CUB_200_2011"
    files = [f"{SPECIES[row % 2]}/Bird_{number:04}.png" for row, number in enumerate(numbers)]
    for row, file in enumerate(files):
        put(folder / "images" / file, picture(row))
    lines = zip(numbers, files, strict=True)
    put(folder / "images.txt", "".join(f"{number} {file}\n" for number, file in lines))
    put(folder / "classes.txt", numbered(SPECIES))
    put(
        folder / "image_class_labels.txt",
        "".join(f"{number} {row % 2 + 1}\n" for row, number in enumerate(numbers)),
    )
    put(
        folder / "train_test_split.txt",
        "".join(f"{number} {1 - row % 2}\n" for row, number in enumerate(numbers)),
    )
    text = []
    for row, number in enumerate(numbers):
        for column in range(len(attributes)):
            rest = (extended or {}).get(
                (row, column), f"{(certainty or {}).get((row, column), 4)} 1.25"
            )
            text.append(f"{number} {column + 1} {int(present[row, column])} {rest}\n")
    put(folder / "attributes" / "image_attribute_labels.txt", "".join(text))
    put(root / "attributes.txt", numbered(attributes))
    return folder


def syncub_rows(pairs: Sequence[tuple[Sequence[int], int, int]]) -> list[dict[str, Any]]:
    """Lines of synCUB's table from (concepts of the base picture, removed, added)."""
    rows = []
    for number, (base, removed, added) in enumerate(pairs):
        rows.append(
            {
                "pair_id": number,
                "orig_image": f"images/{number:06}_orig.png",
                "syn_image": f"images/{number:06}_syn.png",
                "class_id": 1,
                "class_name": "Black_footed_Albatross",
                "old_attr": ATTRIBUTES[removed],
                "new_attr": ATTRIBUTES[added],
                "old_attr_idx": removed,
                "new_attr_idx": added,
                "orig_attr_idx": str(sorted(base)),
                "syn_attr_idx": str(sorted({*base, added} - {removed})),
            }
        )
    return rows


def syncoco_rows(
    pairs: Sequence[tuple[Sequence[int], int, int]], classes: Sequence[str]
) -> list[dict[str, Any]]:
    """Lines of synCOCO's table from (classes of the base picture, removed, place of the source)."""
    return [
        {
            "pair_id": number,
            "orig_image": f"images/{number:06}_orig.png",
            "syn_image": f"images/{number:06}_syn.png",
            "coco_idx": source,
            "removed_cls_idx": removed,
            "removed_class": classes[removed],
            "orig_labels": str(sorted(base)),
            "syn_labels": str(sorted({*base} - {removed})),
        }
        for number, (base, removed, source) in enumerate(pairs)
    ]


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def pairs_files(
    rows: Sequence[Mapping[str, Any]],
    attributes: Sequence[str] | None = ATTRIBUTES,
    picture: Callable[[int, str], bytes] = lambda row, side: png(1000 + 2 * row + (side == "syn")),
) -> dict[str, bytes]:
    """All files of a release, by path."""
    files = {"metadata.csv": table_text(rows).encode(), "README.md": b"---\n---\n"}
    if attributes is not None:
        files["attributes.txt"] = numbered(attributes).encode()
    for row, each in enumerate(rows):
        for side in ("orig", "syn"):
            name = each.get(f"{side}_image") or each[f"{side}_path"]
            files[str(name)] = picture(row, side)
    return files


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        put(folder / name, data)
    return folder


def coco_document(
    images: Sequence[int],
    regions: Sequence[tuple[int, int]],
    categories: Mapping[int, str],
    **changes: Any,
) -> dict[str, Any]:
    """An annotation file; a region is (image id, category id), all with an area."""
    document: dict[str, Any] = {
        "info": {"year": 2017},
        "licenses": [],
        "images": [
            {"id": number, "file_name": f"{number:012}.png", "height": 8, "width": 8}
            for number in images
        ],
        "annotations": [
            {
                "id": place,
                "image_id": image,
                "category_id": category,
                "bbox": [1.5, 2, 3.25, 4],
                "area": 13.0,
                "iscrowd": 0,
                "segmentation": [[1.5, 2.0, 4.75, 2.0, 4.75, 6.0]],
            }
            for place, (image, category) in enumerate(regions, start=100)
        ],
        "categories": [
            {"id": number, "name": name, "supercategory": f"kind of {name}"}
            for number, name in categories.items()
        ],
    }
    return document | changes


def write_coco(
    root: Path,
    train: Mapping[str, Any],
    val: Mapping[str, Any],
    *,
    pictures: Mapping[str, str] | None = None,
    picture: Callable[[int], bytes] = png,
) -> Path:
    """A COCO 2017 folder; ``pictures`` gives another folder than ``train2017`` to a part."""
    for part, document in (("train2017", train), ("val2017", val)):
        put(root / "annotations" / f"instances_{part}.json", json.dumps(document))
        for image in document["images"]:
            name = (pictures or {}).get(part, part)
            put(root / name / image["file_name"], picture(image["id"]))
    return root
