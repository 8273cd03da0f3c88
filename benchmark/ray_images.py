"""Scoring images on Ray: blocks of files go to actors, each with its own models.

A block's scores do not depend on where they are made, so the cache holds the same bytes. Files are
read and decoded here first: which images can be read is decided in one place, and nodes need the
models but not the images.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.encoders import Encoder
    from benchmark.generative.blocks import Parts, Picture, Start
    from benchmark.generative.scorer import RaScorer

RETRIES = 3
"""Times that a block whose actor died is begun again."""


@dataclass
class ImagesOnRay:
    """What ``collect`` takes as ``elsewhere``; Ray must be connected.

    Every actor runs on as many threads as this process would, because their number can change the
    last bits of a sum; with ``OMP_NUM_THREADS=1`` there is one actor a processor.

    Args:
        model: name by which ``load_clip`` gives the model on a node.
        encoder: name of the encoder of FID and the like; None without one.

    Raises:
        UserError: no node has that many processors. While blocks are made: a node whose models,
            PyTorch or kind of processor differ, or what the work itself raises.
    """

    model: str
    encoder: str | None = None
    ahead: int = field(init=False)

    def __post_init__(self) -> None:
        import ray
        import torch

        self._threads = torch.get_num_threads()
        per_node = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self._count = sum(cpus // self._threads for cpus in per_node)
        if not self._count:
            raise UserError(
                f"--ray: no node has the {self._threads} processors that this process uses; set "
                f"OMP_NUM_THREADS to at most {max(per_node, default=1)}"
            )
        self.ahead = 2 * self._count
        self._actors: list[Any] = []
        self._begun = 0

    def scores(self, scorer: "RaScorer") -> "Start":
        """Scores of blocks."""
        return self._start("scores", recipe_of(scorer, self.model), scorer_identity(scorer))

    def features(self, encoder: "Encoder") -> "Start":
        """Features of blocks."""
        assert self.encoder is not None
        return self._start("features", {"encoder": self.encoder}, encoder_identity(encoder))

    def _start(self, kind: str, recipe: Mapping[str, Any], identity: Mapping[str, Any]) -> "Start":
        def begin(pictures: "Sequence[Picture]") -> "Callable[[], Parts]":
            files = [(one.encoded, one.label) for one in pictures]
            reference = self._actor().work.remote(kind, recipe, identity, files)
            return lambda: _result(reference)

        return begin

    def _actor(self) -> Any:
        """The next actor in turn; blocks are of one size, so turns share the work evenly."""
        import ray

        place = self._begun % self._count
        self._begun += 1
        if place == len(self._actors):
            made = ray.remote(ImageActor).options(
                num_cpus=self._threads, max_restarts=-1, max_task_retries=RETRIES
            )
            self._actors.append(made.remote(self._threads))
        return self._actors[place]


def _result(reference: Any) -> "Parts":
    import ray

    try:
        error, parts = ray.get(reference)
    except ray.exceptions.RayActorError as fault:
        raise UserError(
            f"--ray: a process that scores images died {RETRIES + 1} times ({_line(fault)}); what "
            "was scored before is kept: give it more memory and run again"
        ) from fault
    if error:
        raise UserError(error)
    made: Parts = parts
    return made


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def recipe_of(scorer: "RaScorer", model: str) -> dict[str, Any]:
    """From which a node makes the scorer again; ``model`` is the name of its model."""
    return {
        "attributes": list(scorer.names),
        "model": model,
        "resize": scorer.resize,
        "options": scorer.options.as_dict(),
        "batch_size": scorer.batch_size,
        "ablations": scorer.ablations,
    }


def scorer_identity(scorer: "RaScorer") -> dict[str, Any]:
    """What decides every bit of a score."""
    return {**scorer.identity, "device": scorer.model.device.type}


def encoder_identity(encoder: "Encoder") -> dict[str, Any]:
    """What decides every bit of a feature."""
    from benchmark.encoders import EncoderInfo

    return {**EncoderInfo.of(encoder).as_dict(), "runtime": encoder.runtime}


class ImageActor:
    """A process that loads each model when its first block comes."""

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self._work: dict[str, Any] = {}

    def work(
        self,
        kind: str,
        recipe: Mapping[str, Any],
        identity: Mapping[str, Any],
        files: Sequence[tuple[bytes, str]],
    ) -> tuple[str, dict[str, np.ndarray]]:
        """(what went wrong, results) of a block."""
        from benchmark.images import read_image

        try:
            if kind not in self._work:
                self._work[kind] = _prepared(kind, recipe, identity)
            images = [read_image(data, name=label) for data, label in files]
            return "", dict(self._work[kind](images))
        except (UserError, OSError) as error:
            return str(error), {}


def _prepared(kind: str, recipe: Mapping[str, Any], identity: Mapping[str, Any]) -> Any:
    """The function that does the work, once it is sure to give what this process would."""
    from benchmark.encoders import load_encoder
    from benchmark.generative.collect import feature_work, score_work
    from benchmark.generative.dense import load_clip
    from benchmark.generative.refine import Options
    from benchmark.generative.scorer import RaScorer

    node = os.uname().nodename
    try:
        if kind == "features":
            encoder = load_encoder(recipe["encoder"])
            work, found = feature_work(encoder), encoder_identity(encoder)
        else:
            scorer = RaScorer(
                recipe["attributes"],
                load_clip(recipe["model"]),
                resize=recipe["resize"],
                options=Options(**recipe["options"]),
                batch_size=recipe["batch_size"],
                ablations=recipe["ablations"],
            )
            work, found = score_work(scorer), scorer_identity(scorer)
    except (UserError, OSError) as error:
        raise UserError(f"on node {node}: {error}") from error
    differ = sorted(key for key in identity if found.get(key) != identity[key])
    if differ:
        raise UserError(
            f"on node {node} the models differ in {', '.join(differ)}; their {kind} would not be "
            "the same: use nodes of one kind"
        )
    return work
