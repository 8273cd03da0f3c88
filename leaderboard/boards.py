"""Boards: which records may be ranked together, and their ranks with uncertainty."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug
from leaderboard.definitions import COLUMNS, Column, judge_column
from leaderboard.numbers import Number, number, spread
from leaderboard.records import Record, Score

HEADLINE = "delta_match_score"
_SAME_PROTOCOL = ("version", "matcher", "beta", "max_latents", "match_split", "score_split")


@dataclass(frozen=True)
class Rank:
    """Position by value (ties share it), and the best and worst the intervals allow."""

    place: int
    best: int
    worst: int

    @property
    def span(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


@dataclass(frozen=True)
class Entry:
    """One row: a record, its numbers by column, and its rank (None where not measured)."""

    record: Record
    cells: Mapping[str, Number]
    rank: Rank | None


@dataclass(frozen=True)
class Reference:
    """A row to read the others against: the range of a baseline over the board, by column."""

    key: str
    label: str
    anchor: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Board:
    """Records measured on the same data, with the same encoder and protocol, best first.

    ``columns`` are the scores that have one, then the DAME of every judge.
    """

    slug: str
    dataset: Mapping[str, Any]
    pairs_dataset: Mapping[str, Any] | None
    encoder: Mapping[str, Any]
    protocol: Mapping[str, Any]
    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    references: tuple[Reference, ...]

    @property
    def title(self) -> str:
        data = self.dataset["name"]
        if self.pairs_dataset is not None:
            data = f"{data} + {self.pairs_dataset['name']}"
        return f"{data} × {self.encoder['name']}"

    @property
    def records(self) -> list[Record]:
        return [entry.record for entry in self.entries]

    @property
    def ranked(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.rank is not None]


def make_boards(records: Sequence[Record]) -> tuple[Board, ...]:
    """Group records into boards, ordered by title; data, encoder and protocol are never mixed.

    Two records of one SAE on one board are a ``UserError`` naming both files.
    """
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[_key(record)].append(record)
    boards = [_board(key, group) for key, group in groups.items()]
    return tuple(sorted(boards, key=lambda board: (board.title, board.slug)))


def rank(scores: Sequence[Score | None]) -> list[Rank | None]:
    """Ranks of scores, higher is better, whatever their order.

    Best possible place: 1 + the scores whose whole interval lies above this one's. Worst: the
    scores whose interval does not lie wholly below this one's. A missing score has no rank.
    """
    known = [score for score in scores if score is not None and score.value is not None]
    values = [_number(score.value) for score in known]
    lows = [_number(score.low) for score in known]
    highs = [_number(score.high) for score in known]
    ranks: list[Rank | None] = []
    for score in scores:
        if score is None or score.value is None:
            ranks.append(None)
            continue
        low, high = _number(score.low), _number(score.high)
        place = 1 + sum(value > score.value for value in values)
        best = 1 + sum(other > high for other in lows)
        worst = sum(other >= low for other in highs)
        ranks.append(Rank(place, min(best, place), max(worst, place)))
    return ranks


def _key(record: Record) -> str:
    document = record.document
    encoder = document["encoder"]
    pairs = document.get("pairs_dataset")
    parts = [
        [document["dataset"]["name"], document["dataset"]["fingerprint"]],
        [pairs["name"], pairs["fingerprint"]] if pairs else None,
        [encoder["name"], encoder["weights_sha256"], encoder.get("preprocessing")],
        [document["protocol"][name] for name in _SAME_PROTOCOL],
    ]
    return json.dumps(parts)


def _board(key: str, records: list[Record]) -> Board:
    seen: dict[str, Record] = {}
    for record in records:
        if twin := seen.get(record.id):
            raise UserError(
                f"{record.file}: SAE {record.id!r} is already measured on this board by "
                f"{twin.file}; keep one of the two"
            )
        seen[record.id] = record
    first = records[0].document
    pairs = first.get("pairs_dataset")
    named = [first["dataset"]["name"], pairs["name"] if pairs else "", first["encoder"]["name"]]
    digest = hashlib.sha256(key.encode()).hexdigest()[:8]
    judges = sorted({judge for record in records for judge in record.judges})
    columns = (*COLUMNS, *map(judge_column, judges))
    return Board(
        slug="-".join([*filter(None, (slug(name, 40) for name in named)), digest]),
        dataset=first["dataset"],
        pairs_dataset=pairs,
        encoder=first["encoder"],
        protocol={name: first["protocol"][name] for name in _SAME_PROTOCOL},
        columns=columns,
        entries=_entries(records, columns),
        references=_references(records, columns),
    )


def _entries(records: list[Record], columns: Sequence[Column]) -> tuple[Entry, ...]:
    ranks = rank([record.score(HEADLINE) for record in records])
    entries = [
        Entry(
            record=record,
            cells={c.key: number(record.score(c.key), c.decimals) for c in columns},
            rank=place,
        )
        for record, place in zip(records, ranks, strict=True)
    ]
    last = len(records) + 1
    return tuple(sorted(entries, key=lambda e: (e.rank.place if e.rank else last, e.record.id)))


def _references(records: list[Record], columns: Sequence[Column]) -> tuple[Reference, ...]:
    def row(key: str, label: str, anchor: str, of: Any) -> Reference | None:
        found = {
            c.key: [score for record in records if (score := of(record, c.key)) is not None]
            for c in columns
        }
        if not any(found.values()):
            return None
        cells = {c.key: spread(found[c.key], c.decimals) if found[c.key] else "" for c in columns}
        return Reference(key, label, anchor, cells)

    rows = [
        row(
            "untrained", "Untrained twin", "untrained-twin", lambda r, k: r.baseline("untrained", k)
        ),
        row("random", "Random codes", "random-codes", lambda r, k: r.baseline("random_codes", k)),
        row("prevalence", "Always yes", "prevalence-bound", _bound_for("prevalence")),
        row("probe", "Linear probe", "linear-probe", _bound_for("linear_probe")),
    ]
    return tuple(reference for reference in rows if reference is not None)


def _bound_for(name: str) -> Any:
    return lambda record, key: record.bound(name) if key == "match_score" else None


def _number(value: float | None) -> float:
    assert value is not None
    return value
