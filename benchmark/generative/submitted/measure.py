"""Measuring a submitted generator: its images against its real set, as one result."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark import files
from benchmark.generative.compare import Comparison, Plan, Progress, compare
from benchmark.generative.image_sets import ImageSet
from benchmark.generative.submitted import pipelines
from benchmark.generative.submitted.drawn import PACKAGES, DrawnSet, draw, settings_sha256
from benchmark.generative.submitted.given import given_images
from benchmark.generative.submitted.real_sets import (
    attribute_list,
    attributes_json,
    real_images,
)
from benchmark.generative.submitted.record import result_document
from benchmark.records import timing
from benchmark.submissions.generators_known import RealSet, real_set

if TYPE_CHECKING:
    from benchmark.datasets import Dataset
    from benchmark.encoders import Encoder
    from benchmark.generative.dense.base import DenseClip


@dataclass(frozen=True)
class Scored:
    """What was measured.

    Attributes:
        document: the result.
        comparison: behind it, for its report.
    """

    document: dict[str, Any] = field(repr=False)
    comparison: Comparison = field(repr=False)


def score_generator(
    folder: Path,
    document: Mapping[str, Any],
    *,
    plan: Plan | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
    dataset: "Dataset | None" = None,
    model: "DenseClip | None" = None,
    encoder: "Encoder | None" = None,
    get: pipelines.Fetch = pipelines.fetch,
) -> Scored:
    """Measure a submission: fetch or draw its images, compare them with its real set.

    Images that were drawn and scores of images are kept: a stopped run goes on.

    Args:
        folder: of the submission.
        document: its ``submission.json``, valid.
        plan: choices of the comparison; its default is the board's.
        home: the cache folder, by default ``benchmark.files.home()``.
        progress: called with a stage, what is done of it and all.
        dataset: the real set's, where it is open already.
        model, encoder: the real set's, where they are loaded already.
        get: what brings a model's repository.

    Raises:
        UserError: images or a model that cannot be had or used, a dataset that is not there.
    """
    from benchmark.datasets import load_dataset
    from benchmark.encoders import load_encoder
    from schemas import validate

    started, place = time.time(), home or files.home()
    chosen = real_set(document["real"])
    data = dataset or load_dataset(chosen.dataset)
    real = real_images(chosen, data)
    images, about = _generated(folder, document, place, progress, get)
    found = compare(
        real,
        images,
        attribute_list(chosen.attributes),
        model=model or chosen.clip,
        encoder=encoder or load_encoder(chosen.encoder),
        plan=plan,
        home=place,
        progress=progress,
    )
    result = result_document(
        found,
        submission={"id": document["id"], "name": document["name"], **about},
        real=_real(chosen, data),
        attributes=attributes_json(chosen.attributes),
    )
    result["timing"] = timing(started)
    if isinstance(images, DrawnSet):
        packages = result["environment"]["packages"]
        packages |= {name: version(name) for name in PACKAGES}
    validate("result-generator", result)
    return Scored(result, found)


def _generated(
    folder: Path,
    document: Mapping[str, Any],
    home: Path,
    progress: Progress | None,
    get: pipelines.Fetch,
) -> tuple[ImageSet, dict[str, Any]]:
    """The images, and what a result says of where they are from."""
    generator = document["generator"]
    if generator["kind"] == "images":
        hub = generator.get("hub", {})
        source = {name: hub[name] for name in ("repo", "revision") if name in hub}
        checked = given_images(folder, document, home, _stage(progress, "checking images"))
        return checked, {"kind": "images", **source}
    found = pipelines.located(generator, home / "submissions" / "hub", get)
    images = draw(document, found, home, progress=_stage(progress, "drawing images"))
    return images, {
        "kind": "diffusers",
        "repo": generator["repo"],
        "revision": generator["revision"],
        "pipeline": found.pipeline,
        "weights_sha256": found.weights_sha256,
        "settings_sha256": settings_sha256(generator),
        "black_images": images.black,
        "drawn_on": images.drawn_on,
    }


def _stage(progress: Progress | None, label: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(label, done, total)


def _real(chosen: RealSet, data: "Dataset") -> dict[str, Any]:
    return {
        "name": chosen.dataset,
        "revision": data.revision,
        "fingerprint": data.fingerprint,
        "split": chosen.split,
        "selection": chosen.concept,
    }
