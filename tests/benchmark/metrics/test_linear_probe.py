"""The linear probe: against scikit-learn, its threshold by brute force, what is left out."""

from __future__ import annotations

from typing import Any

import metric_reference as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES
from sklearn.linear_model import LogisticRegression

from benchmark.metrics import InputError, linear_probe_bound, match_score
from benchmark.metrics.bounds import best_threshold
from benchmark.metrics.logistic import fit_logistic


def scene(n: int, width: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(3, 2, (n, width)) * np.logspace(-2, 2, width)
    directions = (
        np.random.default_rng(9).normal(size=(width, 3)) / np.logspace(-2, 2, width)[:, None]
    )
    margins = features @ directions
    concepts = margins + rng.normal(0, 1, margins.shape) > np.median(margins, axis=0)
    return features.astype(np.float32), concepts


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0, 300.0])
def test_the_regressions_are_those_of_scikit_learn(seed: int, penalty: float) -> None:
    features, concepts = scene(60, 20, seed)
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    concepts[:, 2] = np.arange(60) == seed  # a rare one among them
    wide = features.astype(np.float64)
    weights = fit_logistic(wide, concepts, penalty)
    assert weights.shape == (21, 3)
    for concept in range(3):
        model = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=10_000)
        model.fit(wide, concepts[:, concept])
        want = wide @ model.coef_[0] + model.intercept_[0]
        got = wide @ weights[:-1, concept] + weights[-1, concept]
        np.testing.assert_allclose(got, want, atol=0.01 * max(1, np.abs(want).max()))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12))
@CASES
def test_threshold_is_the_best_of_all(rows: list[tuple[int, bool]]) -> None:
    margins = np.array([float(m) for m, _ in rows])
    has = [y for _, y in rows]
    if not any(has):
        return
    limit = best_threshold(margins, np.array(has))
    limits = [-np.inf, *(m + 0.5 for m in range(-1, 5))]
    scores = {t: reference.f_score((margins > t).tolist(), has) for t in limits}
    assert reference.f_score((margins > limit).tolist(), has) == max(scores.values())
    above = (margins > limit).sum()
    assert above == min((margins > t).sum() for t in limits if scores[t] == max(scores.values()))


def test_what_is_separable_is_found_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    fit, score = rng.normal(size=(300, 5)), rng.normal(size=(200, 5))
    clean = linear_probe_bound(fit, fit[:, :2] > 0, score, score[:, :2] > 0)
    assert clean.value is not None
    assert clean.value > 0.95
    assert clean.f1.shape == (2,)
    noise = linear_probe_bound(fit, rng.random((300, 1)) < 0.3, score, rng.random((200, 1)) < 0.3)
    assert noise.value is not None
    assert noise.value < 0.6


def test_interval_is_that_of_match_score_on_the_same_predictions() -> None:
    features, concepts = scene(160)
    others, present = scene(120, seed=1)
    bound = linear_probe_bound(features, concepts, others, present, resamples=50, seed=3)
    assert bound.samples is not None
    assert bound.ci95 is not None
    assert bound.value is not None
    assert bound.ci95[0] < bound.value < bound.ci95[1]
    assert bound.value == pytest.approx(bound.f1.mean(), abs=1e-15)
    perfect = match_score(present, present, [(0,), (1,), (2,)], resamples=50, seed=3)
    assert perfect.samples is not None
    assert (bound.samples <= perfect.samples).all()


def test_shift_scale_and_row_order_change_nothing() -> None:
    features, concepts = scene(160)
    others, present = scene(120, seed=1)
    want = linear_probe_bound(features, concepts, others, present, resamples=10)
    order, other_order = (np.random.default_rng(2).permutation(n) for n in (160, 120))
    moved = linear_probe_bound(
        features[order], concepts[order], others[other_order], present[other_order], resamples=10
    )
    assert moved.value == want.value
    scale = np.exp2(np.arange(6))
    scaled = linear_probe_bound(features * scale, concepts, others * scale, present, resamples=10)
    assert scaled.value == pytest.approx(want.value, abs=1e-12)
    still = np.concatenate([features, np.full((160, 1), 7.1, np.float32)], axis=1)
    more = np.concatenate([others, np.full((120, 1), 8.0, np.float32)], axis=1)
    constant = linear_probe_bound(still, concepts, more, present, resamples=10)
    assert constant.value == pytest.approx(want.value, abs=1e-12)


def test_concepts_without_positives_are_left_out() -> None:
    features, concepts = scene(80)
    others, present = scene(50, seed=1)
    concepts[:, 0] = present[:, 1] = False
    concepts[:, 2] = True
    score = linear_probe_bound(features, concepts, others, present, resamples=10)
    assert np.isnan(score.f1).tolist() == [True, True, False]
    p = present[:, 2].mean()
    assert score.value == pytest.approx(2 * p / (1 + p))
    assert score.not_applicable == {
        "no positives in the matching split": 1,
        "no positives in the scored split": 1,
    }
    none = linear_probe_bound(features, concepts[:, :1], others, present[:, :1])
    assert none.value is None


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"match_features": np.ones((5, 2))}, "5 rows"),
        ({"score_features": np.ones((50, 2))}, "6 columns but score_features has 2"),
        ({"score_concepts": np.ones((50, 1), dtype=bool)}, "3 columns but score_concepts has 1"),
        ({"match_features": np.full((80, 6), np.nan)}, "match_features: row 0"),
        ({"score_concepts": np.full((50, 3), 0.5)}, "score_concepts: row 0"),
        ({"penalty": 0}, "penalty is 0"),
        ({"penalty": None}, "penalty is None"),
        ({"resamples": 0}, "resamples is 0"),
        (
            {"match_features": np.ones((0, 6)), "match_concepts": np.ones((0, 3), dtype=bool)},
            "match_features: has no rows",
        ),
    ],
)
def test_bad_input(change: dict[str, Any], part: str) -> None:
    features, concepts = scene(80)
    others, present = scene(50, seed=1)
    given_input = {
        "match_features": features,
        "match_concepts": concepts,
        "score_features": others,
        "score_concepts": present,
    }
    with pytest.raises(InputError, match=part):
        linear_probe_bound(**{**given_input, **change})
