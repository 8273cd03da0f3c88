"""The sanity check of a sweep: on the SAEs of its main grid, with parts that survive a stop."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.files import write_json
from benchmark.kept import same_code
from benchmark.metrics import Score
from benchmark.records import environment
from benchmark.runs import Prepared, submission_of
from benchmark.saes import Sae
from benchmark.saes.training.store import kept_sae
from benchmark.sanity import Measured, Plan, combine, measure_one
from benchmark.sweep.config import SweepConfig
from benchmark.sweep.executors import Executor, Failed
from benchmark.sweep.plan import SAES, SANITY, Job
from benchmark.sweep.run import Progress, Report, Task, drive
from benchmark.workers import Setting


@dataclass(frozen=True)
class _Check:
    """What a worker measures: an SAE, who it is, and the plan."""

    sae: Sae
    submission: Mapping[str, Any]
    plan: Plan


def plan_of(config: SweepConfig) -> Plan:
    """The check's settings in a sweep."""
    return Plan(
        architectures=config.architectures,
        sizes=config.dict_sizes,
        epochs=config.epochs,
        k=config.k,
        seed=config.seeds[0],
        twin_seeds=config.twin_seeds[:1],
        subsamples=config.sanity_subsamples,
        bootstrap_resamples=config.bootstrap_resamples,
    )


def check_setting(
    config: SweepConfig,
    jobs: Sequence[Job],
    out: Path,
    name: str,
    executor: Executor,
    prepared: Prepared,
    report: Report,
    progress: Progress | None = None,
) -> Path | None:
    """The sanity check on one setting's main SAEs of the first seed; returns its file.

    None where none of them could be trained. What is there with the same SAEs, data, settings and
    code is kept.
    """
    plan, path = plan_of(config), out / SANITY / f"{name}.json"
    parts = out / SANITY / "parts" / name
    wanted: list[_Check] = []
    for job in jobs:
        if job.main and job.recipe.seed == config.seeds[0]:
            folder = out / SAES / job.id
            sae = kept_sae(folder, job.recipe, prepared.origin)
            if sae is not None:
                submission = {**submission_of(sae, folder, job.id), "name": job.title}
                wanted.append(_Check(sae, submission, plan))
    if not wanted:
        return None
    if _document_is_current(path, wanted, prepared):
        report.kept += 1
        return path
    started = time.time()
    measured: list[Measured] = []

    def taken(found: Measured) -> None:
        measured.append(found)
        if progress:
            progress(len(measured), len(wanted))

    drive(executor, _tasks(wanted, parts, prepared, jobs[0].setting, taken, report))
    if len(measured) < len(wanted):
        path.unlink(missing_ok=True)
        return None
    write_json(path, combine(measured, plan, prepared.source, started))
    report.measured += 1
    shutil.rmtree(parts, ignore_errors=True)
    return path


def _tasks(
    wanted: Sequence[_Check],
    parts: Path,
    prepared: Prepared,
    setting: Setting,
    taken: Callable[[Measured], None],
    report: Report,
) -> Iterable[Task]:
    for check in wanted:
        path, key = parts / f"{check.submission['id']}.json", _key(check, prepared)
        if (kept := _read_part(path, key)) is not None:
            taken(kept)
            continue

        def done(found: Measured, path: Path = path, key: Any = key) -> list[Task]:
            write_json(path, {"key": key, **_to_json(found)})
            taken(found)
            return []

        def fail(outcome: Failed, check: _Check = check) -> None:
            report.fail(f"{check.submission['id']} sanity check", outcome)

        yield Task("sanity check", setting, _measure, check, done, fail)


def _measure(prepared: Prepared, check: _Check) -> Measured:
    return measure_one(check.sae, check.submission, prepared, check.plan)


def _key(check: _Check, prepared: Prepared) -> dict[str, Any]:
    now = environment()
    key = {
        "submission": dict(check.submission),
        "dataset": dict(prepared.source.dataset),
        "pairs_dataset": prepared.source.pairs_dataset and dict(prepared.source.pairs_dataset),
        "encoder": dict(prepared.source.encoder),
        "plan": check.plan.as_dict(),
        "code": [now["suite_version"], now["commit"]],
    }
    plain: dict[str, Any] = json.loads(json.dumps(key))
    return plain


def _document_is_current(path: Path, wanted: Sequence[_Check], prepared: Prepared) -> bool:
    try:
        found = json.loads(path.read_bytes())
        key = _key(wanted[0], prepared)
        named = [{k: v for k, v in one.items() if k != "l0"} for one in found["configurations"]]
        order = sorted((dict(check.submission) for check in wanted), key=lambda one: one["id"])
        return bool(
            sorted(named, key=lambda one: one["id"]) == order
            and found["dataset"] == key["dataset"]
            and found.get("pairs_dataset") == key["pairs_dataset"]
            and found["encoder"] == key["encoder"]
            and found["protocol"] == key["plan"]
            and same_code(found)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _to_json(measured: Measured) -> dict[str, Any]:
    return {
        "submission": dict(measured.submission),
        "scores": {
            kind: {name: _score_to_json(score) for name, score in scores.items()}
            for kind, scores in measured.scores.items()
        },
        "l0": dict(measured.l0),
    }


def _score_to_json(score: Score) -> dict[str, Any]:
    fields = {**asdict(score), "not_applicable": dict(score.not_applicable)}
    if score.samples is not None:
        # JSON has no NaN
        fields["samples"] = [x if math.isfinite(x) else None for x in score.samples.tolist()]
    return fields


def _read_part(path: Path, key: Mapping[str, Any]) -> Measured | None:
    try:
        found = json.loads(path.read_bytes())
        if found["key"] != key:
            return None
        return Measured(
            found["submission"],
            {
                kind: {name: _score(one) for name, one in scores.items()}
                for kind, scores in found["scores"].items()
            },
            found["l0"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _score(found: Mapping[str, Any]) -> Score:
    samples, ci95 = found["samples"], found["ci95"]
    return Score(
        found["value"],
        None if ci95 is None else (ci95[0], ci95[1]),
        found["n"],
        found["not_applicable"],
        None if samples is None else np.array(samples, np.float64),
    )
