"""What the concept-annotation paper published; most of it read off figures, and marked so."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_BEST = ("delta_match_score", "d_sae", "tapa_score", "tapa_d_sae")


@cache
def ca() -> dict[str, Any]:
    """Tables of "Evaluating the Interpretability of Sparse Autoencoders with Concept Annotations".

    A value is ``{"printed", "value", "approximate"}``, its ``value`` None where the paper has
    words alone.
    """
    text = resources.files("leaderboard.published").joinpath("ca.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def best_of(dataset: str, encoder: str, architecture: str) -> Mapping[str, Any] | None:
    """The paper's best of an architecture; None where dataset or encoder are not the paper's."""
    for row in ca()["best"]["rows"]:
        if (row["dataset"], row["encoder"], row["architecture"]) == (
            dataset,
            encoder,
            architecture,
        ):
            return {key: row[key] for key in _BEST}
    return None
