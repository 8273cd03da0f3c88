"""Put the latents of one set of codes before a judge, metrics §4 C3."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from benchmark import metrics
from benchmark.judges.base import Judge
from benchmark.judges.examples import REASONS, Examples, sample_latents
from benchmark.judges.parallel import run_all
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.questions import Judged, Stoppable, judge_latent
from benchmark.judges.sources import ExampleSource
from benchmark.metrics import Score
from benchmark.metrics.score import mean_score

Progress = Callable[[int, int], None]

NO_INACTIVE = "too few inactive inputs to detect among"


@dataclass(frozen=True)
class Sample:
    """Which latents are judged, and with what.

    Attributes:
        dominance: float (d,).
        quartile: int (d,), 0 for dead latents.
        reason: int (d,), what makes each latent ineligible: index in ``REASONS``, or -1.
        latents: quartile → the latents to judge.
        examples: selects the inputs of each.
    """

    dominance: np.ndarray = field(repr=False)
    quartile: np.ndarray = field(repr=False)
    reason: np.ndarray = field(repr=False)
    latents: Mapping[int, list[int]]
    examples: Examples = field(repr=False)

    @property
    def all_latents(self) -> list[int]:
        return sorted(latent for part in self.latents.values() for latent in part)

    def eligible(self, quartile: int) -> int:
        """How many latents of a quartile can be judged."""
        return int(((self.quartile == quartile) & (self.reason < 0)).sum())

    def ineligible(self, quartile: int) -> dict[str, int]:
        """Reason → how many latents of a quartile it keeps from being judged."""
        own = self.reason[self.quartile == quartile]
        counts = np.bincount(own[own >= 0], minlength=len(REASONS)).tolist()
        return {reason: n for reason, n in zip(REASONS, counts, strict=True) if n}


@dataclass(frozen=True)
class Judgement:
    """A judge's answers on one set of codes and what they amount to.

    Attributes:
        protocol: as it was followed.
        sample: which latents.
        judged: one a latent, by index.
        scores: ``dame``, ``q1_deficit``, and ``detection``, ``amplitude`` where asked.
        counts: unusable and odd answers by kind.
    """

    protocol: JudgeProtocol
    sample: Sample
    judged: tuple[Judged, ...]
    scores: Mapping[str, Score]
    counts: Mapping[str, int]

    def quartile_score(self, quartile: int) -> Score:
        """Plain mean of the scores of a quartile, with its interval over latents."""
        values = [one.score for one in self.judged if self.sample.quartile[one.latent] == quartile]
        reasons = {"no scored latents": int(not values)}
        return mean_score(np.array(values), not_applicable=reasons, **self.protocol.bootstrap)


def draw_sample(codes: Any, source: ExampleSource, protocol: JudgeProtocol) -> Sample:
    """The latents that a judgement of these codes is about.

    Args:
        codes: (N, d), the score split.
        source: the same N rows as a judge sees them.
        protocol: the choices to follow.
    """
    dominance = metrics.dominance(codes)
    quartile = metrics.quartiles(dominance, metrics.alive(codes))
    examples = Examples(codes, source.ids, source.groups, protocol)
    latents = sample_latents(examples.eligible, quartile, protocol)
    return Sample(dominance, quartile, examples.reason, latents, examples)


def judge_latents(
    codes: Any,
    source: ExampleSource,
    judge: Judge,
    protocol: JudgeProtocol | None = None,
    progress: Progress | None = None,
    sample: Sample | None = None,
) -> Judgement:
    """Sample latents, let the judge explain and rank each, and score.

    The result does not depend on the judge's concurrency, nor on the order of the rows. At an
    error or an interrupt nothing more is asked; see ``parallel.run_all``.

    Args:
        codes: (N, d), the score split; dense or sparse.
        source: the same N rows as a judge sees them.
        judge: answers the questions.
        protocol: the choices to follow.
        progress: called with (latents done, latents).
        sample: what ``draw_sample`` gave for the same codes, source and protocol.
    """
    protocol = protocol or JudgeProtocol()
    sample = sample or draw_sample(codes, source, protocol)
    latents, before = sample.all_latents, judge.counts()
    stop = threading.Event()
    asked = cast(Judge, Stoppable(judge, stop))

    def work(latent: int) -> Judged:
        selection = sample.examples.select(latent)
        return judge_latent(latent, selection, source, asked, protocol.also)

    def finished(done: int) -> None:
        if progress is not None:
            progress(done, len(latents))

    judged = tuple(run_all(work, latents, judge.concurrency, stop, finished))
    after = Counter(judge.counts())
    after.subtract(before)
    counts = {kind: n for kind, n in after.items() if n}
    for one in judged:
        for kind, count in one.counts.items():
            counts[kind] = counts.get(kind, 0) + count
    return Judgement(protocol, sample, judged, _scores(judged, sample, protocol), counts)


def _scores(
    judged: tuple[Judged, ...], sample: Sample, protocol: JudgeProtocol
) -> dict[str, Score]:
    weights: dict[str, Any] = {
        "dominance": sample.dominance,
        "alive": sample.quartile > 0,
        **protocol.bootstrap,
    }
    own = {one.latent: one.score for one in judged}
    scores: dict[str, Score] = {
        "dame": metrics.dame_score(own, **weights),
        "q1_deficit": metrics.q1_deficit_score(own, **weights),
    }
    if "detection" in protocol.also:
        found = {one.latent: one.detection for one in judged if one.detection is not None}
        score = metrics.stratified_score(found, **weights)
        scores["detection"] = _with_reason(score, NO_INACTIVE, len(judged) - len(found))
    if "amplitude" in protocol.also:
        values = {one.latent: one.amplitude for one in judged if one.amplitude is not None}
        scores["amplitude"] = metrics.stratified_score(values, within=(-1.0, 1.0), **weights)
    return scores


def _with_reason(score: Score, reason: str, count: int) -> Score:
    if not count:
        return score
    reasons = {**score.not_applicable, reason: count}
    return Score(score.value, score.ci95, score.n, reasons, score.samples)
