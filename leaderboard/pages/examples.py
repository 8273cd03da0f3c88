"""Edit pairs of the concepts an SAE follows best and worst."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from leaderboard.numbers import rounded
from leaderboard.pages.pictures import Picture, Pictures

CONCEPTS_SHOWN = 3
PAIRS_SHOWN = 3


@dataclass(frozen=True)
class Side:
    """The added or the removed concept of a pair, and whether its coalition followed."""

    sign: str
    concept: str
    coalition: str
    outcome: str
    good: bool | None


@dataclass(frozen=True)
class ShownPair:
    """A base image and its edit, with the latents of the two coalitions that switched."""

    pair_id: str
    base: Picture | None
    edited: Picture | None
    sides: tuple[Side, ...]
    switched_on: str
    switched_off: str


@dataclass(frozen=True)
class Example:
    """A concept with pairs that add or remove it."""

    concept: str
    f1: str
    follows: str
    coalition: str
    pairs: tuple[ShownPair, ...]


def pick_examples(
    document: Mapping[str, Any], pictures: Pictures | None
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """The concepts that follow their edits best and worst, best first and worst first.

    A concept is as good as the mean of δ added and −δ removed, where it has both; equal ones go
    by F1, then by name. Concepts without an example pair are left out; none is in both lists.
    """
    rows = {row["concept"]: row for row in document["per_concept"]}
    pairs: dict[str, list[Mapping[str, Any]]] = {}
    for pair in sorted(document.get("pair_examples", []), key=lambda pair: str(pair["pair_id"])):
        for concept in {pair["added"], pair["removed"]} & rows.keys():
            pairs.setdefault(concept, []).append(pair)
    ranked = sorted(
        (name for name in pairs if _follows(rows[name]) is not None),
        key=lambda name: (-(_follows(rows[name]) or 0.0), -(rows[name]["f1"] or 0.0), name),
    )
    take = min(CONCEPTS_SHOWN, len(ranked) - len(ranked) // 2)
    best, worst = ranked[:take], ranked[take:][::-1][:CONCEPTS_SHOWN]

    def show(names: Sequence[str]) -> tuple[Example, ...]:
        return tuple(_example(rows, name, pairs[name], pictures) for name in names)

    return show(best), show(worst)


def _follows(row: Mapping[str, Any]) -> float | None:
    parts = []
    if row["delta_add"] is not None:
        parts.append(row["delta_add"])
    if row["delta_rem"] is not None:
        parts.append(-row["delta_rem"])
    return sum(parts) / len(parts) if parts else None


def _example(
    rows: Mapping[str, Mapping[str, Any]],
    concept: str,
    pairs: Sequence[Mapping[str, Any]],
    pictures: Pictures | None,
) -> Example:
    row = rows[concept]
    follows = _follows(row)
    return Example(
        concept=concept,
        f1="n/a" if row["f1"] is None else rounded(row["f1"]),
        follows="n/a" if follows is None else rounded(follows),
        coalition=latents(row["coalition"]),
        pairs=tuple(_pair(rows, pair, pictures) for pair in _some(pairs, concept)),
    )


def _some(pairs: Sequence[Mapping[str, Any]], concept: str) -> list[Mapping[str, Any]]:
    """The first few, by turns one that adds and one that removes the concept; never by outcome."""
    adds = [pair for pair in pairs if pair["added"] == concept]
    removes = [pair for pair in pairs if pair["added"] != concept]
    turns = [pair for both in zip_longest(adds, removes) for pair in both if pair is not None]
    return turns[:PAIRS_SHOWN]


def _pair(
    rows: Mapping[str, Mapping[str, Any]], pair: Mapping[str, Any], pictures: Pictures | None
) -> ShownPair:
    images = pictures.pair(pair["pair_id"]) if pictures is not None else None
    sides = [
        _side(rows, sign, pair[key], pair[delta], wanted)
        for sign, key, delta, wanted in (
            ("+", "added", "delta_add", 1),
            ("−", "removed", "delta_rem", -1),
        )
        if pair[key] is not None
    ]
    return ShownPair(
        pair_id=pair["pair_id"],
        base=images[0] if images else None,
        edited=images[1] if images else None,
        sides=tuple(sides),
        switched_on=latents(pair["switched_on"]),
        switched_off=latents(pair["switched_off"]),
    )


def _side(
    rows: Mapping[str, Mapping[str, Any]], sign: str, concept: str, delta: int | None, wanted: int
) -> Side:
    coalition = latents(rows[concept]["coalition"]) if concept in rows else "n/a"
    if delta is None:
        return Side(sign, concept, coalition, "not applicable", None)
    outcome = {1: "switches on", 0: "does not change", -1: "switches off"}[delta]
    return Side(sign, concept, coalition, outcome, delta == wanted)


def latents(indices: Sequence[int] | None) -> str:
    """A coalition as text: "12, 40", "none" where empty, "n/a" where not applicable."""
    if indices is None:
        return "n/a"
    return ", ".join(str(index) for index in indices) or "none"
