"""How well scores tell labelled images apart, as tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.generative.labelled import LABELS
from leaderboard.numbers import Number, plain

STATISTICS = {"auc": 3, "cohens_d": 2, "hellinger": 3, "one_minus_ovl": 3, "saturated": 3}
"""Statistic → decimals."""


@dataclass(frozen=True)
class Cells:
    """Statistics of one score, in the order of ``STATISTICS``."""

    name: str
    values: tuple[Number, ...]


@dataclass(frozen=True)
class LabelledRow:
    """One attribute: images with and without it, the statistics of each score, why some lack."""

    name: str
    n_with: int
    n_without: int
    scores: tuple[Cells, ...]
    effects: tuple[Number, ...]
    reason: str


@dataclass(frozen=True)
class Labelled:
    """One set with labels.

    Attributes:
        key: ``real`` or ``generated``.
        source: what the labels are from.
        notes: what did not match, one phrase each.
        images: labelled images.
        attributes: number of attributes behind the means.
        means: one row a score.
        rows: one an attribute.
        compared: the scores with all statistics, names of ``rows[…].scores``.
        effects: scores of the table of Cohen's d, ablations among them.
        aucs: mean AUC of RA-CLIPScore and of CLIPScore.
    """

    key: str
    source: str
    notes: tuple[str, ...]
    images: int
    attributes: int
    means: tuple[Cells, ...]
    rows: tuple[LabelledRow, ...]
    compared: tuple[str, ...]
    effects: tuple[str, ...]
    aucs: tuple[Number, Number]


def labelled_sets(document: Mapping[str, Any]) -> list[Labelled]:
    """The sets whose labels were given."""
    found = document.get("separation") or {}
    return [
        _labelled(key, one) for key in ("real", "generated") if (one := found.get(key)) is not None
    ]


def _labelled(key: str, found: Mapping[str, Any]) -> Labelled:
    means = found["means"]["scores"]
    effects = [name for name in LABELS if name in means]
    compared = [name for name in effects if not name.startswith("without")]
    kind = "annotations of" if found["source"]["kind"] == "dataset" else "labels in"
    return Labelled(
        key,
        f"{kind} {found['source']['name']}",
        tuple(_notes(found)),
        found["images"],
        found["means"]["n"],
        tuple(_cells(name, means[name]) for name in effects),
        tuple(_row(row, compared, effects) for row in found["attributes"]),
        tuple(LABELS[name] for name in compared),
        tuple(LABELS[name] for name in effects),
        (plain(means["ra_clip_score"]["auc"], 3), plain(means["clip_score"]["auc"], 3)),
    )


def _cells(name: str, values: Mapping[str, Any]) -> Cells:
    numbers = (plain(values[key], decimals) for key, decimals in STATISTICS.items())
    return Cells(LABELS[name], tuple(numbers))


def _row(row: Mapping[str, Any], compared: list[str], effects: list[str]) -> LabelledRow:
    scores = row["scores"]
    reasons = dict.fromkeys(
        reason for name in compared if (reason := scores[name]["not_applicable"]) is not None
    )
    return LabelledRow(
        row["attribute"],
        row["n_with"],
        row["n_without"],
        tuple(_cells(name, scores[name]) for name in compared),
        tuple(plain(scores[name]["cohens_d"], 2) for name in effects),
        "; ".join(reasons),
    )


def _notes(found: Mapping[str, Any]) -> list[str]:
    told = []
    if found["unlabelled"]:
        told.append(f"{found['unlabelled']:,} images have no label")
    if count := found["unmatched"]["count"]:
        told.append(f"{count:,} labels are of ids that no image has")
    if found["not_labelled"]:
        told.append(f"no labels for {', '.join(found['not_labelled'])}")
    if found["not_asked_for"]:
        told.append(f"{found['not_asked_for']:,} labels are of attributes not asked for")
    return told
