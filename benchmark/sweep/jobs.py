"""What a worker does: train an SAE, or measure one. Data in, data out.

Nothing here reads or writes the output folder, so that a worker may be on another machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.measure import Protocol, encode_all, measure_codes
from benchmark.runs import Prepared, measure_and_record, record_scored
from benchmark.saes import Sae
from benchmark.saes.training import Recipe
from benchmark.saes.training.store import train_finite
from benchmark.scoring import Scored, untrained_twins


@dataclass(frozen=True)
class MeasureTask:
    """One measurement.

    Attributes:
        sae, submission: the SAE and who it is.
        protocol, full: as in ``Wanted``.
        probe: the linear-probe bound of the setting.
    """

    sae: Sae
    submission: Mapping[str, Any]
    protocol: Protocol
    probe: Mapping[str, Any]
    full: bool = True


def train(prepared: Prepared, recipe: Recipe) -> Sae:
    """The SAE of a recipe on the match split."""
    return train_finite(prepared.features["match"], recipe)


def measure(prepared: Prepared, task: MeasureTask) -> dict[str, Any]:
    """The result record of an SAE under the task's protocol."""
    if task.full:
        return measure_and_record(
            task.sae, task.submission, prepared, task.protocol, probe=task.probe
        )[1]
    return record_scored(
        lambda: _codes_only(prepared, task),
        task.submission,
        prepared,
        task.protocol,
        probe=task.probe,
    )[1]


def _codes_only(prepared: Prepared, task: MeasureTask) -> Scored:
    """Scores of the codes and of the twins' codes: what a matcher decides, and no more."""
    codes = encode_all(task.sae, prepared.features)
    twins = untrained_twins(task.sae, prepared.features, codes, task.protocol.twin_seeds)
    own, *others = (
        measure_codes(each, prepared.labels, task.protocol)
        for each in (codes, *(encode_all(twin, prepared.features) for twin in twins))
    )
    return Scored(own, tuple(others), (), codes)
