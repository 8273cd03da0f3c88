"""Editing on Ray Data: a pool of processes, each with the pipeline on a graphics card of its own.

Every edit has its own seed, so that it does not matter where it is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from generation.editing.job import Job, Outcome, perform
from generation.editing.pipeline import Editor, Settings
from generation.editing.run import Perform


def on_ray(settings: Settings, open_source: Callable[[], Dataset], actors: int) -> Perform:
    """What ``make_edits`` takes as ``run``; Ray must be connected.

    Model folder and source must be found at the same place on every node.

    Args:
        open_source: opens the plan's source in any process.
        actors: processes, where the cluster has no graphics cards; else one a card.
    """

    def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
        import ray
        from ray.data import ActorPoolStrategy, DataContext

        if not jobs:
            return
        context = DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        cards = int(ray.cluster_resources().get("GPU", 0))
        pool = max(1, min(cards or actors, len(jobs)))
        # every edit is its own task: a lost process costs one
        rows = [{"job": number} for number in range(len(jobs))]
        made = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _EditActor,
            fn_constructor_args=(settings, open_source, tuple(jobs)),
            batch_size=1,
            compute=ActorPoolStrategy(min_size=1, max_size=pool),
            num_gpus=1 if cards else None,
            num_cpus=1,
        )
        for row in made.iter_rows():
            if row["problem"]:
                raise UserError(row["problem"])
            yield _unpacked(row, jobs[int(row["job"])])

    return run


def _unpacked(row: dict[str, Any], job: Job) -> Outcome:
    return Outcome(
        job,
        bytes(row["png"]) or None,
        int(row["width"]) or None,
        int(row["height"]) or None,
        float(row["seconds"]),
        str(row["error"]) or None,
        bool(row["broken"]),
        str(row["scheduler"]),
        str(row["precision"]),
    )


class _EditActor:
    """A process with the pipeline loaded and the source open."""

    def __init__(
        self, settings: Settings, open_source: Callable[[], Dataset], jobs: tuple[Job, ...]
    ) -> None:
        self._jobs = jobs
        self._problem = ""
        try:
            self._source = open_source()
            self._editor = Editor(settings)
        except (UserError, OSError) as error:
            self._problem = f"on node {os.uname().nodename}: {error}"

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        number = int(batch["job"][0])
        row: dict[str, Any] = {"job": number, "problem": self._problem, "png": b"", "error": ""}
        row |= {"width": 0, "height": 0, "seconds": 0.0, "broken": False}
        row |= {"scheduler": "", "precision": ""}
        if not self._problem:
            outcome = perform(self._editor, self._source, self._jobs[number])
            for name in ("png", "width", "height", "seconds", "error", "broken"):
                row[name] = getattr(outcome, name) or row[name]
            row |= {"scheduler": outcome.scheduler, "precision": outcome.precision}
        return {name: [value] for name, value in row.items()}
