"""One latent before a judge: explain, rank, and where wanted detect and rate."""

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.judges.base import RATING, Example, Judge
from benchmark.judges.examples import Selection, Trial
from benchmark.judges.explanations import cut, problem
from benchmark.judges.parallel import Stopped
from benchmark.judges.sources import ExampleSource


@dataclass(frozen=True)
class Answer:
    """A trial, the judge's order of its positions (None: unusable), and whether it is right."""

    trial: Trial
    order: tuple[int, ...] | None

    @property
    def correct(self) -> bool:
        return self.order == self.trial.truth


@dataclass(frozen=True)
class Judged:
    """What a judge made of one latent.

    Attributes:
        latent: its index.
        selection: what was shown.
        explanation: at most 15 words, one line.
        cut: the judge's explanation was too long or list-like.
        answers: one a trial.
        detection: balanced accuracy in [0, 1]; None if not asked, or where no input is inactive.
        amplitude: Spearman correlation in [-1, 1]; None if not asked.
        counts: unusable and odd answers, by kind.
    """

    latent: int
    selection: Selection
    explanation: str
    cut: bool
    answers: tuple[Answer, ...]
    detection: float | None = None
    amplitude: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Fraction of the trials put in perfect order."""
        return sum(answer.correct for answer in self.answers) / len(self.answers)


class Stoppable:
    """A judge that is asked nothing more once ``stop`` is set."""

    def __init__(self, judge: Judge, stop: threading.Event) -> None:
        self._judge, self._stop = judge, stop

    def __getattr__(self, name: str) -> Any:
        if self._stop.is_set():
            raise Stopped
        return getattr(self._judge, name)


def judge_latent(
    latent: int,
    selection: Selection,
    source: ExampleSource,
    judge: Judge,
    also: Sequence[str] = (),
) -> Judged:
    """Put one latent before a judge."""
    counts: Counter[str] = Counter()
    given = judge.explain([source.example(row) for row in selection.explain])
    wrong, explanation = problem(given), cut(given)
    if wrong is not None:
        counts["explanations_empty" if wrong == "empty" else "explanations_cut"] += 1
    answers = []
    for trial in selection.trials:
        shown = [source.example(row) for row in trial.rows]
        order = _order(judge.rank(explanation, shown), len(shown))
        counts["unusable_rankings"] += order is None
        answers.append(Answer(trial, order))
    shown_rows = _distinct(selection)
    examples = {row: source.example(row) for row in shown_rows} if also else {}
    detection = amplitude = None
    if "detection" in also:
        detection = _detection(explanation, examples, selection, judge, counts)
    if "amplitude" in also:
        amplitude = _amplitude(explanation, examples, selection, judge, counts)
    return Judged(
        latent,
        selection,
        explanation,
        wrong is not None,
        tuple(answers),
        detection,
        amplitude,
        {kind: count for kind, count in counts.items() if count},
    )


def _order(answer: Sequence[int] | None, size: int) -> tuple[int, ...] | None:
    if answer is None or sorted(answer) != list(range(size)):
        return None
    return tuple(int(position) for position in answer)


def _distinct(selection: Selection) -> list[int]:
    """Rows of the trials, each once, in the order of their first showing."""
    return list(dict.fromkeys(row for trial in selection.trials for row in trial.rows))


def _detection(
    explanation: str,
    examples: Mapping[int, Example],
    selection: Selection,
    judge: Judge,
    counts: Counter[str],
) -> float | None:
    """Balanced accuracy of "does it fit"; an unusable answer is the wrong one."""
    if selection.weak:
        return None
    right: dict[bool, list[bool]] = {True: [], False: []}
    for row, example in examples.items():
        fires = selection.activation[row] > 0
        said = judge.detect(explanation, example)
        counts["unusable_detections"] += said is None
        right[fires].append(said is not None and bool(said) == fires)
    return sum(sum(each) / len(each) for each in right.values()) / 2


def _amplitude(
    explanation: str,
    examples: Mapping[int, Example],
    selection: Selection,
    judge: Judge,
    counts: Counter[str],
) -> float:
    """Spearman correlation of ratings with activations; unusable ratings are the worst ones."""
    least, greatest = RATING
    ratings, truth = [], []
    for row, example in examples.items():
        value = selection.activation[row]
        rating = judge.rate(explanation, example)
        if rating is None or not math.isfinite(rating) or not least <= rating <= greatest:
            counts["unusable_ratings"] += 1
            rating = least if value > 0 else greatest
        ratings.append(float(rating))
        truth.append(value)
    if len(set(ratings)) == 1:
        counts["constant_ratings"] += 1
        return 0.0
    return spearman(np.array(ratings), np.array(truth))


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Rank correlation in [-1, 1] of two arrays (n,) that vary; ties share their mean rank."""
    a, b = (_ranks(values) - (len(values) - 1) / 2 for values in (first, second))
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2)[inverse])
