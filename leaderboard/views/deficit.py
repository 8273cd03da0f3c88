"""What Q1 lacks: DAME by dominance quartile over a board's SAEs, beside the paper's table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.metrics import LEAST_SAES
from leaderboard.numbers import MISSING, Number, fixed, plain
from leaderboard.plots.svg import architecture_label
from leaderboard.published import DeficitRow, aiu
from leaderboard.ranking.boards import Board
from leaderboard.reading.judgements import judge_slug
from leaderboard.reading.records import Record
from leaderboard.views.across import Group, TestRow, beside_paper, paper_row

_NO_SCORE = "a quartile without judged latents"


@dataclass(frozen=True)
class DeficitView:
    """One judge's scores by quartile over the SAEs of a board.

    Attributes:
        n: SAEs with judged latents in every quartile.
        below: how many of these have Q1 below the mean of Q2 to Q4.
        too_few: why some tests are not applicable; None where all are.
    """

    judge: str
    slug: str
    n: int
    below: str
    published: str
    too_few: str | None
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class PublishedDeficit:
    """One row of the paper's table of interpretability by quartile, in per cent."""

    label: str
    quartiles: tuple[Number, ...]
    printed: Number
    recomputed: Number
    p: str
    d: str
    note: str | None


def deficit_views(board: Board) -> tuple[DeficitView, ...]:
    """One view for each judge of the board's SAEs."""
    judges = sorted({judge for record in board.records for judge in record.judges})
    return tuple(_view(board, judge) for judge in judges)


def published_deficit() -> tuple[PublishedDeficit, ...]:
    """The paper's table of what Q1 lacks, as printed and as its own rows give it."""
    return tuple(
        PublishedDeficit(
            label=architecture_label(row.architecture),
            quartiles=tuple(plain(value, 1) for value in row.quartiles),
            printed=plain(row.difference_printed, 1),
            recomputed=plain(row.difference, 1),
            p=row.p_printed,
            d=_effect(row.cohens_d),
            note=row.note,
        )
        for row in aiu().deficit
    )


def quartile_means(record: Record, judge: str) -> Sequence[float] | None:
    """Mean score of the judged latents of Q1 to Q4; None unless all four have some."""
    if judgement := record.judged.get(judge):
        means = [quartile["mean"] for quartile in judgement.document["quartiles"]]
    else:
        means = record.document.get("dame", {}).get(judge, {}).get("quartile_means", [None])
    return None if any(mean is None for mean in means) else means


def _view(board: Board, judge: str) -> DeficitView:
    records = [record for record in board.records if judge in record.judges]
    means = {record.id: quartile_means(record, judge) for record in records}
    groups = beside_paper(
        records,
        means,
        {architecture_label(row.architecture): _paper(row) for row in aiu().deficit},
        _paper_whole(),
        _NO_SCORE,
    )
    known = [four for four in means.values() if four is not None]
    ours = [row for group in groups for row in group.rows if row.source == "here"]
    missing = any(row.p == MISSING or row.d == MISSING for row in ours if row.saes != "none")
    return DeficitView(
        judge=judge,
        slug=judge_slug(judge),
        n=len(known),
        below=f"{sum(_below(four) for four in known)} of {len(known)}",
        published=aiu().printed("q1_deficit"),
        too_few=(
            f"A p-value needs {LEAST_SAES} such SAEs of one architecture and Cohen's d two; "
            "where there are fewer they are n/a."
            if missing
            else None
        ),
        groups=groups,
    )


def _below(four: Sequence[float]) -> bool:
    q1, *rest = four
    return q1 < sum(rest) / 3 - 1e-12


def _paper(row: DeficitRow) -> TestRow:
    note = ""
    if row.note is not None:
        note = (
            f"The paper prints {fixed(row.difference_printed, 1)} for "
            f"{architecture_label(row.architecture)}; its own four numbers give "
            f"{fixed(row.difference, 1)}, which stands here."
        )
    return paper_row(row.quartiles, row.p_printed, _effect(row.cohens_d), note)


def _paper_whole() -> TestRow:
    whole: Mapping[str, float] = aiu().document["deficit"]["all"]
    return TestRow(
        source="paper",
        saes="",
        quartiles=(plain(whole["q1"], 1), *(plain(None) for _ in range(3))),
        difference=plain(whole["q1"] - whole["rest"], 1),
        p=aiu().document["deficit"]["all"]["p_printed"],
        d=fixed(whole["cohens_d"], 2),
        note=f"The paper gives Q2 to Q4 over all SAEs as one number: {fixed(whole['rest'], 1)}.",
    )


def _effect(d: float | None) -> str:
    return "–" if d is None else fixed(d, 2)
