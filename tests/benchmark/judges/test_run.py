"""What judges score: perfect, guessing, right in part, unusable; and how a run stops."""

import signal
import threading
import time

import numpy as np
import pytest
from judge_reference import Oracle, Rows, Scripted, random_codes
from scipy.stats import spearmanr

from benchmark import metrics
from benchmark.judges import parallel
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.questions import spearman
from benchmark.judges.random_judge import RandomJudge
from benchmark.judges.run import NO_INACTIVE, judge_latents

IDS = [f"row-{number:03d}" for number in range(160)]
CODES = random_codes(160, 48)
BOTH = ("detection", "amplitude")
FEW = JudgeProtocol(per_quartile=6, also=BOTH)


def judged(judge, protocol=FEW, codes=CODES, **options):
    return judge_latents(codes, Rows(IDS), judge, protocol, **options)


def test_a_judge_that_knows_scores_one_in_everything():
    oracle = Oracle(CODES, IDS)
    oracle.detect = lambda explanation, example: oracle.knows(explanation, example) > 0
    top = CODES.max()
    oracle.rate = lambda explanation, example: 10 * oracle.knows(explanation, example) / top
    result = judged(oracle)
    assert {name: score.value for name, score in result.scores.items()} == {
        "dame": pytest.approx(1),
        "q1_deficit": pytest.approx(0),
        "detection": pytest.approx(1),
        "amplitude": pytest.approx(1),
    }
    assert result.scores["dame"].n == 24
    assert result.counts == {}


def test_a_guessing_judge_scores_a_sixth():
    codes = random_codes(160, 400, seed=1)
    result = judged(RandomJudge(3), JudgeProtocol(also=BOTH), codes)
    low, high = result.scores["dame"].ci95
    assert low < 1 / 6 < high
    assert high - low < 0.06
    correct = [answer.correct for one in result.judged for answer in one.answers]
    assert len(correct) == 2000
    assert abs(np.mean(correct) - 1 / 6) < 4 * np.sqrt(5 / 36 / 2000)
    assert result.scores["detection"].ci95[0] < 0.5 < result.scores["detection"].ci95[1]
    assert result.scores["amplitude"].ci95[0] < 0 < result.scores["amplitude"].ci95[1]
    assert [result.sample.eligible(q) for q in (1, 2, 3, 4)] == [100] * 4
    other = judged(RandomJudge(4), JudgeProtocol(), codes)
    assert other.scores["dame"].value != result.scores["dame"].value


def test_right_on_the_dominant_half_only_is_the_stratified_mean():
    result = judged(Oracle(CODES, IDS))
    quartile, rho = result.sample.quartile, result.sample.dominance
    dominant = quartile <= 2
    oracle = Oracle(CODES, IDS)
    backwards = Scripted(
        lambda explanation, examples: oracle.rank(explanation, examples)[
            :: 1 if dominant[int(explanation[7:])] else -1
        ],
        explain=oracle.explain,
    )
    half = judged(backwards)
    assert half.scores["dame"].value == pytest.approx(rho[dominant].sum() / rho.sum())
    assert half.scores["q1_deficit"].value == pytest.approx(1 - 6 / 18)
    assert [half.quartile_score(q).value for q in (1, 2, 3, 4)] == [1, 1, 0, 0]


@pytest.mark.parametrize("answer", [None, [0, 1], [0, 1, 1], [1, 2, 3], [0, 1, 2, 3], []])
def test_an_unusable_ranking_is_wrong_and_counted(answer):
    result = judged(Scripted(lambda explanation, examples: answer))
    assert result.scores["dame"].value == 0
    assert result.counts["unusable_rankings"] == 24 * 10
    assert all(found.order is None for one in result.judged for found in one.answers)


def test_always_no_detects_half_and_constant_ratings_correlate_with_nothing():
    result = judged(Scripted(lambda *_: [0, 1, 2], detect=lambda *_: False))
    assert result.scores["detection"].value == 0.5
    assert result.scores["amplitude"].value == 0
    assert result.counts == {"constant_ratings": 24}


def test_unusable_detections_and_ratings_are_the_worst_answers():
    odd = iter([None, float("nan"), 11, -1] * 1000)
    silent = Scripted(lambda *_: None, detect=lambda *_: None, rate=lambda *_: next(odd))
    result = judged(silent)
    assert result.scores["detection"].value == 0
    # 10 for the inactive, 0 for the active: as wrong as two ratings can be
    for one in result.judged:
        truth = np.array([value for row, value in one.selection.activation.items()
                          if row not in one.selection.explain])  # fmt: skip
        assert one.amplitude == pytest.approx(spearmanr(truth == 0, truth).statistic)
        assert one.amplitude < -0.7
    distinct = sum(len(one.selection.activation) - 10 for one in result.judged)
    assert result.counts["unusable_ratings"] == distinct
    assert result.counts["unusable_detections"] == distinct


def test_spearman_is_scipys():
    draw = np.random.default_rng(0)
    for size in (3, 8, 30):
        for high in (2, 5, 100):
            a, b = draw.integers(0, high, size), draw.integers(0, high, size)
            a[0], a[1], b[0], b[1] = 0, 1, 0, 1
            assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_explanations_are_cut_and_counted():
    long = Scripted(lambda *_: [0, 1, 2], explain=lambda examples: "- hats\n- " + "word " * 30)
    result = judged(long)
    assert result.counts["explanations_cut"] == 24
    assert all(one.cut for one in result.judged)
    assert result.judged[0].explanation == "hats, " + " ".join(["word"] * 14)
    silent = judged(Scripted(lambda *_: [0, 1, 2], explain=lambda examples: " \n"))
    assert silent.counts["explanations_empty"] == 24


def outcome(result):
    return [
        (one.latent, one.explanation, one.score, one.detection, one.amplitude)
        for one in result.judged
    ]


def test_threads_and_row_order_do_not_matter():
    base = judged(RandomJudge(0))
    draw = np.random.default_rng(5)
    for concurrency in (2, 7):
        order = draw.permutation(160)
        again = judge_latents(
            CODES[order], Rows([IDS[row] for row in order]), RandomJudge(0, concurrency), FEW
        )
        assert outcome(again) == outcome(base)
        assert again.scores == base.scores
    other = judged(RandomJudge(0), JudgeProtocol(per_quartile=6, also=BOTH, seed=1))
    assert [one.latent for one in other.judged] != [one.latent for one in base.judged]
    assert judged(RandomJudge(0), JudgeProtocol(per_quartile=6)).scores.keys() == {
        "dame",
        "q1_deficit",
    }


def test_few_examples_leave_no_latent_and_no_crash():
    for codes in (
        np.zeros((160, 5)),
        np.eye(160, 5),
        CODES[:, :5] * (np.arange(160) < 12)[:, None],
    ):
        result = judged(RandomJudge(0), FEW, codes.astype(np.float32))
        assert result.judged == ()
        assert result.scores["dame"].value is None
        assert result.scores["dame"].not_applicable == {"quartile without scored latents": 4}
        assert result.scores["q1_deficit"].value is None
        alive = (codes > 0).any(axis=0).sum()
        left_out = [sum(result.sample.ineligible(q).values()) for q in (1, 2, 3, 4)]
        assert sum(left_out) == alive


def test_the_eligible_share_counts_every_alive_latent():
    codes = CODES.copy()
    codes[30:, :12] = 0  # too few rows to be judged
    result = judged(RandomJudge(0), FEW, codes)
    for q in (1, 2, 3, 4):
        own = result.sample.quartile == q
        assert result.sample.eligible(q) == (own & (np.arange(48) >= 12)).sum()
        assert result.sample.eligible(q) + sum(result.sample.ineligible(q).values()) == own.sum()
    assert not {one.latent for one in result.judged} & set(range(12))


def test_without_inactive_rows_there_is_nothing_to_detect_among():
    codes = random_codes(160, 8, rate=1)
    result = judged(Scripted(lambda *_: [0, 1, 2]), FEW, codes)
    assert len(result.judged) == 8
    assert result.scores["detection"].value is None
    assert result.scores["detection"].not_applicable[NO_INACTIVE] == 8
    assert result.scores["amplitude"].n == 8
    assert all(one.selection.weak for one in result.judged)


class Slow(RandomJudge):
    """Keeps its finished answers; from a number on the others hang until they are let go."""

    def __init__(self, fine, concurrency, error=None):
        super().__init__(0, concurrency)
        self.fine, self.error, self.let_go = fine, error, threading.Event()
        self.begun, self.kept = [], []

    def explain(self, examples):
        assert threading.current_thread().daemon  # does not keep the process alive
        self.begun.append(examples[0].id)
        if len(self.begun) > self.fine:
            if self.error is not None and len(self.begun) == self.fine + 1:
                raise self.error
            self.let_go.wait(20)
        self.kept.append(examples[0].id)
        return "a guess"


def test_an_error_stops_the_others_without_waiting(monkeypatch):
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.2)
    judge = Slow(5, 3, metrics.InputError("the model is gone"))
    started = time.monotonic()
    with pytest.raises(metrics.InputError, match="the model is gone"):
        judged(judge)
    assert time.monotonic() - started < 15  # not the twenty seconds that the others hang
    assert len(judge.kept) == 5
    assert len(judge.begun) <= 5 + 3
    judge.let_go.set()  # what was on its way arrives, and nothing more is asked
    time.sleep(0.2)
    assert len(judge.begun) <= 5 + 3


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_too(monkeypatch):
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.2)
    judge = Slow(4, 2)
    timer = threading.Timer(0.4, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        judged(judge)
    assert time.monotonic() - started < 15  # not the twenty seconds that the others hang
    assert len(judge.kept) == 4
    judge.let_go.set()


def test_answers_on_their_way_arrive_within_the_grace():
    judge = Slow(3, 2, metrics.InputError("budget"))
    threading.Timer(0.5, judge.let_go.set).start()
    with pytest.raises(metrics.InputError, match="budget"):
        judged(judge)
    assert sorted(judge.kept) == sorted({*judge.begun} - {judge.begun[3]})


def test_progress_counts_latents():
    seen = []
    judged(RandomJudge(0, 3), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(number, 24) for number in range(1, 25)]
