"""The stratified, dominance-weighted mean against the formula written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.metrics import (
    InputError,
    dame_score,
    q1_deficit_score,
    quartiles,
    stratified_score,
)


def written_out(scores, rho, alive):
    quartile = quartiles(rho, alive)
    above = below = 0.0
    for q in (1, 2, 3, 4):
        own = [i for i in scores if quartile[i] == q]
        if not own:
            continue
        mass = sum(rho[i] for i in range(len(rho)) if quartile[i] == q)
        inside = sum(rho[i] * scores[i] for i in own) / sum(rho[i] for i in own)
        above += mass * inside
        below += mass
    return above / below


def test_right_on_the_dominant_half_only_by_hand():
    rho = np.array([0.4, 0.2, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
    alive = np.ones(8, bool)
    # quartiles: (0, 1), (2, 3), (4, 5), (6, 7); masses .6, .25, .1, .05
    scores = {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 0.0, 5: 0.0, 6: 0.0, 7: 0.0}
    result = dame_score(scores, rho, alive)
    assert result.value == pytest.approx(0.85)
    assert result.ci95 == (pytest.approx(0.85), pytest.approx(0.85))
    assert result.quartile_means == (1, 1, 0, 0)
    assert result.q1_deficit == pytest.approx(1 - 1 / 3)
    half = dame_score({0: 1.0, 2: 0.5}, rho, alive)
    assert half.value == pytest.approx((0.6 * 1 + 0.25 * 0.5) / 0.85)
    assert half.not_applicable == {"quartile without scored latents": 2}


def test_what_a_perfect_and_a_random_judge_score():
    generator = np.random.default_rng(0)
    rho, alive = generator.random(400), np.ones(400, bool)
    chosen = generator.choice(400, 200, replace=False)
    perfect = dame_score({int(i): 1.0 for i in chosen}, rho, alive)
    assert perfect.value == pytest.approx(1)
    guessed = {int(i): generator.binomial(10, 1 / 6) / 10 for i in chosen}
    low, high = dame_score(guessed, rho, alive).ci95
    assert low < 1 / 6 < high


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.booleans(), st.one_of(st.none(), st.floats(0, 1))),
        min_size=1,
        max_size=20,
    )
)
def test_is_the_formula(rows):
    rho = np.array([r if on else 0.0 for r, on, _ in rows])
    alive = np.array([on for _, on, _ in rows])
    scores = {i: s for i, (_, on, s) in enumerate(rows) if on and s is not None}
    result = dame_score(scores, rho, alive, resamples=20)
    if not scores:
        assert result.value is None
        assert result.not_applicable == {"quartile without scored latents": 4}
        return
    assert result.value == pytest.approx(written_out(scores, rho, alive), abs=1e-12)
    assert result.n == len(scores)
    again = dame_score(dict(reversed(scores.items())), rho, alive, resamples=20)
    assert again.value == result.value
    assert again.ci95 == result.ci95


def test_the_q1_deficit_by_hand_and_its_interval():
    rho, alive = np.array([0.4, 0.2, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02]), np.ones(8, bool)
    scores = {0: 0.2, 1: 0.4, 2: 0.9, 5: 0.5, 6: 0.7}
    result = q1_deficit_score(scores, rho, alive)
    assert result.value == pytest.approx(0.3 - 0.7)
    assert result.value == pytest.approx(dame_score(scores, rho, alive).q1_deficit)
    assert result.n == 5
    # within Q1 the mean is .2, .3 or .4; each other quartile has one latent and cannot move
    assert set(np.round(result.samples, 12)) == {-0.5, -0.4, -0.3}
    assert result.ci95 == (pytest.approx(-0.5), pytest.approx(-0.3))
    assert q1_deficit_score({0: 1.0}, rho, alive).not_applicable == {
        "no scored latents in Q2 to Q4": 1
    }
    nothing = q1_deficit_score({}, rho, alive)
    assert nothing.value is None
    assert len(nothing.not_applicable) == 2


def test_the_q1_deficits_interval_is_that_of_the_plain_bootstrap():
    draw = np.random.default_rng(1)
    rho, alive = draw.random(200), np.ones(200, bool)
    own = quartiles(rho, alive)
    scores = {i: float(draw.random() * own[i] / 4) for i in range(200)}
    result = q1_deficit_score(scores, rho, alive)
    values = np.array(list(scores.values()))
    parts = [values[own == q] for q in (1, 2, 3, 4)]
    samples = []
    for _ in range(2000):
        first, *rest = (draw.choice(part, len(part)) for part in parts)
        samples.append(first.mean() - np.concatenate(rest).mean())
    assert result.ci95 == pytest.approx(np.percentile(samples, [2.5, 97.5]), abs=0.015)


def test_scores_of_another_range_are_averaged_alike():
    rho, alive = np.array([0.4, 0.3, 0.2, 0.1]), np.ones(4, bool)
    correlations = {0: -0.5, 1: 0.5, 2: 1.0, 3: -1.0}
    result = stratified_score(correlations, rho, alive, within=(-1, 1))
    assert result.value == pytest.approx(-0.2 + 0.15 + 0.2 - 0.1)
    halved = {i: (value + 1) / 2 for i, value in correlations.items()}
    same = stratified_score(halved, rho, alive)
    assert same.value == pytest.approx((result.value + 1) / 2)
    assert same.value == dame_score(halved, rho, alive).value
    with pytest.raises(InputError, match="expected 0 to 1"):
        stratified_score(correlations, rho, alive)
    with pytest.raises(InputError, match="expected -1 to 1"):
        stratified_score({0: -1.5}, rho, alive, within=(-1, 1))


@pytest.mark.parametrize("scores", [{9: 1.0}, {-1: 1.0}, {1: 0.5}, {0: 1.5}, {0: float("nan")},
                                    {0: True}, {0: None}, {"a": 1.0}])  # fmt: skip
def test_bad_scores_are_one_line(scores):
    with pytest.raises(InputError) as caught:
        dame_score(scores, np.array([0.5, 0.0]), np.array([True, False]))
    assert "\n" not in str(caught.value)
