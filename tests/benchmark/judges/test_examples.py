"""Selection of inputs against the rules restated row by row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_reference import random_codes, reference_bins

from benchmark.judges.examples import REASONS, Examples, sample_latents
from benchmark.judges.protocol import JudgeProtocol
from benchmark.metrics import InputError

SMALL = JudgeProtocol(explain=2, trials=3, least=1)


def names(count):
    return [f"row-{number}" for number in range(count)]


@st.composite
def cases(draw):
    """Codes with many ties, ids in any order, groups of any size."""
    rows, latents = draw(st.integers(1, 30)), draw(st.integers(1, 3))
    values = st.integers(0, draw(st.sampled_from([2, 9, 40])))
    codes = draw(st.lists(st.lists(values, min_size=latents, max_size=latents),
                          min_size=rows, max_size=rows))  # fmt: skip
    ids = draw(st.permutations(names(rows)))
    groups = draw(st.lists(st.integers(0, rows), min_size=rows, max_size=rows))
    return np.array(codes, np.float32), ids, np.array(groups), draw(st.integers(0, 3))


def by_name(examples, ids, latent):
    found = examples.select(latent)
    shown = [[ids[row] for row in trial.rows] for trial in found.trials]
    return [ids[row] for row in found.explain], shown, [trial.truth for trial in found.trials]


@settings(max_examples=300, deadline=None)
@given(cases())
def test_is_the_rules_restated(case):
    codes, ids, groups, seed = case
    protocol = JudgeProtocol(explain=2, trials=3, least=1, seed=seed)
    examples = Examples(codes, ids, groups, protocol)
    for latent in range(codes.shape[1]):
        reason, explain, *bins = reference_bins(codes[:, latent], ids, groups.tolist(), protocol)
        assert examples.reason[latent] == (-1 if reason is None else reason)
        assert examples.eligible[latent] == (reason is None)
        if reason is not None:
            with pytest.raises(InputError, match=REASONS[reason]):
                examples.select(latent)
            continue
        shown_first, shown, truth = by_name(examples, ids, latent)
        assert shown_first == explain
        value = dict(zip(ids, codes[:, latent].tolist(), strict=True))
        group = dict(zip(ids, groups.tolist(), strict=True))
        drawn = [[], [], []]
        for trial, order in zip(shown, truth, strict=True):
            assert sorted(order) == [0, 1, 2]
            for place, position in enumerate(order):
                drawn[place].append(trial[position])
            strongest_first = [value[trial[position]] for position in order]
            assert strongest_first[0] > strongest_first[1] > strongest_first[2]
        for taken, allowed in zip(drawn, bins, strict=True):
            assert set(taken) <= set(allowed)
            owners = [group[name] for name in taken]
            distinct = len({group[name] for name in allowed})
            assert len(set(owners)) == min(distinct, len(taken))
        everything = {group[name] for taken in drawn for name in taken}
        assert not everything & {group[name] for name in explain}
        found = examples.select(latent)
        for row, activation in found.activation.items():
            assert activation == codes[row, latent]


@settings(max_examples=100, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_groups_do_not_matter(case, chance):
    codes, ids, groups, seed = case
    protocol = JudgeProtocol(explain=2, trials=3, least=1, seed=seed)
    order = list(range(len(ids)))
    chance.shuffle(order)
    examples = Examples(codes, ids, groups, protocol)
    moved_ids = [ids[row] for row in order]
    moved = Examples(sp.csc_array(codes[order]), moved_ids, 100 - groups[order], protocol)
    assert np.array_equal(examples.reason, moved.reason)
    for latent in np.flatnonzero(examples.eligible).tolist():
        assert by_name(examples, ids, latent) == by_name(moved, moved_ids, latent)


def test_the_bins_of_the_default_protocol_by_hand():
    # 40 active rows, row 0 strongest: ten explain, of the other thirty the first six are strong,
    # positions twelve to eighteen middling
    codes = np.zeros((80, 1), np.float32)
    codes[:40, 0] = np.arange(40, 0, -1)
    ids = [f"{number:02d}" for number in range(80)]
    found = Examples(codes, ids).select(0)
    assert found.explain == tuple(range(10))
    strong, middling, weak = (
        {trial.rows[trial.truth[place]] for trial in found.trials} for place in range(3)
    )
    assert strong == set(range(10, 16))
    assert middling == set(range(22, 29))
    assert len(weak) == 10
    assert weak <= set(range(40, 80))
    assert not found.weak


@pytest.mark.parametrize(
    ("active", "rows", "reason"),
    [
        (0, 80, 0),
        (1, 80, 0),
        (9, 80, 0),
        (10, 80, 1),
        (34, 80, 1),
        (35, 80, None),
        (36, 80, None),
        (35, 40, 3),
        (60, 69, None),  # nine are inactive, so the bottom 10 % of fifty stand in
        (59, 68, 3),
    ],
)
def test_how_many_are_enough(active, rows, reason):
    codes = np.zeros((rows, 1), np.float32)
    codes[:active, 0] = np.arange(active, 0, -1)
    found = Examples(codes, [f"{number:02d}" for number in range(rows)])
    assert found.reason[0] == (-1 if reason is None else reason)
    assert found.active[0] == active


def test_copies_count_once_and_never_serve_twice():
    # every picture is there three times, with activations that differ
    base = np.concatenate([np.arange(35, 0, -1), np.zeros(15)])
    codes = np.concatenate([base, base * 0.5, base * 0.25])[:, None].astype(np.float32)
    ids = [f"{number:03d}" for number in range(150)]
    assert Examples(codes, ids).eligible[0]
    grouped = Examples(codes, ids, np.tile(np.arange(50), 3))
    assert grouped.active[0] == 35
    found = grouped.select(0)
    assert found.explain == tuple(range(10))
    for trial in found.trials:
        strong, middling, inactive = (trial.rows[position] for position in trial.truth)
        assert strong < 35
        assert middling < 35
        assert inactive % 50 >= 35
    assert len({trial.rows[trial.truth[2]] // 50 for trial in found.trials}) > 1


def test_seeds_change_the_trials_and_the_latents():
    codes, ids = random_codes(200, 60), names(200)
    one, same, other = (Examples(codes, ids, None, JudgeProtocol(seed=s)) for s in (0, 0, 1))
    assert one.select(3) == same.select(3)
    assert one.select(3).explain == other.select(3).explain
    assert one.select(3).trials != other.select(3).trials
    orders = [trial.truth for latent in range(60) for trial in one.select(latent).trials]
    assert all(60 < orders.count(order) < 140 for order in set(orders))
    assert len(set(orders)) == 6
    quartile = np.repeat([1, 2, 3, 4], 15)
    wanted = [JudgeProtocol(seed=s, per_quartile=5) for s in (0, 0, 1)]
    one, same, other = (sample_latents(np.ones(60, bool), quartile, each) for each in wanted)
    assert one == same != other
    assert all(quartile[latent] == q for q, part in one.items() for latent in part)
    few = sample_latents(np.arange(60) < 2, quartile, wanted[0])
    assert few == {1: [0, 1], 2: [], 3: [], 4: []}


def test_ids_must_name_rows():
    with pytest.raises(InputError, match="'a' stands for two rows"):
        Examples(np.ones((3, 1)), ["a", "b", "a"])
    with pytest.raises(InputError, match="3 rows"):
        Examples(np.ones((3, 1)), ["a", "b"])
    with pytest.raises(InputError, match="3 rows"):
        Examples(np.ones((3, 1)), ["a", "b", "c"], np.zeros(2, int))
