"""What the page of one generator shows: the body of one comparison with real images."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from markupsafe import Markup

from leaderboard.definitions import GENERATOR_COLUMNS, INTERVAL, SPREAD, Column
from leaderboard.numbers import MISSING, Number, number, pad, plain
from leaderboard.pages.history import ClaimRow, HistoryView, claim_rows, history_view
from leaderboard.pages.sae import setting
from leaderboard.plots.regions import region_map
from leaderboard.ranking.generator_boards import GeneratorBoard, GeneratorEntry
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Score

HEADLINES = ("sad", "pad", "r_sad")
MAPPED, PAIRED = 6, 12
"""Attributes with a map, pairs that are listed."""


@dataclass(frozen=True)
class GeneratorScore:
    """One score beside its null; ``inside`` is whether it is no larger than the 95 % point."""

    column: Column
    own: Number
    null_mean: Number
    null_q95: Number
    inside: bool | None
    n: str


@dataclass(frozen=True)
class AttributeRow:
    """One attribute: what real and generated images show of it, and how far apart they are."""

    name: str
    real: Number
    generated: Number
    sad: Number
    sad_q95: Number
    inside: bool | None
    regional: Number
    over_null: Number


@dataclass(frozen=True)
class PairRow:
    """Two attributes together."""

    first: str
    second: str
    pad: Number
    q95: Number
    inside: bool | None


@dataclass(frozen=True)
class GeneratorMeasurement:
    """A record on its board, as the body of one section of its generator's page."""

    board: GeneratorBoard
    entry: GeneratorEntry
    record_path: str
    scores: tuple[GeneratorScore, ...]
    claims: tuple[ClaimRow, ...]
    history: HistoryView | None
    attributes: tuple[AttributeRow, ...]
    maps: tuple[tuple[str, Markup], ...]
    pairs: tuple[PairRow, ...]
    record_sha256: str
    commands: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def record(self) -> GeneratorRecord:
        return self.entry.record

    @property
    def headlines(self) -> list[GeneratorScore]:
        return [row for row in self.scores if row.column.key in HEADLINES]

    def pad(self, key: str, shown: Number) -> str:
        """Class that brings a number's decimal point under the others' of its column."""
        rows = self.scores if key == "own" else self.attributes
        return pad(shown, max((getattr(row, key).decimals for row in rows), default=0))

    @property
    def spread(self) -> str:
        """What stands in brackets beside a divergence."""
        return SPREAD

    @property
    def interval(self) -> str:
        """What belongs to a mean over images."""
        return INTERVAL

    @property
    def n_outside(self) -> int:
        """Attributes whose SaD lies outside its null."""
        return sum(row.inside is False for row in self.attributes)


def measure_generator(board: GeneratorBoard, entry: GeneratorEntry) -> GeneratorMeasurement:
    """All that the page of ``entry`` shows for its place on ``board``."""
    record = entry.record
    document = record.document
    columns = [column for column in GENERATOR_COLUMNS if column.key in HEADLINES]
    return GeneratorMeasurement(
        board=board,
        entry=entry,
        record_path=f"records/{record.id}.{board.slug}.json",
        scores=tuple(_score(record, column) for column in GENERATOR_COLUMNS),
        claims=claim_rows(entry.claimed, record),
        history=history_view(entry, columns),
        attributes=_attributes(document["per_attribute"]),
        maps=_maps(board.slug, document),
        pairs=_pairs(document),
        record_sha256=record.sha256,
        commands=_commands(entry),
        settings=tuple(sorted((k, setting(v)) for k, v in document["protocol"].items())),
    )


def _score(record: GeneratorRecord, column: Column) -> GeneratorScore:
    score, null = record.score(column.key), record.null(column.key)
    return GeneratorScore(
        column=column,
        own=number(score, column.decimals),
        null_mean=plain(None if null is None else null[0], column.decimals),
        null_q95=plain(None if null is None else null[1], column.decimals),
        inside=record.inside_null(column.key),
        n=MISSING if score is None else _count(record, score.n),
    )


def _count(record: GeneratorRecord, n: int) -> str:
    """What a score rests on; images of both sets are told apart."""
    real = int(record.document["real"]["n"])
    return f"{record.n:,} + {real:,}" if n == record.n + real else f"{n:,}"


def _attributes(rows: Sequence[Mapping[str, Any]]) -> tuple[AttributeRow, ...]:
    """By falling SaD, missing ones last."""
    made = []
    for row in rows:
        sad, regional = row["sad"], row["r_sad"]
        shown = number(Score.read(sad["score"]))
        made.append(
            AttributeRow(
                name=row["attribute"],
                real=number(Score.read(row["ra_clip_score"]["real"])),
                generated=number(Score.read(row["ra_clip_score"]["generated"])),
                sad=shown,
                sad_q95=plain(sad["null_q95"], 3),
                inside=sad["inside_null"],
                regional=number(Score.read(regional["score"])),
                over_null=plain(regional["over_null"], 1),
            )
        )
    return tuple(sorted(made, key=lambda row: (row.sad.value is None, -(row.sad.value or 0.0))))


def _maps(slug: str, document: Mapping[str, Any]) -> tuple[tuple[str, Markup], ...]:
    """The attributes whose regional divergence is largest, in one colour scale."""
    grids = document.get("maps", {}).get("unrefined", ())
    names = [row["attribute"] for row in document["per_attribute"]]
    named = [(name, grid) for name, grid in zip(names, grids, strict=False) if grid and grid[0]]
    largest = sorted(named, key=lambda item: -_magnitude(item[1]))[:MAPPED]
    most = max((abs(v) for _, grid in largest for row in grid for v in row), default=0.0)
    drawn = [
        (name, region_map(f"map-{slug}-{index}", name, grid, most))
        for index, (name, grid) in enumerate(largest)
    ]
    return tuple((name, figure) for name, figure in drawn if figure is not None)


def _magnitude(grid: Sequence[Sequence[float]]) -> float:
    values = [abs(value) for row in grid for value in row]
    return sum(values) / len(values)


def _pairs(document: Mapping[str, Any]) -> tuple[PairRow, ...]:
    """The pairs with the largest PaD; values stand in the order (0, 1), (0, 2), … (1, 2), …"""
    block = document.get("pairs", {})
    names = [row["attribute"] for row in document["per_attribute"]]
    rows = []
    values, points = block.get("values", ()), block.get("null_q95", ())
    for (first, second), value, q95 in zip(combinations(names, 2), values, points, strict=False):
        if value is not None:
            inside = None if q95 is None else value <= q95
            rows.append(PairRow(first, second, plain(value, 3), plain(q95, 3), inside))
    return tuple(sorted(rows, key=lambda row: -(row.pad.value or 0.0))[:PAIRED])


def _commands(entry: GeneratorEntry) -> tuple[str, ...]:
    if entry.submission is None:
        return ()
    return (shlex.join(["assay", "submit", "score", entry.record.id]),)
