"""Who is best at what, and how sure that is: the first thing the front page says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.numbers import Number
from leaderboard.pages.judged import judged_part
from leaderboard.reading.records import DAME, Score
from leaderboard.views.columns import ColumnView

QUESTIONS = {
    "delta_match_score": "Finds named concepts",
    "tapa_score": "Follows edits",
    "explained_variance": "Keeps the features",
    "sad": "Single attributes like the real ones",
    "pad": "Attributes together like the real ones",
    "r_sad": "The same, place by place",
    "fid": "Features like the real ones",
}
"""What a column answers, in the words of someone who has never seen it."""

CHANCE = "random"
"""The judge that answers by chance."""


@dataclass(frozen=True)
class Finding:
    """Who leads one column, and how many cannot be told from it.

    ``shared`` is how many others have the very same value, ``rivals`` how many have an interval
    that meets the leader's; ``note`` says what else belongs to the number.
    """

    question: str
    column: ColumnView
    entry: Any
    number: Number
    shared: int
    rivals: int
    alone: bool
    note: str = ""

    @property
    def sure(self) -> str:
        """How sure it is, as the end of a sentence."""
        if self.alone:
            return "the only one measured"
        if self.shared:
            others = "one other" if self.shared == 1 else f"{self.shared:,} others"
            return f"together with {others}"
        if self.rivals == 0:
            return "clear of all others"
        others = "1 other" if self.rivals == 1 else f"{self.rivals:,} others"
        ends = "ranges" if self.column.column.definition.spread_only else "intervals"
        return f"not settled: the {ends} of {others} reach it"


def findings(entries: Sequence[Any], columns: Sequence[ColumnView]) -> tuple[Finding, ...]:
    """One finding for each column that answers a question, in the order of the columns.

    Generators are told apart by what their ranks rest on, not by their spreads.
    """
    found = []
    for column in columns:
        question = _question(column.key)
        if question is None:
            continue
        scores: dict[str, Score] = {}
        for entry in entries:
            score = _reach(entry.record, column.key)
            if score is not None and score.value is not None:
                scores[entry.record.id] = score
        if scores:
            found.append(_finding(question, column, entries, scores))
    return tuple(found)


def _reach(record: Any, key: str) -> Score | None:
    score: Score | None = record.reach(key) if hasattr(record, "reach") else record.score(key)
    return score


def _question(key: str) -> str | None:
    if key.startswith(DAME):
        judge = key.removeprefix(DAME)
        return None if judge == CHANCE else "Understood best"
    return QUESTIONS.get(key)


def _finding(
    question: str, column: ColumnView, entries: Sequence[Any], scores: Mapping[str, Score]
) -> Finding:
    sign = -1 if column.column.definition.direction.startswith("Lower") else 1
    best = sign * max(sign * _value(score) for score in scores.values())
    # of equal ones the first on the board
    leader = next(
        entry
        for entry in entries
        if entry.record.id in scores and _value(scores[entry.record.id]) == best
    )
    own = scores[leader.record.id]
    others = [score for sae, score in scores.items() if sae != leader.record.id]
    return Finding(
        question=question,
        column=column,
        entry=leader,
        number=leader.cells[column.key],
        shared=sum(score.value == own.value for score in others),
        rivals=sum(overlap(own, score) for score in others),
        alone=not others,
        note=judged_part(leader.record, column.key),
    )


def overlap(one: Score, other: Score) -> bool:
    """Whether two intervals meet; False where a score has no value."""
    ends = (one.low, one.high, other.low, other.high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (end for end in ends if end is not None)
    return low <= other_high and other_low <= high


def _value(score: Score) -> float:
    assert score.value is not None
    return score.value
