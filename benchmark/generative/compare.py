"""A comparison of two image sets: every number of the generative track, as one document."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark import files
from benchmark.errors import UserError
from benchmark.generative.divergence import (
    PERMUTATIONS,
    AttributeDivergences,
    compare_attributes,
)
from benchmark.generative.diversity import Diversity, Lpips, diversity
from benchmark.generative.image_sets import ImageSet
from benchmark.generative.labels import Aligned, Labels, aligned
from benchmark.generative.quality import Quality, quality
from benchmark.generative.ra_clip import ABLATIONS, BATCH_SIZE, MOST_BATCH_SIZE
from benchmark.generative.regional import RegionalDivergence, compare_regions
from benchmark.generative.resize import Resize
from benchmark.metrics.arrays import whole_number
from benchmark.metrics.score import RESAMPLES

if TYPE_CHECKING:
    from benchmark.encoders import Encoder
    from benchmark.generative.blocks import Elsewhere
    from benchmark.generative.collect import SetScores
    from benchmark.generative.dense.base import DenseClip
    from benchmark.generative.scorer import RaScorer

MOST = {
    "seed": 2**53 - 1,
    "batch_size": MOST_BATCH_SIZE,
    "resamples": 100_000,
    "permutations": 100_000,
}
"""Largest value of each number of a ``Plan``."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """Choices of a comparison; all are in its document.

    Attributes:
        resize, batch_size: as ``ra_clip_scores`` takes them.
        without: parts left out, of ``ABLATIONS``.
        resamples, permutations, seed: of intervals and nulls.
        skip_unreadable: leave out images that cannot be decoded, and count them.
    """

    resize: Resize = "squash"
    batch_size: int = BATCH_SIZE
    without: tuple[str, ...] = ()
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS
    seed: int = 0
    skip_unreadable: bool = False

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            least = 0 if name == "seed" else 1
            number = whole_number(getattr(self, name))
            if number is None or not least <= number <= most:
                raise UserError(
                    f"{name} is {getattr(self, name)!r}; expected a whole number from {least} to "
                    f"{most:,}"
                )
        unknown = sorted(set(self.without) - set(ABLATIONS))
        if unknown:
            raise UserError(f"no part {unknown[0]!r}; expected one of {', '.join(ABLATIONS)}")


@dataclass(frozen=True)
class Side:
    """One set with what was measured and, where labels were given, is known of it."""

    images: ImageSet
    scores: "SetScores" = field(repr=False)
    labels: Aligned | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Measured:
    """All numbers of a comparison, before they become a document.

    Attributes:
        real, generated: the two sides.
        names: A attributes.
        attributes: SaD and PaD.
        regions, regions_unrefined: R-SaD of refined and of unrefined patch scores.
        quality: FID and the like; None without an encoder.
        diversity: LPIPS; None where it was not asked for.
    """

    real: Side
    generated: Side
    names: tuple[str, ...]
    attributes: AttributeDivergences = field(repr=False)
    regions: RegionalDivergence = field(repr=False)
    regions_unrefined: RegionalDivergence = field(repr=False)
    quality: Quality | None
    diversity: Diversity | None = None

    @property
    def identical(self) -> bool:
        """Whether both sets hold the same images, equal bytes counted as often."""
        return sorted(self.real.scores.digests) == sorted(self.generated.scores.digests)


@dataclass(frozen=True)
class Comparison:
    """A finished comparison: its document, the sides, for their pictures, and all numbers."""

    document: dict[str, Any] = field(repr=False)
    real: Side
    generated: Side
    measured: Measured = field(repr=False)


def compare(
    real: ImageSet,
    generated: ImageSet,
    attributes: Sequence[str],
    *,
    real_labels: Labels | None = None,
    generated_labels: Labels | None = None,
    label_names: Mapping[str, str] | None = None,
    model: "DenseClip | str",
    encoder: "Encoder | None" = None,
    lpips: Lpips | str | None = None,
    plan: Plan | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
    elsewhere: "Elsewhere | None" = None,
) -> Comparison:
    """Compare a set of generated images with a real one.

    Scores of single images are kept by the hash of their bytes: a stopped run goes on, and images
    that were scored before are not scored again.

    Args:
        real, generated: the sets.
        attributes: names such as ``eyeglasses``.
        real_labels, generated_labels: which images show what; for these sets the document says how
            well each score tells them apart.
        label_names: attribute → what the labels call it, where that differs.
        model: a CLIP model with a class token, or its name for ``load_clip``.
        encoder: of FID and the like; None leaves these out.
        lpips: what ``load_lpips`` gives; None leaves diversity out.
        plan: choices.
        home: the cache folder, by default ``benchmark.files.home()``.
        progress: called with a stage, what is done of it and all.
        elsewhere: scores images in place of this process (``benchmark.ray_images``).

    Raises:
        UserError: bad attributes, labels that match nothing, an image that cannot be read, a model
            that cannot be used.
    """
    from benchmark.generative.dense import load_clip
    from benchmark.generative.document import document_of
    from benchmark.generative.refine import Options
    from benchmark.generative.scorer import RaScorer

    started, chosen = time.time(), plan or Plan()
    scorer = RaScorer(
        attributes,
        load_clip(model) if isinstance(model, str) else model,
        resize=chosen.resize,
        options=Options(**dict.fromkeys(chosen.without, False)),
        batch_size=chosen.batch_size,
        ablations=True,
    )
    place = home or files.home()
    told = [
        None if labels is None else aligned(labels, images, scorer.names, label_names)
        for images, labels in ((real, real_labels), (generated, generated_labels))
    ]
    scored = [
        _scores(images, label, scorer, encoder, chosen, place, progress, elsewhere)
        for images, label in ((real, "real images"), (generated, "generated images"))
    ]
    sides = [Side(*parts) for parts in zip((real, generated), scored, told, strict=True)]
    measured = _measure(sides[0], sides[1], scorer.names, chosen, progress)
    if lpips is not None:
        measured = replace(measured, diversity=_diversity(sides, lpips, chosen, progress))
    document = document_of(measured, scorer, encoder, chosen, started)
    return Comparison(document, sides[0], sides[1], measured)


def _diversity(
    sides: Sequence[Side], lpips: Lpips | str, plan: Plan, progress: Progress | None
) -> Diversity:
    # pairs are drawn by place: in the order of their hashes, no name moves them
    orders = [np.argsort(np.array(side.scores.digests, "S32"), kind="stable") for side in sides]
    return diversity(
        [
            (side.images, side.scores.places[order])
            for side, order in zip(sides, orders, strict=True)
        ],
        lpips,
        resize=plan.resize,
        seed=plan.seed,
        resamples=plan.resamples,
        progress=None if progress is None else partial(progress, "diversity"),
    )


def _scores(
    images: ImageSet,
    label: str,
    scorer: "RaScorer",
    encoder: "Encoder | None",
    plan: Plan,
    home: Path,
    progress: Progress | None,
    elsewhere: "Elsewhere | None",
) -> "SetScores":
    from benchmark.generative.collect import collect

    return collect(
        images,
        scorer,
        encoder,
        home=home,
        seed=plan.seed,
        skip_unreadable=plan.skip_unreadable,
        progress=None if progress is None else lambda done, total: progress(label, done, total),
        elsewhere=elsewhere,
    )


def _measure(
    real: Side, generated: Side, names: tuple[str, ...], plan: Plan, progress: Progress | None
) -> Measured:
    """The numbers of two sides, in four steps."""

    def tell(step: int) -> None:
        if progress is not None:
            progress("divergences", step, 4)

    left, right = real.scores, generated.scores
    options: Any = {
        "resamples": plan.resamples, "permutations": plan.permutations, "seed": plan.seed,
    }  # fmt: skip
    tell(0)
    attributes = compare_attributes(left.image, right.image, names, **options)
    tell(1)
    regions = compare_regions(left.sums, right.sums, names, **options)
    tell(2)
    unrefined = compare_regions(left.sums_unrefined, right.sums_unrefined, names, **options)
    tell(3)
    found = None
    if left.features is not None and right.features is not None:
        same = sorted(left.digests) == sorted(right.digests)
        found = quality(left.features, right.features, seed=plan.seed, identical=same)
    tell(4)
    return Measured(real, generated, names, attributes, regions, unrefined, found)
