from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from generation.planning.balance import Candidate, Shares, choose

CANDIDATES = st.lists(
    st.builds(
        Candidate,
        base=st.sampled_from([f"photo {n}" for n in range(8)]),
        class_name=st.sampled_from([None, "auk", "wren"]),
        removed=st.sampled_from(["a", "b", "c"]),
        added=st.sampled_from(["d", "e", "f", None]),
        group=st.sampled_from(["x", "y"]),
    ),
    max_size=40,
    unique_by=lambda each: (each.base, each.removed, each.added),
)


@settings(deadline=None)
@given(CANDIDATES, st.integers(0, 20), st.integers(0, 3), st.randoms())
def test_order_of_candidates_does_not_matter_and_less_is_a_beginning(found, count, seed, random):
    chosen = choose(found, count, seed)
    shuffled = list(found)
    random.shuffle(shuffled)
    assert choose(shuffled, count, seed) == chosen
    assert choose(found, count + 3, seed)[: len(chosen)] == chosen


@settings(deadline=None)
@given(CANDIDATES, st.integers(0, 20), st.integers(0, 3))
def test_choice_is_balanced_and_gives_up_only_when_nothing_is_left(found, count, seed):
    chosen = choose(found, count, seed)
    assert len(chosen) <= count
    assert set(chosen) <= set(found)
    taken = {(each.base, each.group) for each in chosen}
    assert len(taken) == len(chosen)
    left = Counter(each.target for each in found if (each.base, each.group) not in taken)
    if len(chosen) < count:
        assert not left
    times = Counter(each.target for each in chosen)
    for target in left:  # one that could have had more has no less than any other, but for a turn
        assert times[target] >= max(times.values(), default=0) - 1


def test_pictures_then_classes_then_removed_concepts_share():
    found = [
        Candidate(f"photo {n}", "auk" if n < 4 else "wren", removed, "d", group)
        for n in range(6)
        for removed, group in (("a", "x"), ("b", "y"))
    ]
    chosen = choose(found, 12, 0)
    assert {each.base for each in chosen[:6]} == {f"photo {n}" for n in range(6)}
    assert Counter(each.class_name for each in chosen[:4]) == {"auk": 2, "wren": 2}
    assert Counter(each.removed for each in chosen) == {"a": 6, "b": 6}


def test_seed_draws_and_shares_carry_over():
    found = [Candidate(f"photo {n}", None, "a", None, "object") for n in range(30)]
    firsts = {choose(found, 1, seed)[0].base for seed in range(20)}
    assert len(firsts) > 5
    shares = Shares()
    first = choose(found, 10, 0, shares)
    second = choose(found, 10, 0, shares)
    assert not {each.base for each in first} & {each.base for each in second}
