"""The reference submissions of generators: voxel avatars that are wrong in a known way, or in none.

    python -m generation.avatars.generators --out submissions/generators

Each is drawn by chance that no dataset uses, as the split ``score`` is drawn: in turn around every
concept.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmark.files import file_sha256, write_json
from benchmark.submissions.generators_images import write_images
from generation.avatars.render import draw, encode_png
from generation.avatars.sample import Base, draw_base

IMAGES = 400
STYLE = "voxel"
GLASSES = ("glasses", "clear")
MORE = 0.30
"""Added to the share of avatars with clear glasses."""

LEFT = 0.15
"""Of the width, by which figures move."""

FACES = 100
"""Different avatars of the generator that repeats itself."""

Draw = Callable[[int], Sequence[Image.Image]]


@dataclass(frozen=True)
class Reference:
    """One reference generator: what it draws, and what a reader is told of it."""

    name: str
    description: str
    draw: Draw


def avatars(seed: int) -> Iterator[Base]:
    """Voxel avatars without end, drawn as the split ``score`` of synAvatars is."""
    for index in count():
        base = draw_base(seed, "score", index)
        if base.identity.label == STYLE:
            yield base


def picture(base: Base) -> Image.Image:
    """An avatar drawn."""
    return draw(base.identity.spec.style, base.identity.spec.recolour, base.options)


def same(total: int, seed: int = 101) -> list[Image.Image]:
    """Avatars as synAvatars has them."""
    return [picture(base) for base in islice(avatars(seed), total)]


def more_glasses(total: int, seed: int = 102) -> list[Image.Image]:
    """Clear glasses on ``MORE`` more of the avatars."""
    pool = list(islice(avatars(seed), 4 * total))
    group, value = GLASSES
    wearing = [base for base in pool if base.values.get(group) == value]
    plain = [base for base in pool if base.values.get(group) != value]
    wanted = round(total * (len(wearing) / len(pool) + MORE))
    chosen = {id(base) for base in [*wearing[:wanted], *plain[: total - wanted]]}
    return [picture(base) for base in pool if id(base) in chosen]


def moved_left(total: int, seed: int = 103) -> list[Image.Image]:
    """Every figure moved left, the gap in the picture's own background colour."""
    return [_moved(image) for image in same(total, seed)]


def repeats(total: int, seed: int = 104) -> list[Image.Image]:
    """``FACES`` avatars again and again."""
    few = same(FACES, seed)
    return [few[place % FACES] for place in range(total)]


def _moved(image: Image.Image) -> Image.Image:
    pixels = np.asarray(image)
    step = round(LEFT * pixels.shape[1])
    shifted = np.empty_like(pixels)
    shifted[:] = pixels[0, -1]
    shifted[:, :-step] = pixels[:, step:]
    return Image.fromarray(shifted)


REFERENCES = {
    "assay-avatars-same": Reference(
        "Avatars: the same again",
        "Voxel avatars drawn by the program that drew synAvatars, with other chance. Nothing is "
        "wrong with it: what a perfect generator scores.",
        same,
    ),
    "assay-avatars-more-glasses": Reference(
        "Avatars: more glasses",
        "Voxel avatars as synAvatars has them, but clear glasses on 30 percentage points more of "
        "them. SaD should name the eyeglasses first.",
        more_glasses,
    ),
    "assay-avatars-moved-left": Reference(
        "Avatars: moved left",
        "Voxel avatars as synAvatars has them, but every figure stands 15 % of the width further "
        "left. R-SaD should show where.",
        moved_left,
    ),
    "assay-avatars-repeats": Reference(
        "Avatars: a hundred faces",
        "A hundred voxel avatars as synAvatars has them, each four times: a generator that has "
        "lost its diversity. Recall and coverage should be low.",
        repeats,
    ),
}


def document_of(identifier: str, images: Path) -> dict[str, Any]:
    """``submission.json`` of a reference generator whose images are there."""
    reference = REFERENCES[identifier]
    return {
        "schema_version": 1,
        "id": identifier,
        "name": reference.name,
        "authors": [{"name": "The Assay authors"}],
        "licence": "CC0-1.0",
        "generator": {
            "kind": "images",
            "files": [{"path": images.name, "sha256": file_sha256(images)}],
        },
        "real": "synavatars",
        "training_data": [
            {
                "dataset": "none",
                "splits": ["none"],
                "note": "Not trained: drawn by the program that draws synAvatars.",
            }
        ],
        "description": reference.description,
    }


def write(out: Path, identifier: str, total: int = IMAGES) -> None:
    """Write one reference submission below ``out``; its results are left alone."""
    folder = out / identifier
    folder.mkdir(parents=True, exist_ok=True)
    images = folder / "images.parquet"
    write_images(images, [encode_png(image) for image in REFERENCES[identifier].draw(total)])
    write_json(folder / "submission.json", document_of(identifier, images))


def main() -> None:
    """Write all, or the ones that are named."""
    parser = argparse.ArgumentParser(description="Write the reference submissions of generators.")
    parser.add_argument("--out", type=Path, required=True, help="submissions/generators")
    parser.add_argument("ids", nargs="*", help=f"of {', '.join(REFERENCES)}; all if not given")
    arguments = parser.parse_args()
    for identifier in arguments.ids or REFERENCES:
        if identifier not in REFERENCES:
            parser.error(f"no reference {identifier}; expected some of {', '.join(REFERENCES)}")
        write(arguments.out, identifier)


if __name__ == "__main__":
    main()
