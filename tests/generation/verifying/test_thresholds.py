"""Thresholds and the split, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from generation.verifying.split import split_rows
from generation.verifying.thresholds import mean_average_precision, tuned, validate_concepts


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=25))
def test_the_threshold_is_the_best_there_is(rows: list[tuple[int, bool]]) -> None:
    probabilities = np.array([value / 8 for value, _ in rows], np.float32)
    has = np.array([flag for _, flag in rows])
    if not has.any():
        has[0] = True
    threshold = tuned(probabilities, has)
    assert 0 <= threshold <= 1
    reached = f1_score(has, probabilities >= threshold, zero_division=0)
    every = [
        f1_score(has, probabilities >= limit, zero_division=0)
        for limit in (*np.unique(probabilities), 1.1)
    ]
    assert reached == pytest.approx(max(every))


def test_mean_average_precision_is_over_concepts_with_positives() -> None:
    rng = np.random.default_rng(0)
    probabilities, labels = rng.random((30, 4)), rng.random((30, 4)) < 0.3
    labels[:, 2] = False
    columns = [average_precision_score(labels[:, a], probabilities[:, a]) for a in (0, 1, 3)]
    assert mean_average_precision(probabilities, labels) == pytest.approx(np.mean(columns))
    assert mean_average_precision(probabilities, np.zeros((30, 4), bool)) is None


def test_a_concept_is_validated_by_enough_pictures_of_both_kinds() -> None:
    labels = np.zeros((12, 5), bool)
    labels[:5, 0] = True  # enough
    labels[:4, 1] = True  # one too few
    labels[:8, 2] = True  # too few without it
    labels[:6, 3] = True  # never in training
    probabilities = np.where(labels, 0.8, 0.3).astype(np.float32)
    reports = validate_concepts("abcde", probabilities, labels, np.array([9, 9, 9, 0, 9]), 5)
    assert [report.threshold is not None for report in reports] == [True] + 4 * [False]
    assert reports[0].threshold == pytest.approx(0.55)
    assert reports[0].f1 == 1
    assert reports[0].average_precision == 1
    assert [report.reason for report in reports] == [
        None,
        "shown by fewer than 5 validation pictures (4)",
        "lacking in fewer than 5 validation pictures (4)",
        "no picture to train on shows it",
        "shown by fewer than 5 validation pictures (0)",
    ]
    assert reports[4].average_precision is None


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(1, 8), st.integers(0, 5))
def test_the_split_is_one_and_does_not_depend_on_row_order(n: int, a: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = [f"p{number}" for number in range(n)]
    labels = rng.random((n, a)) < rng.random(a)
    training, validation = split_rows(ids, labels, 0.25, seed)
    assert sorted([*training, *validation]) == list(range(n))
    order = rng.permutation(n)
    _, moved = split_rows([ids[row] for row in order], labels[order], 0.25, seed)
    assert {ids[row] for row in validation} == {ids[order[row]] for row in moved}


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_every_concept_has_its_share_on_both_sides(share: float) -> None:
    rng = np.random.default_rng(1)
    labels = rng.random((400, 12)) < np.linspace(0.02, 0.6, 12)
    training, validation = split_rows([f"{row:03}" for row in range(400)], labels, share, 0)
    assert len(validation) == pytest.approx(400 * share, abs=4)
    found, wanted = labels[validation].sum(axis=0), share * labels.sum(axis=0)
    assert np.abs(found - wanted).max() <= 4
    # a rare one above all
    assert abs(found[0] - wanted[0]) <= 1
    assert (labels[training].sum(axis=0) + found == labels.sum(axis=0)).all()


def test_many_rare_concepts_do_not_empty_a_side() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random((40, 300)) < rng.choice([0.03, 0.1, 0.5], 300)
    _, validation = split_rows([f"{row:02}" for row in range(40)], labels, 0.25, 0)
    assert 8 <= len(validation) <= 12
