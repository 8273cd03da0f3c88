"""How many objects of each class a picture of COCO shows, and how large they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmark.datasets.coco_annotations import read_instances
from benchmark.datasets.coco_stream import has_area, is_crowd, read_items, stated_area

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
        UserError: what ``read_instances`` raises, or an area that is none.
    """
    instances = read_instances(path)  # checks the file, unless that was done before
    names = {number: name for number, name, _ in instances.categories}
    found: dict[int, dict[str, Objects]] = {}
    for number, region in enumerate(read_items(path, "annotations")):
        if progress is not None and number % _TELL == 0:
            progress(number, instances.regions)
        where = f"{path}: annotation {region['id']}"
        crowd, stated = is_crowd(region, where), stated_area(region, where)
        if not has_area(region["bbox"], where):
            continue
        of_image = found.setdefault(region["image_id"], {})
        name = names[region["category_id"]]
        before = of_image.get(name, _NONE)
        if crowd:
            of_image[name] = Objects(before.count, before.area, True)
        else:
            _, _, width, height = region["bbox"]
            area = float(width) * float(height) if stated is None else stated
            of_image[name] = Objects(before.count + 1, before.area + area, before.crowd)
    return found
