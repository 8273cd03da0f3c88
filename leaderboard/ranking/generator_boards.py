"""Boards of image generators: against which real set, seen through which CLIP model."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug
from benchmark.states import State
from leaderboard.definitions import GENERATOR_COLUMNS, Column
from leaderboard.numbers import Number, number, plain
from leaderboard.ranking.entries import Origin, Placed, Rank
from leaderboard.ranking.grouping import by_board
from leaderboard.ranking.ranks import rank
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import compact

HEADLINE = "sad"
"""Mean divergence over single attributes: lower is better."""


@dataclass(frozen=True, kw_only=True)
class GeneratorEntry(Placed):
    """One generator on a board; ``nulls``: 95 % points of the permutation nulls by column."""

    record: GeneratorRecord
    nulls: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredGenerator:
    """A record and its origin, before it has a place on a board."""

    record: GeneratorRecord
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True)
class GeneratorBoard:
    """Generators compared with the same real images, model and protocol, best first.

    ``older`` were compared with an earlier state of the real set, ``withdrawn`` were taken back;
    neither is ranked, and ``entries`` is without them. An entry that holds images of the real set
    has no rank and stands last.
    """

    slug: str
    real: Mapping[str, Any]
    model: Mapping[str, Any]
    protocol: Mapping[str, Any]
    columns: tuple[Column, ...]
    entries: tuple[GeneratorEntry, ...]
    older: tuple[GeneratorEntry, ...] = ()
    withdrawn: tuple[GeneratorEntry, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.real['name']} × {self.model['name']}"

    @property
    def all(self) -> tuple[GeneratorEntry, ...]:
        """Every entry that has a page."""
        return (*self.entries, *self.older, *self.withdrawn)

    @cached_property
    def ranked(self) -> list[GeneratorEntry]:
        return [entry for entry in self.entries if entry.rank is not None]

    @cached_property
    def records(self) -> list[GeneratorRecord]:
        return [entry.record for entry in self.entries]

    def head(self) -> "GeneratorBoard":
        """The board without its entries: what a page that knows one entry only may show."""
        return replace(self, entries=(), older=(), withdrawn=())


def make_generator_boards(
    records: Sequence[GeneratorRecord | MeasuredGenerator],
) -> tuple[GeneratorBoard, ...]:
    """Group records into boards, ordered by title; real images, model, protocol are never mixed.

    Two records of one generator on one board are a ``UserError`` naming both files.
    """
    measured = [
        MeasuredGenerator(each) if isinstance(each, GeneratorRecord) else each for each in records
    ]
    boards = [_board(key, group) for key, group in by_board(measured, _key).items()]
    return tuple(sorted(boards, key=lambda board: (board.title, board.slug)))


def _key(record: GeneratorRecord, data: State) -> str:
    document = record.document
    real, model, encoder = (document[part] for part in ("real", "model", "encoder"))
    # the images' own hash says the same as the fingerprint and the selection, so not for old data
    parts = [
        [real["name"], data[0], real["split"], real["selection"]],
        [model["name"], model["weights_sha256"]],
        [encoder["name"], encoder["weights_sha256"], encoder.get("preprocessing")],
        hashlib.sha256(compact(_comparable(document["protocol"])).encode()).hexdigest(),
    ]
    return json.dumps(parts)


_OWN = frozenset(("batch_size", "skip_unreadable", "deviation", "subset_size"))
"""Parts of a protocol, at any depth, that comparable measurements may differ in: KID is unbiased
whatever its subsets' size, and its deviation is an outcome."""


def _comparable(protocol: Any) -> Any:
    if not isinstance(protocol, dict):
        return protocol
    return {name: _comparable(value) for name, value in protocol.items() if name not in _OWN}


def _board(key: str, group: list[MeasuredGenerator]) -> GeneratorBoard:
    seen: dict[str, GeneratorRecord] = {}
    for each in group:
        if twin := seen.get(each.record.id):
            raise UserError(
                f"{each.record.file}: generator {each.record.id!r} is already measured on this "
                f"board by {twin.file}; keep one of the two"
            )
        seen[each.record.id] = each.record
    current = [each for each in group if not each.origin.withdrawn and not each.origin.older_data]
    records = [each.record for each in current]
    first = (records or [each.record for each in group])[0].document
    digest = hashlib.sha256(key.encode()).hexdigest()[:8]
    fair = [None if record.copies else record.reach(HEADLINE) for record in records]
    ranks = rank(fair, higher=False)
    entries = [_entry(each, at) for each, at in zip(current, ranks, strict=True)]
    last = len(records) + 1
    rest = sorted(
        (each for each in group if each.origin.withdrawn or each.origin.older_data),
        key=lambda each: each.record.id,
    )
    aside = [_entry(each, None) for each in rest]
    named = [first["real"]["name"], first["model"]["name"]]
    return GeneratorBoard(
        slug="-".join(["generators", *filter(None, (slug(name, 40) for name in named)), digest]),
        real=first["real"],
        model=first["model"],
        protocol=_comparable(first["protocol"]),
        columns=GENERATOR_COLUMNS,
        entries=tuple(
            sorted(entries, key=lambda e: (e.rank.place if e.rank else last, e.record.id))
        ),
        older=tuple(e for e in aside if e.older_data and not e.withdrawn),
        withdrawn=tuple(e for e in aside if e.withdrawn),
    )


def _entry(measured: MeasuredGenerator, at: Rank | None) -> GeneratorEntry:
    record = measured.record
    cells = {c.key: number(record.score(c.key), c.decimals) for c in GENERATOR_COLUMNS}
    nulls = {}
    for column in GENERATOR_COLUMNS:
        if (null := record.null(column.key)) is not None:
            nulls[column.key] = plain(null[1], column.decimals)
    return GeneratorEntry(record=record, cells=cells, rank=at, origin=measured.origin, nulls=nulls)
