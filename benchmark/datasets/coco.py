"""COCO 2017: which of 80 classes of objects a picture shows, from the instance annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmark import files
from benchmark.datasets.base import Dataset
from benchmark.datasets.coco_annotations import Instances, read_instances
from benchmark.datasets.folder import FolderDataset, FolderImages, absent
from benchmark.datasets.options import parse_options
from benchmark.datasets.source import Source
from benchmark.errors import UserError

NAME = "coco"
REVISION = "2017"
PARTS = {"match": "train2017", "score": "val2017"}
"""Official part of each split."""

ANNOTATED = "train2017#"
"""Before a number n: the n-th picture of train2017 (from 0, in the file's order) that any region is
annotated in. The paper's pairs name their sources so."""

_ANNOTATION_FOLDERS = ("annotations", "annotations_trainval2017/annotations", ".")
_OPTIONS = ("unannotated", "annotations", "train_images", "val_images")


@dataclass(frozen=True, eq=False)
class CocoDataset(FolderDataset):
    """COCO, whose pictures can be named by their place among the annotated ones.

    Attributes:
        annotated: ids of the pictures of train2017 with any region, in the file's order.
        annotation_files: by official part, ``train2017`` and ``val2017``.
    """

    annotated: tuple[str, ...] = field(default=(), repr=False)
    annotation_files: Mapping[str, Path] = field(default_factory=dict, repr=False)

    def locate(self, source: str) -> int | None:
        """Row of a picture by id (``train2017/9``), or as ``train2017#0``."""
        if source.startswith(ANNOTATED):
            number = source.removeprefix(ANNOTATED)
            if not number.isdecimal() or int(number) >= len(self.annotated):
                return None
            source = self.annotated[int(number)]
        return super().locate(source)


def default_folder() -> Path:
    """Where COCO is looked for when nobody says where it is."""
    return files.home() / "datasets" / NAME


def find(root: Path) -> Path | None:
    """The folder that holds the annotation files: ``root`` or a usual place below."""
    for place in (root, root / NAME):
        for inner in _ANNOTATION_FOLDERS:
            if all((place / inner / _file(part)).is_file() for part in PARTS.values()):
                return place / inner
    return None


def _file(part: str) -> str:
    return f"instances_{part}.json"


def load(root: Path | None = None) -> Dataset:
    """Open COCO without the pictures that nothing is annotated in."""
    return load_options("unannotated=drop", root)


def load_options(text: str, root: Path | None = None) -> Dataset:
    """Open COCO with options.

    ``unannotated=keep`` or ``drop`` (default); ``annotations``, ``train_images``, ``val_images``:
    folders, where they are not together.
    """
    given = parse_options(NAME, text, _OPTIONS)
    unannotated = given.get("unannotated", "drop")
    if unannotated not in ("keep", "drop"):
        raise UserError(f"{NAME}: unannotated is {unannotated!r}; expected keep or drop")
    place = root if root is not None else default_folder()
    annotations = Path(given["annotations"]) if "annotations" in given else find(place)
    if annotations is None:
        raise UserError(f"dataset {NAME} is not at {place}; {fetch()}")
    pictures = {}
    for split, option in (("match", "train_images"), ("score", "val_images")):
        if option in given:
            pictures[split] = Path(given[option])
    return open_coco(annotations, pictures=pictures, keep_unannotated=unannotated == "keep")


def fetch() -> str:
    """One line: where it is, or how to get it."""
    place = default_folder()
    if find(place):
        return f"{NAME} is at {place}"
    return (
        f"{NAME} comes from its makers: unpack train2017.zip, val2017.zip and "
        f"annotations_trainval2017.zip of https://cocodataset.org/#download into {place}"
    )


def open_coco(
    annotations: Path, *, pictures: dict[str, Path] | None = None, keep_unannotated: bool = False
) -> CocoDataset:
    """Read COCO.

    A class is present where a region of it has a box with an area; crowd regions count. So does
    the paper's code, which also leaves out pictures without any region.

    Args:
        annotations: folder with ``instances_train2017.json`` and ``instances_val2017.json``.
        pictures: folder of the pictures of each split, where it is not ``train2017`` and
            ``val2017`` (or ``images/…``, or ``images``) beside the annotations.
        keep_unannotated: keep pictures in which no region is annotated, as showing no class.

    Raises:
        UserError: broken or disagreeing annotations, or pictures that are not there.
    """
    parts = {split: read_instances(annotations / _file(part)) for split, part in PARTS.items()}
    match, score = parts["match"], parts["score"]
    if match.categories != score.categories:
        raise UserError(
            f"{annotations}: {' and '.join(map(_file, PARTS.values()))} differ in categories"
        )
    kept = {
        split: np.arange(len(part.ids)) if keep_unannotated else np.flatnonzero(part.annotated)
        for split, part in parts.items()
    }
    for split, rows in kept.items():
        if not len(rows):
            raise UserError(f"{annotations / _file(PARTS[split])}: no picture is annotated")
    names = {split: [parts[split].names[row] for row in rows] for split, rows in kept.items()}
    folders = {
        split: (pictures or {}).get(split) or _pictures(annotations, part, names[split][0])
        for split, part in PARTS.items()
    }
    for split in PARTS:
        _check_pictures(folders[split], names[split], annotations / _file(PARTS[split]))
    common, prefixes = _common(folders)
    ids = {
        split: [f"{PARTS[split]}/{number}" for number in parts[split].ids[rows].tolist()]
        for split, rows in kept.items()
    }
    bounds = [0, len(kept["match"]), len(kept["match"]) + len(kept["score"])]
    dropped = sum(len(part.ids) for part in parts.values()) - bounds[2]
    return CocoDataset(
        name=f"{NAME}:unannotated=keep" if keep_unannotated else NAME,
        revision=REVISION,
        concepts=tuple(name for _, name, _ in match.categories),
        groups=tuple(above for _, _, above in match.categories),
        ids=(*ids["match"], *ids["score"]),
        annotations=np.concatenate([parts[split].present[kept[split]] for split in PARTS]),
        images=FolderImages(
            common, tuple(prefixes[split] + name for split in PARTS for name in names[split])
        ),
        splits={
            split: np.arange(bounds[place], bounds[place + 1], dtype=np.int64)
            for place, split in enumerate(PARTS)
        },
        notes=_notes(parts, dropped),
        annotated=tuple(
            f"{PARTS['match']}/{number}" for number in match.ids[match.annotated].tolist()
        ),
        annotation_files={part: annotations / _file(part) for part in PARTS.values()},
    )


def _pictures(annotations: Path, part: str, first: str) -> Path:
    """The folder of a part's pictures: the first usual place that holds the first one."""
    places = [
        place / inner
        for place in (annotations, annotations.parent, annotations.parent.parent)
        for inner in (part, f"images/{part}", "images")
    ]
    for place in places:
        if (place / first).is_file():
            return place
    looked = ", ".join(str(place) for place in places[:3])
    raise UserError(
        f"no picture {first} of {annotations / _file(part)} in {looked} or beside it; "
        f"name its folder: {NAME}:{part.removesuffix(REVISION)}_images=FOLDER"
    )


def _check_pictures(folder: Path, names: list[str], annotations: Path) -> None:
    gone = absent(folder, names)
    if gone:
        more = f" (and {len(gone) - 1:,} more)" if len(gone) > 1 else ""
        raise UserError(f"{annotations}: no picture {folder / names[gone[0]]}{more}")


def _common(folders: dict[str, Path]) -> tuple[Path, dict[str, str]]:
    """A folder above both, and how each is called from there."""
    first, second = (folders[split].resolve() for split in PARTS)
    common = next(place for place in (first, *first.parents) if second.is_relative_to(place))
    prefixes = {}
    for split in PARTS:
        inner = folders[split].resolve().relative_to(common).as_posix()
        prefixes[split] = "" if inner == "." else f"{inner}/"
    return common, prefixes


def _notes(parts: dict[str, Instances], dropped: int) -> tuple[str, ...]:
    crowds = sum(part.crowds for part in parts.values())
    flat = sum(part.flat for part in parts.values())
    regions = sum(part.regions for part in parts.values())
    notes = [
        f"{regions:,} regions: {crowds:,} crowds count as presence, {flat:,} boxes without area "
        "do not"
    ]
    if dropped:
        notes.append(f"{dropped:,} pictures without a region are left out (unannotated=keep)")
    return tuple(notes)


SOURCE = Source(
    name=NAME,
    summary="COCO 2017: photographs annotated with 80 classes of objects; options in its name: "
    f"{NAME}:unannotated=keep",
    licence="annotations CC-BY-4.0; pictures under the Flickr terms of use",
    citation="T.-Y. Lin et al.: Microsoft COCO: Common Objects in Context. ECCV 2014, "
    "arXiv 1405.0312.",
    load=load,
    fetch=fetch,
    options=load_options,
)

CLASSES: tuple[str, ...] = tuple(
    """person|bicycle|car|motorcycle|airplane|bus|train|truck|boat|traffic light|fire hydrant
|stop sign|parking meter|bench|bird|cat|dog|horse|sheep|cow|elephant|bear|zebra|giraffe|backpack
|umbrella|handbag|tie|suitcase|frisbee|skis|snowboard|sports ball|kite|baseball bat|baseball glove
|skateboard|surfboard|tennis racket|bottle|wine glass|cup|fork|knife|spoon|bowl|banana|apple
|sandwich|orange|broccoli|carrot|hot dog|pizza|donut|cake|chair|couch|potted plant|bed|dining table
|toilet|tv|laptop|mouse|remote|keyboard|cell phone|microwave|oven|toaster|sink|refrigerator|book
|clock|vase|scissors|teddy bear|hair drier|toothbrush""".replace("\n", "").split("|")
)
"""The 80 classes in the order of their ids, for data that names them by place."""
