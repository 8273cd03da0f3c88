"""What each number on the site means; the one place its words come from."""

from dataclasses import dataclass

from leaderboard.definitions.card import CARD
from leaderboard.definitions.context import BASELINES, PARTS, READING
from leaderboard.definitions.generative import GENERATIVE, GENERATIVE_PARTS
from leaderboard.definitions.judge import JUDGE
from leaderboard.definitions.kinds import SOURCES, Definition, Source
from leaderboard.definitions.sanity import SANITY
from leaderboard.definitions.scores import SCORES

__all__ = [
    "BY_ANCHOR",
    "COLUMN",
    "COLUMNS",
    "DELTAS",
    "GENERATOR_COLUMNS",
    "GROUPS",
    "INTERVAL",
    "SOURCES",
    "SPREAD",
    "Column",
    "Definition",
    "Source",
    "judge_column",
]

INTERVAL, SPREAD = "95 % interval", "95 % resampling spread"


@dataclass(frozen=True)
class Column:
    """A score of the record that has a column of its own on the board."""

    key: str
    head: str
    definition: Definition
    decimals: int = 3

    @property
    def hover(self) -> str:
        d = self.definition
        unit = f" Unit: {d.unit}." if d.unit else ""
        ends = f" In brackets its {self.ends}." if d.spread_only else ""
        return f"{d.label}: {d.short} {d.direction}. Range {d.range}.{unit}{ends}"

    @property
    def ends(self) -> str:
        """What the two numbers beside its value are."""
        return SPREAD if self.definition.spread_only else INTERVAL

    @property
    def kind(self) -> str:
        """The same in exports: "interval" or "spread"."""
        return "spread" if self.definition.spread_only else "interval"


GROUPS = (
    ("Scores", SCORES),
    ("Per concept and per latent", PARTS),
    ("AIU report card", CARD),
    ("Judged latents", JUDGE),
    ("Baselines and bounds", BASELINES),
    ("Sanity check", SANITY),
    ("Image generators", (*GENERATIVE, *GENERATIVE_PARTS)),
    ("How to read them", READING),
)
BY_ANCHOR = {d.anchor: d for _, definitions in GROUPS for d in definitions}

_HEADS = {
    "delta_match_score": "ΔMATCHScore",
    "match_score": "MATCHScore held-out",
    "match_score_in_sample": "MATCHScore in-sample",
    "tapa_score": "TAPAScore",
    "delta_tapa_score": "ΔTAPAScore",
    "delta_stay": "Δstay",
    "explained_variance": "Explained variance",
    "l0": "L0",
    "dead_fraction": "Dead",
    "redundant_fraction": "Redundant",
    "enrichment_q1": "Q1 enrichment",
}
COLUMNS = tuple(
    Column(key, head, definition, 1 if key == "l0" else 2 if key == "enrichment_q1" else 3)
    for (key, head), definition in zip(_HEADS.items(), SCORES, strict=True)
)
DELTAS = frozenset(("delta_match_score", "delta_tapa_score"))
"""Differences to the untrained twin, which are 0 for the twin itself by definition."""
COLUMN = {column.key: column for column in COLUMNS}

_GENERATOR_KEYS = (
    "sad", "pad", "r_sad", "r_sad_over_null", "fid", "kid", "precision", "recall", "density",
    "coverage",
)  # fmt: skip
GENERATOR_COLUMNS = tuple(
    Column(
        key,
        "R-SaD / null" if key == "r_sad_over_null" else definition.label,
        definition,
        {"fid": 2, "kid": 4}.get(key, 3),
    )
    for key, definition in zip(_GENERATOR_KEYS, GENERATIVE, strict=True)
)
"""The columns of a board of image generators; the first is the one that ranks."""


def judge_column(judge: str) -> Column:
    """The column of one judge's DAME; judges are never mixed in one."""
    return Column(f"dame/{judge}", f"DAME ({judge})", BY_ANCHOR["dame"])
