"""What the tables of a sweep are made of: columns, rows, and where an SAE stands in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmark.sweep.plan import TITLES, Job, Wanted

Found: TypeAlias = Sequence[tuple[Job, Wanted, Mapping[str, Any]]]
"""Jobs with the records of their measurements."""

Published: TypeAlias = Callable[[str, str, str], Mapping[str, Any] | None]
"""What the paper has for (dataset, encoder, architecture), where these are the paper's."""

SCORES = {
    "match_score": "MATCHScore",
    "delta_match_score": "ΔMATCHScore",
    "tapa_score": "TAPAScore",
    "delta_tapa_score": "ΔTAPAScore",
    "delta_stay": "Δstay",
    "l0": "L0",
    "explained_variance": "explained variance",
    "dead_fraction": "dead latents",
}
BRIEF = ("match_score", "delta_match_score", "tapa_score", "delta_tapa_score")
PLACE = (("dataset", "text", "Dataset"), ("encoder", "text", "Encoder"))


@dataclass(frozen=True)
class Column:
    """A column: its key in the rows, what it holds, and its head.

    ``kind`` is ``text``, ``int``, ``number``, ``score`` (a score object) or ``published``
    (``{"printed", "value", "approximate"}``).
    """

    key: str
    kind: str
    head: str


@dataclass(frozen=True)
class Table:
    """A table; a row is a mapping from column key to value, None where there is none."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The table as JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "columns": [
                {"key": one.key, "kind": one.kind, "head": one.head} for one in self.columns
            ],
            "rows": [dict(row) for row in self.rows],
        }


def columns_of(*parts: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*part) for part in parts)


def score_columns(names: Iterable[str]) -> list[tuple[str, str, str]]:
    return [(name, "score", SCORES[name]) for name in names]


def place_of(job: Job) -> dict[str, Any]:
    pairs = job.setting.pairs
    return {
        "dataset": job.setting.dataset + (f" + {pairs}" if pairs else ""),
        "encoder": job.setting.encoder,
    }


def sae_of(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        **place_of(job),
        "architecture": TITLES[job.recipe.architecture],
        "d_sae": job.recipe.d_sae,
        "k": job.recipe.k,
        "seed": job.recipe.seed,
    }


def own_scores(record: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: record["scores"].get(name) for name in names}


SAE_COLUMNS = (
    ("id", "text", "SAE"),
    *PLACE,
    ("architecture", "text", "Architecture"),
    ("d_sae", "int", "Dictionary size"),
    ("k", "int", "K"),
    ("seed", "int", "Seed"),
)


def in_order(found: Found) -> Found:
    order = {setting: i for i, setting in enumerate(dict.fromkeys(j.setting for j, _, _ in found))}
    names = list(TITLES)
    return sorted(
        found,
        key=lambda one: (
            order[one[0].setting],
            names.index(one[0].recipe.architecture),
            one[0].recipe.d_sae,
            one[0].recipe.k,
            one[0].recipe.seed,
        ),
    )
