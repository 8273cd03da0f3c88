"""How many objects of each class a picture of COCO shows, and how large they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.datasets.coco_annotations import has_area, read_instances, read_items

_TELL = 10_000


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


_NONE = Objects(0, 0.0, False)


def read_objects(
    path: Path, progress: Callable[[int, int], None] | None = None
) -> dict[int, dict[str, Objects]]:
    """Objects by image id and class name, read from an annotation file region by region.

    Args:
        path: the annotation file.
        progress: told regions read and all of them.

    Raises:
        UserError: what ``read_instances`` raises.
    """
    instances = read_instances(path)  # checks the file, unless that was done before
    names = {number: name for number, name, _ in instances.categories}
    found: dict[int, dict[str, Objects]] = {}
    for number, region in enumerate(read_items(path, "annotations")):
        if progress is not None and number % _TELL == 0:
            progress(number, instances.regions)
        if not has_area(region["bbox"], f"{path}: annotation {region['id']}"):
            continue
        of_image = found.setdefault(region["image_id"], {})
        name = names[region["category_id"]]
        before = of_image.get(name, _NONE)
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
