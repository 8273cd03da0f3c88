"""The embedded end-to-end run: which SAEs it trains, and the gate they must pass."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark import metrics
from benchmark.files import write_json
from benchmark.measure import Measurement, Protocol, encode_all, measure_codes
from benchmark.metrics import Score
from benchmark.records import environment, score_json
from benchmark.runs import Prepared, score_prepared, submission_of
from benchmark.saes import load_sae
from benchmark.saes.baselines import untrained_twin
from benchmark.saes.training import Recipe
from benchmark.saes.training.store import train_to_folder
from benchmark.workers import Setting, prepared_here, start_pool

GATE_METRICS = ("match_score", "tapa_score")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What the demo trains.

    Attributes:
        sweep: architectures trained at every size.
        sizes: dictionary sizes of the sweep.
        others: architectures trained at ``gate_size`` only.
        gate_size, gate_seeds: dictionary size and training seeds of the gate, which the
            architectures of the sweep must pass.
        epochs, k: as in ``Recipe``.
    """

    sweep: tuple[str, ...] = ("topk", "batchtopk")
    sizes: tuple[int, ...] = (128, 256, 512, 1024, 2048)
    others: tuple[str, ...] = ("matryoshka", "jumprelu", "relu", "gated", "p_anneal")
    gate_size: int = 512
    gate_seeds: tuple[int, ...] = (0, 1, 2)
    epochs: int = 50
    k: int = 32

    def recipes(self) -> list[Recipe]:
        """Every SAE to train, the costliest first."""
        wanted = [(arch, size, 0) for arch in self.sweep for size in self.sizes]
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


@dataclass(frozen=True)
class _Job:
    recipe: Recipe
    out: Path


def _train_and_score(job: _Job) -> str:
    prepared = prepared_here()
    name = identifier(job.recipe)
    folder = job.out / "saes" / name
    features = prepared.features["match"]
    sae = train_to_folder(folder, job.recipe, features, prepared.origin, overwrite=True)
    submission = {**submission_of(sae, folder, name), "name": _title(job.recipe)}
    path = job.out / "results" / f"{name}.json"
    if not _is_current(path, submission, prepared):
        write_json(path, score_prepared(sae, submission, prepared))
    return name


_TITLES = {
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "matryoshka": "Matryoshka",
    "jumprelu": "JumpReLU",
    "relu": "ReLU",
    "gated": "Gated",
    "p_anneal": "P-anneal",
}


def _title(recipe: Recipe) -> str:
    return f"{_TITLES[recipe.architecture]} {recipe.d_sae} (seed {recipe.seed})"


def _is_current(path: Path, submission: dict[str, Any], prepared: Prepared) -> bool:
    """Whether the record there was measured with this SAE, data, encoder, protocol and code."""
    try:
        record = json.loads(path.read_bytes())
        protocol = {key: record["protocol"][key] for key in Protocol().as_dict()}
        now = environment()
        return bool(
            record["submission"] == submission
            and record["dataset"] == prepared.source.dataset
            and record["encoder"] == prepared.source.encoder
            and protocol == Protocol().as_dict()
            and all(record["environment"][key] == now[key] for key in ("suite_version", "commit"))
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _gate_measure(job: _Job) -> tuple[dict[str, Score], list[dict[str, Score]]]:
    prepared, protocol = prepared_here(), Protocol()
    sae = load_sae(job.out / "saes" / identifier(job.recipe))
    codes = encode_all(sae, prepared.features)
    target = codes["match"].nnz / codes["match"].shape[0]
    twins = [
        untrained_twin(sae, prepared.features["match"], target_l0=target, seed=seed)
        for seed in protocol.twin_seeds
    ]
    own = measure_codes(codes, prepared.labels, protocol)
    measured = [
        measure_codes(encode_all(twin, prepared.features), prepared.labels, protocol)
        for twin in twins
    ]
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
    """Train and score every SAE of the plan, then the gate.

    What is there already with the same settings is kept; a run that was stopped goes on.

    Args:
        out: gets ``saes/``, ``results/`` and ``gate.json``.
        dataset, encoder: names; features come through the cache.
        plan: what to train.
        workers: processes, one thread each; results do not depend on their number.
        progress: called with (SAEs done, SAEs).

    Returns:
        The gate document.
    """
    recipes = plan.recipes()
    with start_pool(Setting(dataset, encoder), workers) as pool:
        jobs = [pool.submit(_train_and_score, _Job(recipe, out)) for recipe in recipes]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                if progress:
                    progress(done, len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        gate = _gate(plan, out, pool)
    write_json(out / "gate.json", gate)
    return gate


def _gate(plan: Plan, out: Path, pool: ProcessPoolExecutor) -> dict[str, Any]:
    rows = [row for architecture in plan.sweep for row in _gate_rows(architecture, plan, out, pool)]
    return {
        "d_sae": plan.gate_size,
        "passed": all(row["passed"] for row in rows),
        "rows": rows,
    }


def _gate_rows(
    architecture: str, plan: Plan, out: Path, pool: ProcessPoolExecutor
) -> Iterator[dict[str, Any]]:
    jobs = [_Job(recipe, out) for recipe in plan.gate_recipes(architecture)]
    measured = list(pool.map(_gate_measure, jobs))
    for name in GATE_METRICS:
        trained = [own[name] for own, _ in measured]
        twins = [metrics.average([twin[name] for twin in many]) for _, many in measured]
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
