"""Boards: which records may be ranked together, and their ranks with uncertainty."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug
from benchmark.states import State
from leaderboard.definitions import COLUMNS, DELTAS, Column, judge_column
from leaderboard.numbers import ITSELF, TO, number, spread
from leaderboard.ranking.entries import Entry, Measured, Rank
from leaderboard.ranking.grouping import by_board
from leaderboard.ranking.ranks import rank
from leaderboard.reading.records import Record

__all__ = ["HEADLINE", "Board", "Entry", "Rank", "Reference", "make_boards", "rank"]

HEADLINE = "delta_match_score"
_SAME_PROTOCOL = ("version", "matcher", "beta", "max_latents", "match_split", "score_split")


@dataclass(frozen=True)
class Reference:
    """A row to read the others against: the range of a baseline over the board, by column.

    ``note`` says what the cells hold, where these are ranges.
    """

    key: str
    label: str
    anchor: str
    cells: Mapping[str, str]
    note: str = ""


@dataclass(frozen=True)
class Board:
    """Records measured on the same data, with the same encoder and protocol, best first.

    ``columns`` are the scores that have one, then the DAME of every judge. ``older`` were measured
    on an earlier state of the data, ``withdrawn`` were taken back; neither is ranked, and
    ``entries`` and ``references`` are without them.
    """

    slug: str
    dataset: Mapping[str, Any]
    pairs_dataset: Mapping[str, Any] | None
    encoder: Mapping[str, Any]
    protocol: Mapping[str, Any]
    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    references: tuple[Reference, ...]
    older: tuple[Entry, ...] = ()
    withdrawn: tuple[Entry, ...] = ()

    @property
    def title(self) -> str:
        data = self.dataset["name"]
        if self.pairs_dataset is not None:
            data = f"{data} + {self.pairs_dataset['name']}"
        return f"{data} × {self.encoder['name']}"

    @property
    def all(self) -> tuple[Entry, ...]:
        """Every entry that has a page."""
        return (*self.entries, *self.older, *self.withdrawn)

    def head(self) -> "Board":
        """The board without its entries: what a page that knows one entry only may show."""
        return replace(self, entries=(), references=(), older=(), withdrawn=())

    @cached_property
    def records(self) -> list[Record]:
        return [entry.record for entry in self.entries]

    @cached_property
    def ranked(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.rank is not None]


def make_boards(records: Sequence[Record | Measured]) -> tuple[Board, ...]:
    """Group records into boards, ordered by title; data, encoder and protocol are never mixed.

    Two records of one SAE on one board are a ``UserError`` naming both files.
    """
    measured = [Measured(each) if isinstance(each, Record) else each for each in records]
    boards = [_board(key, group) for key, group in by_board(measured, board_key).items()]
    return tuple(sorted(boards, key=lambda board: (board.title, board.slug)))


def board_key(record: Record, data: State) -> str:
    """Names the board of a record, its data taken to be in the state ``data``."""
    document = record.document
    encoder = document["encoder"]
    pairs = document.get("pairs_dataset")
    parts = [
        [document["dataset"]["name"], data[0]],
        [pairs["name"], data[1]] if pairs else None,
        [encoder["name"], encoder["weights_sha256"], encoder.get("preprocessing")],
        [document["protocol"][name] for name in _SAME_PROTOCOL],
    ]
    return json.dumps(parts)


def _board(key: str, group: list[Measured]) -> Board:
    _no_twins(group)
    current = [each for each in group if not each.origin.withdrawn and not each.origin.older_data]
    records = [each.record for each in current]
    first = (records or [each.record for each in group])[0].document
    pairs = first.get("pairs_dataset")
    named = [first["dataset"]["name"], pairs["name"] if pairs else "", first["encoder"]["name"]]
    digest = hashlib.sha256(key.encode()).hexdigest()[:8]
    judges = sorted({j for each in group if not each.origin.withdrawn for j in each.record.judges})
    columns = (*COLUMNS, *map(judge_column, judges))
    ranks = rank([record.score(HEADLINE) for record in records])
    entries = [_entry(each, columns, at) for each, at in zip(current, ranks, strict=True)]
    last = len(records) + 1
    rest = sorted(
        (each for each in group if each.origin.withdrawn or each.origin.older_data),
        key=lambda each: each.record.id,
    )
    aside = [_entry(each, columns, None) for each in rest]
    return Board(
        slug="-".join([*filter(None, (slug(name, 40) for name in named)), digest]),
        dataset=first["dataset"],
        pairs_dataset=pairs,
        encoder=first["encoder"],
        protocol={name: first["protocol"][name] for name in _SAME_PROTOCOL},
        columns=columns,
        entries=tuple(
            sorted(entries, key=lambda e: (e.rank.place if e.rank else last, e.record.id))
        ),
        references=_references(records, columns),
        older=tuple(e for e in aside if e.older_data and not e.withdrawn),
        withdrawn=tuple(e for e in aside if e.withdrawn),
    )


def _no_twins(group: Sequence[Measured]) -> None:
    seen: dict[str, Record] = {}
    for each in group:
        record = each.record
        if twin := seen.get(record.id):
            raise UserError(
                f"{record.file}: SAE {record.id!r} is already measured on this board by "
                f"{twin.file}; keep one of the two"
            )
        seen[record.id] = record


def _entry(measured: Measured, columns: Sequence[Column], at: Rank | None) -> Entry:
    record = measured.record
    return Entry(
        record=record,
        cells={c.key: number(record.score(c.key), c.decimals) for c in columns},
        rank=at,
        origin=measured.origin,
    )


def _references(records: list[Record], columns: Sequence[Column]) -> tuple[Reference, ...]:
    def row(key: str, label: str, anchor: str, of: Any) -> Reference | None:
        found = {
            c.key: [score for record in records if (score := of(record, c.key)) is not None]
            for c in columns
        }
        if not any(found.values()):
            return None
        cells = {c.key: spread(found[c.key], c.decimals) if found[c.key] else "" for c in columns}
        if key == "untrained":
            cells |= dict.fromkeys(DELTAS & cells.keys(), ITSELF)
        ranges = any(TO in text for text in cells.values())
        return Reference(key, label, anchor, cells, "lowest – highest" if ranges else "")

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
