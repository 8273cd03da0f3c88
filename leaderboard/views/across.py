"""What a board's SAEs say together: redundancy of Q1 by architecture, and the sparsity trap."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.metrics import LEAST_SAES, QuartileTest, quartile_test, sparsity_trap
from leaderboard.numbers import Number, fixed, number, plain
from leaderboard.plots.svg import architecture_index, architecture_label
from leaderboard.published import aiu
from leaderboard.ranking.boards import Board
from leaderboard.reading.records import Record, Score


@dataclass(frozen=True)
class TestRow:
    """Q1 against Q2 to Q4 for one architecture, here or as published; shares in per cent.

    ``p_note`` and ``d_note`` say why there is none, ``note`` what else a reader must know.
    """

    source: str
    saes: str
    quartiles: tuple[Number, ...]
    difference: Number
    p: str
    d: str
    p_note: str = ""
    d_note: str = ""
    note: str = ""


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
    n_pairs: int
    groups: tuple[Group, ...]
    enrichment: Number
    enriched: str
    n_enriched: int
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
    pairs = {record.id: _pairs(record) for record in records}
    known = [score for record in records if (score := _enrichment(record)) is not None]
    trap = sparsity_trap(
        [_value(record, "c5", "l0") for record in records],
        [_value(record, "concentration", "top10_share_median") for record in records],
    )
    rho = trap.rho
    return AcrossView(
        n=len(records),
        n_with_pairs=sum(four is not None for four in shares.values()),
        n_pairs=sum(pairs.values()),
        groups=beside_paper(
            records,
            shares,
            {
                architecture_label(row.architecture): paper_row(row.within_quartile, row.p_printed)
                for row in aiu().redundancy
            },
            paper_row(None, aiu().document["redundancy"]["all"]["p_printed"]),
            "no redundant pairs inside a quartile",
            pairs,
        ),
        enrichment=plain(statistics.median(known) if known else None, 2),
        n_enriched=len(known),
        enriched=f"{sum(value > 1 for value in known)} of {len(known)}",
        published_enrichment=aiu().printed("enrichment_q1_median"),
        published_enriched=aiu().printed("enrichment_q1_above_1"),
        trap=number(Score(rho.value, rho.ci95, rho.n, rho.not_applicable)),
        trap_p=p_text(trap.p_value),
        trap_n=rho.n,
        published_trap=aiu().printed("sparser_more_concentrated"),
    )


def p_text(p: float | None) -> str:
    """A p-value: three decimals, or a power of ten where these would be 0."""
    if p is None:
        return "n/a"
    return fixed(p, 3) if p >= 0.001 else f"{p:.1e}".replace("e-0", "e-")


def beside_paper(
    records: Sequence[Record],
    values: Mapping[str, Sequence[float] | None],
    printed: Mapping[str, TestRow],
    whole: TestRow,
    missing: str,
    counts: Mapping[str, int] | None = None,
) -> tuple[Group, ...]:
    """Our test of every architecture beside the paper's, then that over all SAEs.

    Args:
        records: the SAEs.
        values: id → fractions of Q1 to Q4, or None where not applicable.
        printed: the paper's row by the architecture's label.
        whole: the paper's row over all.
        missing: why an SAE has no values.
        counts: id → how many things its values are shares of, where that is shown.
    """
    ours: dict[str, list[str]] = {}
    for record in records:
        ours.setdefault(architecture_label(record.architecture), []).append(record.id)

    def here(ids: Sequence[str]) -> TestRow:
        row = _here([values[each] for each in ids], missing)
        count = 0 if counts is None else sum(counts[each] for each in ids)
        return replace(row, saes=f"{row.saes} ({count:,})") if count else row

    labels = sorted({*ours, *printed}, key=lambda label: (architecture_index(label), label))
    groups = []
    for label in labels:
        rows = [here(ours.get(label, []))]
        if row := printed.get(label):
            rows.append(row)
        groups.append(Group(label, tuple(rows)))
    return (*groups, Group("All", (here(list(values)), whole)))


def _here(values: Sequence[Sequence[float] | None], missing: str) -> TestRow:
    test: QuartileTest = quartile_test(values, missing=missing)
    known = sum(four is not None for four in values)
    difference = test.difference
    percent = Score(
        None if difference.value is None else 100 * difference.value,
        None if difference.ci95 is None else (100 * difference.ci95[0], 100 * difference.ci95[1]),
        difference.n,
        difference.not_applicable if values else {"no SAE": 1},
    )
    return TestRow(
        source="here",
        saes=f"{known} of {len(values)}" if values else "none",
        quartiles=tuple(
            plain(None if test.means is None else 100 * test.means[q], 1) for q in range(4)
        ),
        difference=number(percent, 1),
        p=p_text(test.p_value),
        d="n/a" if test.cohens_d is None else fixed(test.cohens_d, 2),
        p_note="" if test.p_value is not None else _too_few(known, LEAST_SAES),
        d_note="" if test.cohens_d is not None else _too_few(known, 2),
    )


def _too_few(known: int, least: int) -> str:
    if known >= least:
        return "not applicable: the SAEs do not differ in it"
    return f"not applicable: needs {least} SAEs, there are {known}"


def paper_row(quartiles: Sequence[float] | None, p: str, d: str = "", note: str = "") -> TestRow:
    """A row of the paper's, in per cent; its difference is worked out again from the row."""
    if quartiles is None:
        missing = plain(None)
        return TestRow("paper", "", (missing,) * 4, missing, p, d)
    q1, *rest = quartiles
    numbers = tuple(plain(value, 1) for value in quartiles)
    return TestRow("paper", "", numbers, plain(q1 - sum(rest) / 3, 1), p, d, note=note)


def _shares(record: Record) -> list[float] | None:
    scores = record.document["card"]["c1"]["within_quartile_share"]
    values = [score["value"] for score in scores]
    return None if any(value is None for value in values) else values


def _pairs(record: Record) -> int:
    return sum(record.document["card"]["c1"]["within_quartile"])


def _enrichment(record: Record) -> float | None:
    return _value(record, "c1", "enrichment_q1")


def _value(record: Record, block: str, key: str) -> float | None:
    document: Mapping[str, Any] = record.document["card"][block][key]
    return document["value"]
