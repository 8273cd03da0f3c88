"""The embedded end-to-end run: which SAEs it trains, and the gate they must pass."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from benchmark import metrics
from benchmark.files import write_json
from benchmark.judges.document import check_same, file_name, join
from benchmark.judges.protocol import ALSO, JudgeProtocol
from benchmark.judges.runs import judge_prepared
from benchmark.kept import current_record, same_code
from benchmark.measure import Measurement, Protocol, encode_all, measure_codes
from benchmark.metrics import Score
from benchmark.records import score_json
from benchmark.runs import Prepared, measure_and_record, submission_of
from benchmark.saes import Sae
from benchmark.saes.training import Recipe
from benchmark.saes.training.store import train_to_folder
from benchmark.scoring import untrained_twins
from benchmark.sweep.plan import title_of
from benchmark.workers import Setting, prepared_here, start_pool

GATE_METRICS = ("match_score", "tapa_score")

JUDGE = "annotations"
"""Who judges the demo's SAEs: it needs no model and no network."""

JUDGED = JudgeProtocol(also=ALSO)
JUDGEMENTS = "judgements"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What the demo trains.

    Attributes:
        sweep: dictionary sizes that an architecture is trained at. These architectures must pass
            the gate.
        others: architectures trained at ``gate_size`` only.
        gate_size, gate_seeds: dictionary size and training seeds of the gate.
        epochs, k: as in ``Recipe``.
    """

    sweep: Mapping[str, tuple[int, ...]] = field(
        default_factory=lambda: {
            "topk": (128, 256, 512, 1024),
            "batchtopk": (128, 256, 512, 1024),
        }
    )
    others: tuple[str, ...] = ("matryoshka", "jumprelu", "relu", "gated", "p_anneal")
    gate_size: int = 512
    gate_seeds: tuple[int, ...] = (0, 1, 2)
    epochs: int = 50
    k: int = 32

    def recipes(self) -> list[Recipe]:
        """Every SAE to train, the costliest first."""
        wanted = [(arch, size, 0) for arch, sizes in self.sweep.items() for size in sizes]
        wanted += [(arch, self.gate_size, seed) for arch in self.sweep for seed in self.gate_seeds]
        wanted += [(arch, self.gate_size, 0) for arch in self.others]
        unique = sorted(set(wanted), key=lambda item: (-item[1], item))
        return [
            Recipe(arch, size, seed=seed, epochs=self.epochs, k=self.k)
            for arch, size, seed in unique
        ]

    def gate_recipes(self, architecture: str) -> list[Recipe]:
        """The gate's SAEs of one architecture, by seed."""
        return [
            Recipe(architecture, self.gate_size, seed=seed, epochs=self.epochs, k=self.k)
            for seed in self.gate_seeds
        ]


def identifier(recipe: Recipe) -> str:
    """Id of a demo SAE."""
    return f"demo-{recipe.architecture.replace('_', '-')}-{recipe.d_sae}-s{recipe.seed}"


Gated: TypeAlias = tuple[dict[str, Score], list[dict[str, Score]]]
"""The gate's scores of one SAE and of its untrained twins, with their replicates."""


@dataclass(frozen=True)
class _Job:
    recipe: Recipe
    out: Path
    in_gate: bool


def _train_and_score(job: _Job) -> tuple[str, Gated | None]:
    prepared, protocol = prepared_here(), Protocol()
    name = identifier(job.recipe)
    folder = job.out / "saes" / name
    features = prepared.features["match"]
    sae = train_to_folder(folder, job.recipe, features, prepared.origin, overwrite=True)
    submission = {**submission_of(sae, folder, name), "name": title_of(job.recipe)}
    path = job.out / "results" / f"{name}.json"
    place = job.out / JUDGEMENTS / file_name(name, JUDGE)
    record = current_record(path, submission, prepared.source, protocol)
    gated = None
    if record is None:
        scored, record = measure_and_record(sae, submission, prepared, protocol)
        gated = (_gated(scored.own), [_gated(twin) for twin in scored.twins])
        _judge_and_write(place, path, sae, submission, prepared, record)
    elif not _is_judged(place, record):
        _judge_and_write(place, path, sae, submission, prepared, record)
    if job.in_gate and gated is None:
        gated = _measure_gate(sae, prepared, protocol)
    return name, gated if job.in_gate else None


def _judge_and_write(
    place: Path,
    path: Path,
    sae: Sae,
    submission: Mapping[str, Any],
    prepared: Prepared,
    record: Mapping[str, Any],
) -> None:
    """Judge an SAE; its judgement goes to ``place``, its record with the scores to ``path``."""
    judgement = judge_prepared(sae, submission, prepared, JUDGE, protocol=JUDGED)
    write_json(place, judgement)
    write_json(path, join(record, judgement))


def _is_judged(place: Path, record: Mapping[str, Any]) -> bool:
    """Whether the judgement there was made with this SAE, data, protocol and code, and joined."""
    try:
        judgement = json.loads(place.read_bytes())
        check_same(record, judgement)
        wanted = {**JUDGED.as_dict(), "kind": judgement["protocol"]["kind"]}
        return bool(
            judgement["protocol"] == wanted
            and judgement["submission"] == record["submission"]
            and join(record, judgement) == record
            and same_code(judgement)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _measure_gate(sae: Sae, prepared: Prepared, protocol: Protocol) -> Gated:
    """The gate's scores of an SAE whose record is there but keeps no replicates."""
    codes = encode_all(sae, prepared.features)
    twins = untrained_twins(sae, prepared.features, codes, protocol.twin_seeds)
    own, *measured = (
        measure_codes(each, prepared.labels, protocol)
        for each in (codes, *(encode_all(twin, prepared.features) for twin in twins))
    )
    return _gated(own), [_gated(one) for one in measured]


def _gated(measured: Measurement) -> dict[str, Score]:
    # a Score travels to the parent process; its subclass would drag the per-pair arrays along
    return {
        name: Score(*(getattr(measured.scores[name], f) for f in Score.__dataclass_fields__))
        for name in GATE_METRICS
    }


def run(
    out: Path,
    *,
    dataset: str,
    encoder: str,
    plan: Plan,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train, score and judge every SAE of the plan, then the gate.

    What is there already with the same settings is kept; a run that was stopped goes on.

    Args:
        out: gets ``saes/``, ``results/``, ``judgements/`` and ``gate.json``.
        dataset, encoder: names; features come through the cache.
        plan: what to train.
        workers: processes, one thread each; results do not depend on their number.
        progress: called with (SAEs done, SAEs).

    Returns:
        The gate document.
    """
    gated = {identifier(recipe) for arch in plan.sweep for recipe in plan.gate_recipes(arch)}
    measured: dict[str, Gated] = {}
    with start_pool(Setting(dataset, encoder), workers) as pool:
        jobs = [
            pool.submit(_train_and_score, _Job(recipe, out, identifier(recipe) in gated))
            for recipe in plan.recipes()
        ]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                name, gate = job.result()
                if gate is not None:
                    measured[name] = gate
                if progress:
                    progress(done, len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    document = _gate(plan, measured)
    write_json(out / "gate.json", document)
    return document


def _gate(plan: Plan, measured: Mapping[str, Gated]) -> dict[str, Any]:
    rows = [row for architecture in plan.sweep for row in _gate_rows(architecture, plan, measured)]
    return {
        "d_sae": plan.gate_size,
        "passed": all(row["passed"] for row in rows),
        "rows": rows,
    }


def _gate_rows(
    architecture: str, plan: Plan, measured: Mapping[str, Gated]
) -> Iterator[dict[str, Any]]:
    seeds = [measured[identifier(recipe)] for recipe in plan.gate_recipes(architecture)]
    for name in GATE_METRICS:
        trained = [own[name] for own, _ in seeds]
        twins = [metrics.average([twin[name] for twin in many]) for _, many in seeds]
        mean, baseline = metrics.average(trained), metrics.average(twins)
        yield {
            "architecture": architecture,
            "metric": name,
            "trained": score_json(mean),
            "untrained": score_json(baseline),
            "trained_seeds": [score.value for score in trained],
            "untrained_seeds": [score.value for score in twins],
            "passed": metrics.clearly_above(mean, baseline),
        }
