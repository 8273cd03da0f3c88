"""synCOCO: every object of one class removed from a photograph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmark.datasets import Dataset
from benchmark.datasets.coco import CocoDataset
from benchmark.datasets.coco_objects import Objects, read_objects
from benchmark.errors import UserError
from generation.planning.balance import Candidate
from generation.planning.pictures import Pictures

CROWD = "every class it shows is there as a crowd, which nobody counted"
NOTHING = "no object is annotated"


def objects_of(
    dataset: Dataset, progress: Callable[[int, int], None] | None = None
) -> dict[str, dict[str, Objects]]:
    """Objects of every picture by class, by the picture's id.

    Args:
        dataset: COCO.
        progress: told regions read and all of a file.

    Raises:
        UserError: a source that says nothing of objects.
    """
    if not isinstance(dataset, CocoDataset):
        raise UserError(
            f"dataset {dataset.name} has no counts of objects; plans of kind syncoco are for coco"
        )
    return {
        f"{part}/{image}": found
        for part, file in dataset.annotation_files.items()
        for image, found in read_objects(file, progress).items()
    }


def to_remove(objects: Mapping[str, Objects], allowed: frozenset[str]) -> str | None:
    """The class with the fewest objects; ties to the largest area, then by name.

    A class that is there as a crowd is passed over: the crowd could not be told from the objects.
    None where no class is left, or where the one that is left is not ``allowed``.
    """
    counted = {name: each for name, each in objects.items() if not each.crowd and each.count}
    if not counted:
        return None
    best = min(counted, key=lambda name: (counted[name].count, -counted[name].area, name))
    return best if best in allowed else None


def candidates(
    pictures: Pictures,
    rows: Sequence[int],
    objects: Mapping[str, Mapping[str, Objects]],
    concepts: Sequence[str],
) -> tuple[list[Candidate], dict[str, str]]:
    """One removal a picture, and why there is none for the others, by id."""
    allowed = frozenset(concepts)
    found, without = [], {}
    for row in rows:
        image = pictures.ids[row]
        shown = objects.get(image, {})
        removed = to_remove(shown, allowed)
        if removed is not None:
            found.append(Candidate(image, pictures.classes[row], removed, None, "object"))
        elif not shown:
            without[image] = NOTHING
        elif all(each.crowd for each in shown.values()):
            without[image] = CROWD
        else:
            without[image] = "the class with the fewest objects is not among the planned concepts"
    return found, without
