"""A small work folder: drawn birds in CUB's layout, a plan of edits, and the edits themselves."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from foreign_folders import ATTRIBUTES, write_cub
from PIL import Image, ImageDraw

from benchmark.datasets import load_dataset
from benchmark.datasets.cub import CubDataset
from generation.work import EditRecord, Plan, PlannedEdit, PlanSource, Work, write_plan

SIDE = 64
# of ATTRIBUTES: bills stay out of it
SOLID, STRIPED, BLUE, YELLOW = 2, 3, 4, 5


def draw_bird(number: int, shown: Sequence[int], side: int = SIDE) -> Image.Image:
    """A bird before a background of its own, with a breast pattern and a wing colour."""
    rng = np.random.default_rng(number)
    tint = rng.integers(150, 220, 3)
    image = Image.new("RGB", (side, side), tuple(int(value) for value in tint))
    draw = ImageDraw.Draw(image)
    unit = side / 64
    draw.ellipse([8 * unit, 12 * unit, 56 * unit, 54 * unit], fill=(110, 90, 70))
    breast = [14 * unit, 30 * unit, 30 * unit, 46 * unit]
    draw.rectangle(breast, fill=(240, 235, 230) if SOLID in shown else (110, 90, 70))
    if STRIPED in shown:
        for x in range(14, 30, 4):
            draw.rectangle([x * unit, 30 * unit, (x + 1) * unit, 46 * unit], fill=(250, 250, 250))
    wing = (20, 40, 230) if BLUE in shown else (240, 220, 20) if YELLOW in shown else (110, 90, 70)
    draw.rectangle([34 * unit, 24 * unit, 50 * unit, 42 * unit], fill=wing)
    return image


def encoded(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def labels(count: int, seed: int = 0) -> np.ndarray:
    """bool (count, 6): each bird has one breast pattern and one wing colour, or none."""
    rng = np.random.default_rng(seed)
    present = np.zeros((count, len(ATTRIBUTES)), bool)
    for first in (SOLID, BLUE):
        choice = rng.integers(0, 3, count)
        present[choice < 2, first] = choice[choice < 2] == 0
        present[choice < 2, first + 1] = choice[choice < 2] == 1
    return present


def source_folder(root: Path, count: int = 80) -> Path:
    """Drawn birds in CUB's layout; every other one is in the match split."""
    present = labels(count)

    def picture(row: int) -> bytes:
        return encoded(draw_bird(row, np.flatnonzero(present[row])))

    write_cub(root, present, picture=picture)
    return root


def make_work(root: Path, edits: int = 8, *, count: int = 80, verify: str = "filter") -> Work:
    """A plan whose edits turn the wings of birds of the score split; no picture is made yet."""
    source = source_folder(root / "source", count)
    dataset = load_dataset("cub", root=source)
    assert isinstance(dataset, CubDataset)
    blue, yellow = dataset.concepts[BLUE], dataset.concepts[YELLOW]
    planned = []
    for row in dataset.split("score").tolist():
        shown = dataset.annotations[row]
        if shown[BLUE] == shown[YELLOW] or len(planned) == edits:
            continue
        added, removed = (yellow, blue) if shown[BLUE] else (blue, yellow)
        name = f"bird-{row:04d}"
        species = dataset.species[dataset.species_of[row]]
        planned.append(
            PlannedEdit(name, dataset.ids[row], species, added, removed, "attribute", (), "turn it")
        )
    assert len(planned) == edits, "too few birds with a wing colour"
    about = PlanSource("cub", dataset.revision, dataset.fingerprint, "research")
    plan = Plan(
        "tiny",
        "custom",
        verify,
        0,
        about,
        dataset.concepts,
        (),
        tuple(planned),  # type: ignore[arg-type]
    )
    return write_plan(root / "work", plan, {}, source)


def right_edit(work: Work, edit: PlannedEdit, count: int = 80) -> Image.Image:
    """The picture that the edit asks for."""
    row = int(edit.id.rpartition("-")[2])
    shown = set(np.flatnonzero(labels(count)[row]).tolist()) ^ {BLUE, YELLOW}
    return draw_bird(row, sorted(shown))


def log_edit(work: Work, edit: PlannedEdit, picture: Image.Image | bytes) -> EditRecord:
    """Put an edited picture where the editing stage would, and say so in its log."""
    record = put_edit(work, edit, picture)
    work.edit_log.append(record)
    return record


def put_edit(work: Work, edit: PlannedEdit, picture: Image.Image | bytes) -> EditRecord:
    """Put an edited picture where the editing stage would; what its log is to say."""
    data = picture if isinstance(picture, bytes) else encoded(picture)
    work.images.mkdir(parents=True, exist_ok=True)
    work.image(edit.id).write_bytes(data)
    return EditRecord(
        id=edit.id,
        plan_hash=work.plan.hash,
        status="ok",
        sha256=hashlib.sha256(data).hexdigest(),
        model="folder:tiny",
        model_revision="0" * 64,
        licence="apache-2.0",
        seed=1,
        steps=1,
        guidance=None,
        width=SIDE,
        height=SIDE,
        scheduler="Flow",
        precision="float32",
        seconds=0.1,
        error=None,
        attempt=1,
    )


def edited_work(root: Path, edits: int = 8, *, count: int = 80, verify: str = "filter") -> Work:
    """A work folder whose edits are all made, and as they should be."""
    work = make_work(root, edits, count=count, verify=verify)
    work.edit_log.append(
        *(put_edit(work, edit, right_edit(work, edit, count)) for edit in work.plan.edits)
    )
    return work
