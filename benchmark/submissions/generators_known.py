"""What a submission of a generator may name: real sets, pipelines, numbers of images.

Importing this loads nothing heavy.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.errors import UserError

MAX_DRAWN = 50_000
"""Images that the suite draws for one submission."""


@dataclass(frozen=True)
class RealSet:
    """What a generator is compared with.

    Whatever of it changes, its numbers start anew; a list of attributes gets the next number.

    Attributes:
        dataset: name of the dataset, and of the results folder.
        split: the split whose images count.
        concept: only images that show it; None for all.
        attributes: name of the list, a file in ``benchmark/generative/submitted/attributes``.
        clip: CLIP model that scores, a name for ``load_clip``.
        encoder: of FID and the like.
    """

    dataset: str
    split: str
    concept: str | None
    attributes: str
    clip: str
    encoder: str


REAL_SETS = {
    "synavatars": RealSet(
        dataset="synavatars",
        split="score",
        concept="style: voxel",  # the one style that the embedded CLIP knows
        attributes="assay-avatars-1",
        clip="assay-tiny-clip",
        encoder="efficientnet-lite0",
    ),
}
"""By the name that a submission gives as ``real``."""

PIPELINES = (
    "AuraFlowPipeline",
    "ChromaPipeline",
    "CogView3PlusPipeline",
    "CogView4Pipeline",
    "Flux2KleinPipeline",
    "Flux2Pipeline",
    "FluxPipeline",
    "HunyuanDiTPipeline",
    "Kandinsky3Pipeline",
    "LatentConsistencyModelPipeline",
    "Lumina2Pipeline",
    "OvisImagePipeline",
    "PRXPipeline",
    "PixArtAlphaPipeline",
    "PixArtSigmaPipeline",
    "QwenImagePipeline",
    "SanaPipeline",
    "StableDiffusion3Pipeline",
    "StableDiffusionPipeline",
    "StableDiffusionXLPipeline",
    "ZImagePipeline",
)
"""Classes of diffusers that draw one picture from one prompt with ``settings``."""


def real_set(name: str) -> RealSet:
    """The real set called ``name``; an unknown one is a ``UserError`` that lists all."""
    if name not in REAL_SETS:
        raise UserError(
            f"real set {name!r}: generators are compared with {', '.join(sorted(REAL_SETS))} only"
        )
    return REAL_SETS[name]


def prompts_of(generator: Mapping[str, Any]) -> list[str]:
    """The prompt of every image, in order; faults as in ``check_counts``."""
    check_counts(entry["count"] for entry in generator["prompts"])
    return [entry["prompt"] for entry in generator["prompts"] for _ in range(entry["count"])]


def check_counts(counts: Iterable[int]) -> None:
    """Refuse numbers of images a prompt that come to fewer than two or more than ``MAX_DRAWN``."""
    count = sum(counts)
    if not 2 <= count <= MAX_DRAWN:
        raise UserError(f"prompts: {count:,} images; expected 2 to {MAX_DRAWN:,}")
