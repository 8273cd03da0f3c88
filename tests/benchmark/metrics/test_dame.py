"""The stratified, dominance-weighted mean against the formula written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.metrics import InputError, dame_score, quartiles


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


@pytest.mark.parametrize("scores", [{9: 1.0}, {-1: 1.0}, {1: 0.5}, {0: 1.5}, {0: float("nan")},
                                    {0: True}, {0: None}, {"a": 1.0}])  # fmt: skip
def test_bad_scores_are_one_line(scores):
    with pytest.raises(InputError) as caught:
        dame_score(scores, np.array([0.5, 0.0]), np.array([True, False]))
    assert "\n" not in str(caught.value)
