"""Numbers that papers published, shown beside ours and never mixed with them.

The files hold what the papers print, in their units; ``approximate`` marks what they give only in
words.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

Four = tuple[float, float, float, float]


@dataclass(frozen=True)
class RedundancyRow:
    """Share of same-quartile redundant pairs by quartile, in per cent."""

    architecture: str
    within_quartile: Four
    dead_filtered: float
    p_printed: str


@dataclass(frozen=True)
class DeficitRow:
    """Interpretability by quartile, in per cent; ``difference`` is worked out from the row."""

    architecture: str
    quartiles: Four
    difference_printed: float
    p_printed: str
    cohens_d: float | None
    note: str | None

    @property
    def difference(self) -> float:
        """Q1 minus the mean of Q2 to Q4, in points."""
        q1, *rest = self.quartiles
        return q1 - sum(rest) / 3


@dataclass(frozen=True)
class Aiu:
    """What the AIU paper published."""

    redundancy: tuple[RedundancyRow, ...]
    deficit: tuple[DeficitRow, ...]
    document: dict[str, Any]

    def printed(self, fact: str) -> str:
        """A number as the paper words it."""
        return str(self.document["facts"][fact]["printed"])


@cache
def aiu() -> Aiu:
    """Tables of "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework"."""
    text = resources.files(__name__).joinpath("aiu.json").read_text(encoding="utf-8")
    document = json.loads(text)
    redundancy = tuple(
        RedundancyRow(
            row["architecture"],
            _four(row["within_quartile"]),
            row["dead_filtered"],
            row["p_printed"],
        )
        for row in document["redundancy"]["rows"]
    )
    deficit = tuple(
        DeficitRow(
            row["architecture"],
            _four(row["quartiles"]),
            row["difference_printed"],
            row["p_printed"],
            row["cohens_d"],
            row["note"],
        )
        for row in document["deficit"]["rows"]
    )
    return Aiu(redundancy, deficit, document)


def _four(values: list[float]) -> Four:
    one, two, three, four = values
    return one, two, three, four
