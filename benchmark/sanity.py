"""The sanity check: does a metric tell trained SAEs from untrained ones and from chance, §3."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark import metrics
from benchmark.errors import UserError
from benchmark.files import home
from benchmark.measure import Labels, Protocol, encode_all, measure_codes
from benchmark.metrics import Score
from benchmark.names import slug
from benchmark.records import environment, score_json, timing
from benchmark.runs import Prepared, submission_of
from benchmark.saes import Sae, load_sae
from benchmark.saes.training import Recipe
from benchmark.saes.training.store import train_to_folder
from benchmark.scoring import Source, shuffled_codes, untrained_twins
from benchmark.workers import Setting, prepared_here, start_pool

OWN = ("match_score", "match_score_in_sample", "match_score_one_to_one", "tapa_score")
BASELINES = ("fms", "ms", "cknna")
KINDS = ("trained", "untrained", "random_codes")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What the check runs over, and its settings.

    Attributes:
        architectures, sizes: configurations, one SAE each, trained where they are not given.
        epochs, k, seed: as in ``Recipe``.
        twin_seeds: of untrained twins and random codes; scores are means over them.
        subsamples: behind the intervals of FMS and CKNNA.
        bootstrap_resamples: behind all other intervals.
    """

    architectures: tuple[str, ...] = ("topk", "batchtopk", "matryoshka", "jumprelu")
    sizes: tuple[int, ...] = (128, 256, 512)
    epochs: int = 50
    k: int = 32
    seed: int = 0
    twin_seeds: tuple[int, ...] = (0,)
    subsamples: int = metrics.SUBSAMPLES
    bootstrap_resamples: int = metrics.RESAMPLES

    def recipes(self) -> list[Recipe]:
        """The SAE of every configuration."""
        return [
            Recipe(arch, size, k=self.k, seed=self.seed, epochs=self.epochs)
            for arch in self.architectures
            for size in self.sizes
        ]

    @property
    def protocol(self) -> Protocol:
        return Protocol(bootstrap_resamples=self.bootstrap_resamples, twin_seeds=self.twin_seeds)

    def as_dict(self) -> dict[str, Any]:
        """Settings as JSON, for the document."""
        return {
            **self.protocol.as_dict(),
            "subsamples": self.subsamples,
            "one_to_one": "matcher one_to_one, held-out",
            "ms_interval": "bootstrap over images; a copy of an image makes no pair with it",
            "subsample_interval": "FMS and CKNNA: percentiles of half-size subsamples of images "
            "without replacement, moved to have the score as their mean",
            "cknna_neighbours": 10,
            "cknna_max_rows": metrics.CKNNA_MAX_ROWS,
            "fms_max_rows": metrics.FMS_MAX_ROWS,
            "passes": "trained above untrained and above random codes, 95 % intervals apart",
        }


@dataclass(frozen=True)
class Configuration:
    """One architecture and dictionary size: where its SAE is, and how to train it if not there."""

    folder: Path
    recipe: Recipe | None = None


@dataclass(frozen=True)
class _Job:
    configuration: Configuration
    plan: Plan


@dataclass(frozen=True)
class Measured:
    submission: Mapping[str, Any]
    scores: Mapping[str, Mapping[str, Score]]  # by kind, by metric
    l0: Mapping[str, float | None]


def given_configurations(saes: Path) -> list[Configuration]:
    """One SAE of each architecture and dictionary size in a folder, that of the lowest seed.

    Raises:
        UserError: no folder there, no folder in it, or one that holds no SAE.
    """
    if not saes.is_dir():
        raise UserError(f"{saes}: no such folder; expected a folder of SAE folders")
    best: dict[tuple[str, int], tuple[int, str, Path]] = {}
    for folder in sorted(path for path in saes.iterdir() if path.is_dir()):
        sae = load_sae(folder)
        found = submission_of(sae, folder)
        place = (int(found.get("seed", 0)), folder.name, folder)
        key = (sae.architecture, sae.d_sae)
        best[key] = min(best.get(key, place), place)
    if not best:
        raise UserError(f"{saes}: no SAE folders here; make some with: assay train --out DIR")
    return [Configuration(best[key][-1]) for key in sorted(best, key=lambda key: (-key[1], key[0]))]


def trained_configurations(dataset: str, encoder: str, plan: Plan) -> list[Configuration]:
    """The configurations of the plan, to be trained into the cache where they are not there.

    Raises:
        UserError: an unknown architecture or an impossible size.
    """
    root = home() / "saes" / f"{slug(dataset)}-{slug(encoder)}"
    # the costliest first, so that no process is left alone with it at the end
    return [
        Configuration(root / f"{slug(r.architecture)}-{r.d_sae}-s{r.seed}", r)
        for r in sorted(plan.recipes(), key=lambda recipe: -recipe.d_sae)
    ]


def run(
    configurations: Sequence[Configuration],
    *,
    dataset: str,
    encoder: str,
    plan: Plan,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure every configuration trained, untrained and as random codes, and compare.

    Args:
        configurations: from ``given_configurations`` or ``trained_configurations``.
        dataset, encoder: names; features come through the cache.
        plan: the settings.
        workers: processes, one thread each; results do not depend on their number.
        progress: called with (configurations done, configurations).

    Returns:
        The document, valid under ``schemas/sanity.schema.json``.

    Raises:
        UserError: an SAE of another width than the features.
    """
    started = time.time()
    measured: list[Measured] = []
    with start_pool(Setting(dataset, encoder), workers) as pool:
        jobs = [pool.submit(_measure, _Job(one, plan)) for one in configurations]
        source = pool.submit(_source)
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                measured.append(job.result())
                if progress:
                    progress(done, len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return combine(measured, plan, source.result(), started)


def combine(
    measured: Sequence[Measured], plan: Plan, source: Source, started: float
) -> dict[str, Any]:
    """The document of a check from what ``measure_one`` gave for each SAE."""
    pairs = source.pairs_dataset
    return {
        "dataset": dict(source.dataset),
        **({} if pairs is None else {"pairs_dataset": dict(pairs)}),
        "encoder": dict(source.encoder),
        **_document(measured, plan),
        "timing": timing(started),
    }


def _source() -> Source:
    return prepared_here().source


def _measure(job: _Job) -> Measured:
    from threadpoolctl import threadpool_limits

    here, folder, recipe = prepared_here(), job.configuration.folder, job.configuration.recipe
    with threadpool_limits(1):
        if recipe is None:
            sae = load_sae(folder)
        else:
            sae = train_to_folder(folder, recipe, here.features["match"], here.origin)
        return measure_one(sae, submission_of(sae, folder), here, job.plan)


def measure_one(sae: Sae, submission: Mapping[str, Any], here: Prepared, plan: Plan) -> Measured:
    """Every metric of the check on one SAE, its untrained twins and its random codes.

    Measurements of several SAEs make a document with ``combine``.
    """
    scores = {kind: list(many) for kind, many in _kinds(sae, here, plan)}
    means = {
        kind: {name: _plain(metrics.average([one[name] for one in many])) for name in many[0]}
        for kind, many in scores.items()
    }
    return Measured(
        dict(submission),
        {kind: {n: s for n, s in mean.items() if n != "l0"} for kind, mean in means.items()},
        {kind: mean["l0"].value for kind, mean in means.items()},
    )


def _kinds(
    sae: Sae, here: Prepared, plan: Plan
) -> Iterator[tuple[str, Iterator[dict[str, Score]]]]:
    own = encode_all(sae, here.features)
    twins = untrained_twins(sae, here.features, own, plan.twin_seeds)
    features = here.features["score"]
    for kind, codes in (
        ("trained", [own]),
        ("untrained", [encode_all(twin, here.features) for twin in twins]),
        ("random_codes", [shuffled_codes(own, seed, here.labels) for seed in plan.twin_seeds]),
    ):
        yield kind, (measure_all(one, features, here.labels, plan) for one in codes)


def measure_all(
    codes: Mapping[str, sp.csr_array], features: np.ndarray, labels: Labels, plan: Plan
) -> dict[str, Score]:
    """Every metric of the check on one set of codes, and their L0.

    Args:
        codes: ``match`` and ``score`` (N, d), ``base`` and ``edited`` (P, d) where there are pairs.
        features: (N, D) of the score split.
        labels: of the same rows.
        plan: its settings.
    """
    protocol = plan.protocol
    scores = dict(measure_codes(codes, labels, protocol).scores)
    held_out, present = codes["score"], labels.score
    single = metrics.match_concepts(codes["match"], labels.match, matcher="one_to_one")
    scores |= {
        "match_score_one_to_one": metrics.match_score(
            held_out, present, single, **protocol.bootstrap
        ),
        "fms": metrics.fms(
            held_out, present, subsamples=plan.subsamples, seed=protocol.bootstrap_seed
        ),
        "ms": metrics.ms_score(held_out, features, **protocol.bootstrap),
        "cknna": metrics.cknna(
            held_out, features, subsamples=plan.subsamples, seed=protocol.bootstrap_seed
        ),
    }
    return {name: scores[name] for name in (*OWN, *BASELINES, "l0") if name in scores}


def _plain(score: Score) -> Score:
    # a Score travels to the parent process; its subclass would drag arrays along
    return Score(*(getattr(score, name) for name in Score.__dataclass_fields__))


def _document(measured: Sequence[Measured], plan: Plan) -> dict[str, Any]:
    ordered = sorted(
        measured, key=lambda one: (one.submission["architecture"], one.submission["d_sae"])
    )
    names = ordered[0].scores["trained"]
    rows = [_row(name, [one.scores for one in ordered]) for name in names]
    return {
        "schema_version": 1,
        "protocol": plan.as_dict(),
        "configurations": [{**one.submission, "l0": dict(one.l0)} for one in ordered],
        "rows": rows,
        "passed": all(row["passed"] for row in rows if row["own"]),
        "environment": environment(),
    }


def _row(name: str, scores: Sequence[Mapping[str, Mapping[str, Score]]]) -> dict[str, Any]:
    means = {kind: _mean([one[kind][name] for one in scores]) for kind in KINDS}
    return {
        "metric": name,
        "own": name in OWN,
        **{kind: score_json(mean) for kind, mean in means.items()},
        "passed": all(metrics.clearly_above(means["trained"], means[kind]) for kind in KINDS[1:]),
        "values": [{kind: one[kind][name].value for kind in KINDS} for one in scores],
    }


def _mean(scores: Sequence[Score]) -> Score:
    """Mean over configurations inside each resample; n is their number."""
    left_out: Counter[str] = Counter()
    for score in scores:
        left_out.update(score.not_applicable)
    return replace(metrics.average(scores), n=len(scores), not_applicable=dict(left_out))
