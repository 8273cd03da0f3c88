"""How well each score tells labelled images apart: the numbers of one set as its document has them.

Beside RA-CLIPScore, CLIPScore and HCS stand the ablations of RA-CLIPScore.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.generative.labels import UNKNOWN
from benchmark.generative.ra_clip import ABLATIONS
from benchmark.generative.separation import separation
from benchmark.metrics.arrays import FloatArray
from benchmark.records import number

if TYPE_CHECKING:
    from benchmark.generative.compare import Side

STATISTICS = ("auc", "cohens_d", "hellinger", "one_minus_ovl")
LABELS = {
    "ra_clip_score": "RA-CLIPScore",
    "clip_score": "CLIPScore",
    "hcs": "HCS",
    "without_dual_prompts": "RA without dual prompts",
    "without_local_tokens": "RA without local tokens",
    "without_global_token": "RA without global token",
}
"""Score → what it is called, in the order of the tables."""
NAMED = 5
"""Ids shown of those that match no image."""

_COSINES = ("clip_score", "hcs", "without_dual_prompts")
_CENTRE = "images or the text lie at their centre"


def separation_json(
    side: "Side", names: tuple[str, ...], hcs: FloatArray, *, dual: bool
) -> dict[str, Any] | None:
    """Separation statistics of every score and attribute; None for a set without labels.

    Args:
        side: the set, with its labels.
        names: A attributes.
        hcs: HCS of its images, (N, A).
        dual: whether its RA-CLIPScores compare two prompts, and so lie in [0, 1].
    """
    labels, scores = side.labels, side.scores
    if labels is None:
        return None
    values = labels.values[scores.places]
    columns = {"ra_clip_score": scores.image, "clip_score": scores.clip, "hcs": hcs}
    if scores.ablated is not None:
        for place, part in enumerate(ABLATIONS):
            columns[f"without_{part}"] = scores.ablated[:, place]
    bounded = {*columns} - {*_COSINES} - (set() if dual else {"ra_clip_score"})
    rows = [
        {
            "attribute": name,
            "n_with": int((values[:, a] == 1).sum()),
            "n_without": int((values[:, a] == 0).sum()),
            "scores": {
                key: _one(table[:, a], values[:, a], saturates=key in bounded)
                for key, table in columns.items()
            },
        }
        for a, name in enumerate(names)
        if name not in labels.missing
    ]
    return {
        "source": dict(labels.source),
        "images": int((values != UNKNOWN).any(axis=1).sum()),
        "unlabelled": int((values == UNKNOWN).all(axis=1).sum()),
        "unmatched": {
            "count": len(labels.unmatched),
            "examples": list(labels.unmatched[:NAMED]),
        },
        "not_labelled": list(labels.missing),
        "not_asked_for": len(labels.unused),
        "attributes": rows,
        "means": _means(rows, list(columns)),
    }


def _one(values: FloatArray, labels: np.ndarray, *, saturates: bool) -> dict[str, Any]:
    """Statistics of one score and attribute on the labelled images, or why there are none."""
    known = labels != UNKNOWN
    if not np.isfinite(values[known]).all():
        return {**dict.fromkeys((*STATISTICS, "saturated")), "not_applicable": _CENTRE}
    if not known.any():
        reason = "no image is labelled"
        return {**dict.fromkeys((*STATISTICS, "saturated")), "not_applicable": reason}
    found = separation(values[known][:, None], labels[known][:, None] == 1)
    return {
        **{name: number(getattr(found, name)[0]) for name in STATISTICS},
        "saturated": number(found.saturated[0]) if saturates else None,
        "not_applicable": next(iter(found.not_applicable), None),
    }


def _means(rows: list[dict[str, Any]], scores: list[str]) -> dict[str, Any]:
    """Means over the attributes for which every score that has any statistics has all of them."""

    def complete(row: dict[str, Any], score: str) -> bool:
        return all(row["scores"][score][name] is not None for name in STATISTICS)

    there = [score for score in scores if any(complete(row, score) for row in rows)]
    used = [row for row in rows if there and all(complete(row, score) for score in there)]

    def mean(score: str, name: str) -> float | None:
        values = [row["scores"][score][name] for row in used]
        whole = bool(values) and score in there and None not in values
        return float(np.mean(values)) if whole else None

    return {
        "n": len(used),
        "scores": {
            score: {name: mean(score, name) for name in (*STATISTICS, "saturated")}
            for score in scores
        },
    }
