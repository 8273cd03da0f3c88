"""TAPAScore: worked examples, brute force, what counts and what does not."""

from __future__ import annotations

import metric_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES, CONTAINERS, FEW, PairCase, hold, pair_cases
from metric_tapa import check_tapa

from benchmark.metrics import tapa_score


@given(pair_cases(), st.sampled_from(sorted(CONTAINERS)), st.sampled_from(sorted(CONTAINERS)))
@CASES
def test_brute_force(case: PairCase, base_in: str, edited_in: str) -> None:
    base, edited = hold(case.base, base_in), hold(case.edited, edited_in)
    score = tapa_score(
        base.codes,
        edited.codes,
        case.coalitions,
        added=case.added,
        removed=case.removed,
        present=case.present,
        resamples=20,
    )
    check_tapa(
        score,
        ref.tapa(
            ref.binary(base.values),
            ref.binary(edited.values),
            case.coalitions,
            case.added,
            case.removed,
            case.present,
        ),
    )


@given(pair_cases(max_p=40, max_d=8))
@FEW
def test_brute_force_on_more_pairs(case: PairCase) -> None:
    score = tapa_score(
        sp.csr_array(case.base),
        sp.csr_array(case.edited),
        case.coalitions,
        added=case.added,
        removed=case.removed,
        present=case.present,
        resamples=10,
    )
    check_tapa(
        score,
        ref.tapa(
            ref.binary(case.base),
            ref.binary(case.edited),
            case.coalitions,
            case.added,
            case.removed,
            case.present,
        ),
    )


BASE, EDITED = np.array([[1, 0, 0]]), np.array([[0, 0, 1]])


def test_worked_example() -> None:
    coalitions = ((0,), (1, 2))
    score = tapa_score(BASE, EDITED, coalitions, added=[1], removed=[0])
    assert (score.value, score.delta_add, score.delta_rem) == (2.0, 1.0, -1.0)
    swapped = tapa_score(EDITED, BASE, coalitions, added=[1], removed=[0])
    assert swapped.value == -2.0


def test_worked_example_of_shared_latents() -> None:
    score = tapa_score(BASE, EDITED, ((1,), (1,)), added=[1], removed=[0])
    assert score.value == 0.0
    assert (score.empty_add, score.empty_removed) == (1, 1)


def test_removals_only_score_minus_the_mean() -> None:
    base, edited = np.array([[1], [1], [0]]), np.array([[0], [1], [1]])
    score = tapa_score(base, edited, ((0,),), added=[None] * 3, removed=[0, 0, 0])
    assert score.value == pytest.approx(0.0)
    assert score.delta_add is None
    gone = tapa_score(base[:1], edited[:1], ((0,),), added=[None], removed=[0])
    assert gone.value == 1.0
    assert gone.delta_rem == -1.0


def test_additions_only_score_the_mean() -> None:
    base, edited = np.array([[0], [0], [1], [0]]), np.array([[1], [0], [0], [1]])
    score = tapa_score(base, edited, ((0,),), added=[0] * 4, removed=[None] * 4)
    assert score.value == pytest.approx(0.25)
    assert score.delta_rem is None


def test_pair_with_only_the_add_side_empty_stays() -> None:
    """The swap whose added concept is unmatched keeps its removal and halves delta_add."""
    base = np.array([[1, 0], [1, 0]])
    edited = np.array([[0, 1], [0, 1]])
    coalitions = ((0,), (1,), ())
    score = tapa_score(base, edited, coalitions, added=[1, 2], removed=[0, 0])
    assert score.delta_add == 0.5
    assert score.delta_rem == -1.0
    assert score.value == 1.5
    assert (score.empty_add, score.empty_removed) == (1, 0)


def test_pair_with_only_the_remove_side_empty_stays() -> None:
    base = np.array([[1, 0], [1, 0]])
    edited = np.array([[0, 1], [0, 1]])
    score = tapa_score(base, edited, ((0,), (1,), ()), added=[1, 1], removed=[0, 2])
    assert score.delta_add == 1.0
    assert score.delta_rem == -0.5
    assert (score.empty_add, score.empty_removed) == (0, 1)


def test_concept_without_a_coalition_earns_nothing_and_is_counted() -> None:
    """None (no positives to match on) is as unmatched as (): the pair stays in the mean."""
    base, edited = np.array([[0, 1], [0, 1]]), np.array([[1, 1], [1, 0]])
    score = tapa_score(base, edited, ((0,), None), added=[0, 1], removed=[None, None])
    assert score.delta_add == 0.5
    assert score.empty_add == 1
    present = np.array([[0, 1], [0, 0]], dtype=bool)
    stay = tapa_score(
        base, edited, ((0,), None), added=[0, 0], removed=[None, None], present=present
    )
    assert stay.delta_stay is None


def test_sharing_empties_one_side_only() -> None:
    """I_add = {1}, I_rem = {0, 1}: the shared latent leaves both, I_add is then empty."""
    base, edited = np.array([[1, 0]]), np.array([[0, 1]])
    score = tapa_score(base, edited, ((0, 1), (1,)), added=[1], removed=[0])
    assert (score.delta_add, score.delta_rem) == (0.0, -1.0)
    assert (score.empty_add, score.empty_removed) == (1, 0)


def test_sharing_concerns_only_the_pair_at_hand() -> None:
    """A latent shared with a concept this pair does not touch is kept."""
    base, edited = np.array([[0]]), np.array([[1]])
    score = tapa_score(base, edited, ((0,), (0,)), added=[0], removed=[None])
    assert score.value == 1.0
    assert score.empty_add == 0


def test_a_coalition_counts_once_however_many_latents_fire() -> None:
    base, edited = np.array([[0, 0, 0]]), np.array([[1, 5, 9]])
    score = tapa_score(base, edited, ((0, 1, 2),), added=[0], removed=[None])
    assert score.value == 1.0
    kept = tapa_score(
        np.array([[1, 0, 0]]), np.array([[0, 0, 1]]), ((0, 1, 2),), added=[0], removed=[None]
    )
    assert kept.value == 0.0


def test_stay_is_pooled_over_pairs_and_concepts() -> None:
    """3 bystanders in one pair and 1 in the other: 1/4, not the mean of pair means."""
    base = np.array([[0, 1, 1, 1], [0, 1, 0, 0]])
    edited = np.array([[1, 1, 1, 0], [1, 1, 0, 0]])
    coalitions = ((0,), (1,), (2,), (3,))
    present = np.array([[0, 1, 1, 1], [0, 1, 0, 0]], dtype=bool)
    score = tapa_score(
        base, edited, coalitions, added=[0, 0], removed=[None, None], present=present
    )
    assert score.delta_stay == 0.25
    assert score.stay.n in (2, 4)


def test_stay_leaves_out_edited_and_empty_and_absent_concepts() -> None:
    base, edited = np.array([[1, 0, 1, 1]]), np.array([[0, 1, 0, 1]])
    coalitions = ((0,), (1,), (), (2,), (3,))
    everything = np.ones((1, 5), dtype=bool)
    score = tapa_score(base, edited, coalitions, added=[1], removed=[0], present=everything)
    assert score.delta_stay == 0.5  # concepts 3 (moved) and 4 (stayed)
    some = everything.copy()
    some[0, 3] = False
    kept = tapa_score(base, edited, coalitions, added=[1], removed=[0], present=some)
    assert kept.delta_stay == 0.0


def test_stay_uses_whole_coalitions() -> None:
    """A bystander keeps latents it shares with the edited concepts."""
    base, edited = np.array([[1, 0]]), np.array([[0, 1]])
    present = np.array([[1, 0, 1]], dtype=bool)
    score = tapa_score(base, edited, ((0,), (1,), (0,)), added=[1], removed=[0], present=present)
    assert score.delta_stay == 1.0


def test_stay_without_bystanders_is_null() -> None:
    nothing = np.zeros((1, 2), dtype=bool)
    score = tapa_score(BASE, EDITED, ((0,), (2,)), added=[1], removed=[0], present=nothing)
    assert score.delta_stay is None
    assert score.stay.ci95 is None
    assert sum(score.stay.not_applicable.values()) > 0
    unknown = tapa_score(BASE, EDITED, ((0,), (2,)), added=[1], removed=[0])
    assert unknown.delta_stay is None
    assert unknown.value == 2.0


def test_pairs_that_change_nothing_are_not_counted_as_zero() -> None:
    score = tapa_score(BASE, EDITED, ((2,),), added=[None], removed=[None])
    assert score.value is None
    assert score.ci95 is None
    assert (score.delta_add, score.delta_rem) == (None, None)
    assert sum(score.not_applicable.values()) > 0


def test_concept_that_no_pair_edits_is_null() -> None:
    score = tapa_score(BASE, EDITED, ((2,), (0,)), added=[0], removed=[None])
    row = score.per_concept[1]
    assert (row.delta_add, row.n_add, row.delta_rem, row.n_rem) == (None, 0, None, 0)
    assert row.tapa is None


def test_means_can_be_recomputed_from_per_concept_rows() -> None:
    rng = np.random.default_rng(2)
    p, d, a = 200, 12, 7
    base, edited = rng.random((p, d)) < 0.3, rng.random((p, d)) < 0.3
    coalitions = [tuple(rng.choice(d, 2, replace=False).tolist()) for _ in range(a)]
    added = rng.integers(0, a, p)
    removed = (added + rng.integers(1, a, p)) % a
    score = tapa_score(base, edited, coalitions, added=added.tolist(), removed=removed.tolist())
    rows = score.per_concept
    n_add, n_rem = sum(r.n_add for r in rows), sum(r.n_rem for r in rows)
    assert (n_add, n_rem) == (p, p)
    delta_add = sum((r.delta_add or 0) * r.n_add for r in rows) / n_add
    delta_rem = sum((r.delta_rem or 0) * r.n_rem for r in rows) / n_rem
    assert score.delta_add == pytest.approx(delta_add, abs=1e-12)
    assert score.delta_rem == pytest.approx(delta_rem, abs=1e-12)
    assert score.value == pytest.approx(delta_add - delta_rem, abs=1e-12)
