"""How many objects of each class a picture of COCO shows, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.datasets.coco_annotations import has_area, read_items
from benchmark.errors import UserError


@dataclass(frozen=True)
class Objects:
    """The objects of one class in one picture.

    Attributes:
        count: regions with an area that are no crowd.
        area: of all of them together, in square pixels: what the file says, else of the boxes.
        crowd: whether a region of the class is a crowd, which stands for a number nobody counted.
    """

    count: int
    area: float
    crowd: bool


def read_objects(path: Path) -> dict[int, dict[str, Objects]]:
    """Objects by image id and class name, read from an annotation file region by region.

    Raises:
        UserError: no annotation file, or a region that names no image and no known class; file and
            id are named. ``read_instances`` says more of what may be wrong with a file.
    """
    names = {entry.get("id"): entry.get("name") for entry in read_items(path, "categories")}
    found: dict[int, dict[str, Objects]] = {}
    for region in read_items(path, "annotations"):
        where = f"{path}: annotation {region.get('id')}"
        image, name = region.get("image_id"), names.get(region.get("category_id"))
        if type(image) is not int or not isinstance(name, str):
            raise UserError(f"{where}: expected the id of an image and of a category")
        if not has_area(region.get("bbox"), where):
            continue
        of_image = found.setdefault(image, {})
        before = of_image.get(name, Objects(0, 0.0, False))
        if region.get("iscrowd"):
            of_image[name] = Objects(before.count, before.area, True)
        else:
            area = before.area + _area(region)
            of_image[name] = Objects(before.count + 1, area, before.crowd)
    return found


def _area(region: Mapping[str, object]) -> float:
    area = region.get("area")
    if isinstance(area, int | float) and not isinstance(area, bool) and area > 0:
        return float(area)
    box = region["bbox"]
    assert isinstance(box, list)
    return float(box[2]) * float(box[3])
