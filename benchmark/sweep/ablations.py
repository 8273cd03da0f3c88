"""The tables beside the main one: matchers, K, sanity check."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from scipy import stats

from benchmark.sweep.config import SweepConfig
from benchmark.sweep.plan import Job, in_k_sweep
from benchmark.sweep.rows import (
    BRIEF,
    PLACE,
    SAE_COLUMNS,
    SCORES,
    Found,
    Table,
    columns_of,
    in_order,
    own_scores,
    place_of,
    sae_of,
    score_columns,
)
from benchmark.workers import Setting

LEAST_FOR_CORRELATION = 3
CHECKED = {
    "match_score": "MATCHScore, held-out",
    "match_score_in_sample": "MATCHScore, in-sample",
    "match_score_one_to_one": "MATCHScore, one-to-one",
    "tapa_score": "TAPAScore",
    "fms": "FMS",
    "ms": "MS",
    "cknna": "CKNNA",
}


def _matcher_rows(config: SweepConfig, found: Found) -> list[tuple[Job, Any, Mapping[str, Any]]]:
    """Main SAEs under every matcher, the first being that of the result records."""
    if len(config.matchers) < 2:
        return []
    ordered = [
        (job, wanted.matcher or config.matchers[0], record)
        for job, wanted, record in in_order(found)
        if job.main
    ]
    return sorted(ordered, key=lambda one: config.matchers.index(one[1]))


def matchers(config: SweepConfig, found: Found) -> Table:
    groups: dict[tuple[Setting, str], list[tuple[Job, Mapping[str, Any]]]] = {}
    for job, matcher, record in _matcher_rows(config, found):
        groups.setdefault((job.setting, matcher.label), []).append((job, record))
    rows = [
        {
            **place_of(many[0][0]),
            "matcher": label,
            "saes": len(many),
            **{name: _mean([record["scores"].get(name) for _, record in many]) for name in BRIEF},
            "correlation": _correlation([record for _, record in many]),
        }
        for (_, label), many in groups.items()
    ]
    return Table(
        "matchers",
        "Matchers: mean over the SAEs of the main grid",
        columns_of(
            *PLACE,
            ("matcher", "text", "Matcher"),
            ("saes", "int", "SAEs"),
            *((name, "number", SCORES[name]) for name in BRIEF),
            ("correlation", "number", "Spearman of TAPAScore with MATCHScore"),
        ),
        tuple(rows),
        "Δ is against untrained twins matched in the same way.",
    )


def matchers_by_sae(config: SweepConfig, found: Found) -> Table:
    return Table(
        "matchers_by_sae",
        "Matchers: every SAE of the main grid",
        columns_of(("matcher", "text", "Matcher"), *SAE_COLUMNS, *score_columns(BRIEF)),
        tuple(
            {"matcher": matcher.label, **sae_of(job), **own_scores(record, BRIEF)}
            for job, matcher, record in _matcher_rows(config, found)
        ),
    )


def _mean(scores: Sequence[Mapping[str, Any] | None]) -> float | None:
    """Mean over SAEs; None where one of them has no value, for it would be left out silently."""
    values = [None if score is None else score["value"] for score in scores]
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


def _correlation(records: Sequence[Mapping[str, Any]]) -> float | None:
    pairs = [
        (record["scores"]["match_score"]["value"], record["scores"]["tapa_score"]["value"])
        for record in records
        if "tapa_score" in record["scores"]
    ]
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    if len(known) < max(LEAST_FOR_CORRELATION, len(records)):
        return None
    if any(len(set(values)) == 1 for values in zip(*known, strict=True)):
        return None
    return float(stats.spearmanr([x for x, _ in known], [y for _, y in known]).statistic)


def k_table(config: SweepConfig, found: Found) -> Table:
    names = (*BRIEF, "delta_stay", "l0")
    chosen = [one for one in found if one[1].full and in_k_sweep(config, one[0].recipe)]
    return Table(
        "k",
        "Number of active latents K",
        columns_of(*SAE_COLUMNS, *score_columns(names)),
        tuple({**sae_of(job), **own_scores(record, names)} for job, _, record in in_order(chosen)),
    )


def sanity_table(checks: Mapping[Setting, Mapping[str, Any]]) -> Table:
    rows = [
        {
            "dataset": setting.dataset + (f" + {setting.pairs}" if setting.pairs else ""),
            "encoder": setting.encoder,
            "saes": len(document["configurations"]),
            "metric": CHECKED[row["metric"]],
            **{kind: row[kind] for kind in ("trained", "untrained", "random_codes")},
            "check": "passes" if row["passed"] else "fails",
        }
        for setting, document in checks.items()
        for row in document["rows"]
    ]
    return Table(
        "sanity",
        "Sanity check: trained SAEs against untrained twins and random codes",
        columns_of(
            *PLACE,
            ("saes", "int", "SAEs"),
            ("metric", "text", "Metric"),
            ("trained", "score", "Trained"),
            ("untrained", "score", "Untrained twin"),
            ("random_codes", "score", "Random codes"),
            ("check", "text", "Check"),
        ),
        tuple(rows),
        "A metric passes if trained is above both others with 95 % intervals apart. FMS, MS and "
        "CKNNA are baselines.",
    )
