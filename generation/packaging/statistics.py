"""Descriptive statistics of a package, as JSON and as tables."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import files
from generation.packaging.choose import Chosen
from generation.packaging.pairs import Vocabulary
from generation.work import Plan

FOLDER = "statistics"
JSON = "statistics.json"
_COLUMNS = {
    "concepts": ("concept", "group", "in_base", "added", "removed"),
    "classes": ("class", "pairs"),
    "selection": ("stage", "reason", "edits"),
}


def statistics(
    plan: Plan, chosen: Chosen, vocabulary: Vocabulary, present: np.ndarray
) -> dict[str, Any]:
    """Counts and quantiles of a package.

    Args:
        plan: what was planned.
        chosen: what is packaged.
        vocabulary: its concepts.
        present: bool (P, A), concepts of the base pictures.
    """
    edits = chosen.edits
    added = Counter(edit.added for edit in edits)
    removed = Counter(edit.removed for edit in edits)
    classes = Counter(edit.class_name for edit in edits if edit.class_name is not None)
    return {
        "pairs": len(edits),
        "base_pictures": len({edit.base for edit in edits}),
        "planned": len(plan.edits),
        "concepts": [
            {
                "concept": name,
                "group": vocabulary.groups[index],
                "in_base": int(present[:, index].sum()),
                "added": added[name],
                "removed": removed[name],
            }
            for index, name in enumerate(vocabulary.names)
        ],
        "classes": [{"class": name, "pairs": classes[name]} for name in sorted(classes)],
        "attribute_kinds": dict(sorted(Counter(edit.attribute_kind for edit in edits).items())),
        "selection": [
            {"stage": stage, "reason": reason, "edits": count}
            for stage, reason, count in chosen.table
        ],
        "classifier": _classifier(chosen),
        "outside_change": _quantiles(
            [
                verdict.outside_change
                for verdict in chosen.verdicts.values()
                if verdict.outside_change is not None
            ]
        ),
    }


def _classifier(chosen: Chosen) -> dict[str, int]:
    """How many pairs the classifier agrees with, disagrees with, and has no opinion on."""
    counts: Counter[str] = Counter()
    for edit in chosen.edits:
        verdict = chosen.verdicts.get(edit.id)
        checks = () if verdict is None else verdict.checks
        if {check.concept for check in checks} != set(edit.changed):
            counts["no_opinion"] += 1
        else:
            counts["agrees" if all(check.right for check in checks) else "disagrees"] += 1
    return {key: counts[key] for key in ("agrees", "disagrees", "no_opinion")}


def _quantiles(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    low, middle, high = np.quantile(np.array(values, dtype=np.float64), (0.1, 0.5, 0.9)).tolist()
    return {"n": len(values), "p10": low, "median": middle, "p90": high}


def write_statistics(folder: Path, document: Mapping[str, Any]) -> None:
    """Write one JSON file with everything, and one table each of what a spreadsheet takes."""
    files.write_json(folder / FOLDER / JSON, document)
    for name, columns in _COLUMNS.items():
        path = folder / FOLDER / f"{name}.csv"
        with (
            files.replacing(path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(document[name])
