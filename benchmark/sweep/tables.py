"""The tables of a sweep: rows of exact values, from its records alone."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.sweep.ablations import k_table, matchers, matchers_by_sae, sanity_table
from benchmark.sweep.config import SweepConfig
from benchmark.sweep.plan import TITLES, Job
from benchmark.sweep.rows import (
    PLACE,
    SAE_COLUMNS,
    SCORES,
    Found,
    Published,
    Table,
    columns_of,
    in_order,
    own_scores,
    place_of,
    sae_of,
    score_columns,
)
from benchmark.workers import Setting


def make_tables(
    config: SweepConfig,
    found: Found,
    checks: Mapping[Setting, Mapping[str, Any]],
    published: Published,
) -> list[Table]:
    """Every table of the sweep; one without rows is left out.

    Args:
        config: the sweep.
        found: its records.
        checks: sanity documents by setting.
        published: the paper's values.
    """
    main = [one for one in found if one[0].main and one[1].full]
    tables = [
        _best(main, published),
        _results(main),
        matchers(config, found),
        matchers_by_sae(config, found),
        k_table(config, found),
        sanity_table(checks),
    ]
    return [table for table in tables if table.rows]


def _results(main: Found) -> Table:
    return Table(
        "results",
        "Every SAE of the main grid",
        columns_of(*SAE_COLUMNS, *score_columns(SCORES)),
        tuple({**sae_of(job), **own_scores(record, SCORES)} for job, _, record in in_order(main)),
        "K counts for TopK, BatchTopK and Matryoshka alone.",
    )


def _best(main: Found, published: Published) -> Table:
    groups: dict[tuple[Setting, str], list[tuple[Job, Mapping[str, Any]]]] = {}
    for job, _, record in in_order(main):
        groups.setdefault((job.setting, job.recipe.architecture), []).append((job, record))
    rows = []
    for (setting, architecture), many in groups.items():
        row: dict[str, Any] = {**place_of(many[0][0]), "architecture": TITLES[architecture]}
        for name in ("delta_match_score", "tapa_score"):
            size, score = _best_size(many, name)
            row |= {f"{name}_d_sae": size, name: score}
        paper = published(setting.dataset, setting.encoder, architecture) or {}
        row |= {f"paper_{key}": paper.get(key) for key in _PAPER}
        rows.append(row)
    shown = [key for key in _PAPER if any(row[f"paper_{key}"] for row in rows)]
    return Table(
        "best",
        "Best dictionary size of each architecture",
        columns_of(
            *PLACE,
            ("architecture", "text", "Architecture"),
            ("delta_match_score_d_sae", "int", "Size, matching"),
            ("delta_match_score", "score", "ΔMATCHScore"),
            ("tapa_score_d_sae", "int", "Size, edits"),
            ("tapa_score", "score", "TAPAScore"),
            *((f"paper_{key}", "published", _PAPER[key]) for key in shown),
        ),
        tuple(rows),
        "A score over several training seeds is their mean, without an interval; ties go to the "
        "smaller dictionary. Values of the paper are read off its figures or text (≈)."
        if shown
        else "A score over several training seeds is their mean, without an interval; ties go to "
        "the smaller dictionary.",
    )


_PAPER = {
    "delta_match_score": "ΔMATCHScore, paper",
    "d_sae": "size, matching, paper",
    "tapa_score": "TAPAScore, paper",
    "tapa_d_sae": "size, edits, paper",
}


def _best_size(
    many: Iterable[tuple[Job, Mapping[str, Any]]], name: str
) -> tuple[int | None, dict[str, Any] | None]:
    sizes: dict[int, list[Mapping[str, Any]]] = {}
    for job, record in many:
        score = record["scores"].get(name)
        if score is not None and score["value"] is not None:
            sizes.setdefault(job.recipe.d_sae, []).append(score)
    means = {size: over_seeds(scores) for size, scores in sorted(sizes.items())}
    if not means:
        return None, None
    best = max(means, key=lambda size: (means[size]["value"], -size))
    return best, means[best]


def over_seeds(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A score of one seed as it is; of several the mean, whose interval no record holds."""
    if len(scores) == 1:
        return dict(scores[0])
    value = statistics.fmean(score["value"] for score in scores)
    return {"value": value, "ci95": None, "n": len(scores), "not_applicable": {}}
