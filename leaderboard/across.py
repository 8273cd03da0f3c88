"""What a board's SAEs say together: redundancy of Q1 by architecture, and the sparsity trap."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.metrics import LEAST_SAES, QuartileTest, quartile_test, sparsity_trap
from leaderboard.boards import Board
from leaderboard.numbers import Number, fixed, number, plain
from leaderboard.plots.svg import architecture_index, architecture_label
from leaderboard.published import aiu
from leaderboard.records import Record, Score


@dataclass(frozen=True)
class TestRow:
    """Q1 against Q2 to Q4 for one architecture, here or as published; shares in per cent."""

    source: str
    saes: str
    quartiles: tuple[Number, ...]
    difference: Number
    p: str
    d: str


@dataclass(frozen=True)
class Group:
    """One architecture: ours, and the paper's where it has it."""

    label: str
    rows: tuple[TestRow, ...]


@dataclass(frozen=True)
class AcrossView:
    """Statistics over the SAEs of a board that carry a report card."""

    n: int
    n_with_pairs: int
    groups: tuple[Group, ...]
    enrichment: Number
    enriched: str
    published_enrichment: str
    published_enriched: str
    trap: Number
    trap_p: str
    trap_n: int
    published_trap: str


def across_view(board: Board) -> AcrossView | None:
    """The statistics; None where fewer SAEs than a test needs carry a card."""
    records = [record for record in board.records if "card" in record.document]
    if len(records) < LEAST_SAES:
        return None
    shares = {record.id: _shares(record) for record in records}
    known = [score for record in records if (score := _enrichment(record)) is not None]
    trap = sparsity_trap(
        [_value(record, "c5", "l0") for record in records],
        [_value(record, "concentration", "top10_share_median") for record in records],
    )
    rho = trap.rho
    return AcrossView(
        n=len(records),
        n_with_pairs=sum(four is not None for four in shares.values()),
        groups=tuple(_groups(records, shares)),
        enrichment=plain(statistics.median(known) if known else None),
        enriched=f"{sum(value > 1 for value in known)} of {len(known)}",
        published_enrichment=aiu().printed("enrichment_q1_median"),
        published_enriched=aiu().printed("enrichment_q1_above_1"),
        trap=number(Score(rho.value, rho.ci95, rho.n, rho.not_applicable), 2),
        trap_p=p_text(trap.p_value),
        trap_n=rho.n,
        published_trap=aiu().printed("sparser_more_concentrated"),
    )


@dataclass(frozen=True)
class DeficitView:
    """One row of the paper's table of interpretability by quartile, in per cent."""

    label: str
    quartiles: tuple[Number, ...]
    printed: Number
    recomputed: Number
    p: str
    d: str
    note: str | None


def published_deficit() -> tuple[DeficitView, ...]:
    """The paper's table of what Q1 lacks, as printed and as its own rows give it."""
    return tuple(
        DeficitView(
            label=architecture_label(row.architecture),
            quartiles=tuple(plain(value, 1) for value in row.quartiles),
            printed=plain(row.difference_printed, 1),
            recomputed=plain(row.difference, 1),
            p=row.p_printed,
            d="–" if row.cohens_d is None else fixed(row.cohens_d, 2),
            note=row.note,
        )
        for row in aiu().deficit
    )


def p_text(p: float | None) -> str:
    """A p-value: three decimals, or a power of ten where these would be 0."""
    if p is None:
        return "n/a"
    return fixed(p, 3) if p >= 0.001 else f"{p:.1e}".replace("e-0", "e-")


def _groups(records: Sequence[Record], shares: Mapping[str, Sequence[float] | None]) -> list[Group]:
    ours: dict[str, list[Sequence[float] | None]] = {}
    for record in records:
        ours.setdefault(architecture_label(record.architecture), []).append(shares[record.id])
    printed = {architecture_label(row.architecture): row for row in aiu().redundancy}
    labels = sorted({*ours, *printed}, key=lambda label: (architecture_index(label), label))
    groups = []
    for label in labels:
        rows = [_here(ours.get(label, []))]
        if row := printed.get(label):
            rows.append(_paper(row.within_quartile, row.p_printed))
        groups.append(Group(label, tuple(rows)))
    whole = aiu().document["redundancy"]["all"]["p_printed"]
    everything = _here(list(shares.values()))
    return [*groups, Group("All", (everything, _paper(None, whole)))]


def _here(values: Sequence[Sequence[float] | None]) -> TestRow:
    test: QuartileTest = quartile_test(values)
    with_pairs = sum(four is not None for four in values)
    difference = test.difference
    percent = Score(
        None if difference.value is None else 100 * difference.value,
        None if difference.ci95 is None else (100 * difference.ci95[0], 100 * difference.ci95[1]),
        difference.n,
        difference.not_applicable if values else {"no SAE": 1},
    )
    return TestRow(
        source="here",
        saes=f"{with_pairs} of {len(values)}" if values else "none",
        quartiles=tuple(
            plain(None if test.means is None else 100 * test.means[q], 1) for q in range(4)
        ),
        difference=number(percent, 1),
        p=p_text(test.p_value),
        d="n/a" if test.cohens_d is None else fixed(test.cohens_d, 2),
    )


def _paper(quartiles: Sequence[float] | None, p: str) -> TestRow:
    if quartiles is None:
        missing = plain(None)
        return TestRow("paper", "", (missing,) * 4, missing, p, "")
    q1, *rest = quartiles
    numbers = tuple(plain(value, 1) for value in quartiles)
    return TestRow("paper", "", numbers, plain(q1 - sum(rest) / 3, 1), p, "")


def _shares(record: Record) -> list[float] | None:
    scores = record.document["card"]["c1"]["within_quartile_share"]
    values = [score["value"] for score in scores]
    return None if any(value is None for value in values) else values


def _enrichment(record: Record) -> float | None:
    return _value(record, "c1", "enrichment_q1")


def _value(record: Record, block: str, key: str) -> float | None:
    document: Mapping[str, Any] = record.document["card"][block][key]
    return document["value"]
