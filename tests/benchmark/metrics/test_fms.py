"""FMS: exact trees by brute force, its range, what is left out, its interval."""

from __future__ import annotations

from typing import Any

import metric_reference_baselines as ref
import numpy as np
import pytest
import scipy.sparse as sp
from metric_cases import CONTAINERS, hold

from benchmark.metrics import InputError, fms
from benchmark.metrics.fms import concept_fms


def case(seed: int) -> tuple[np.ndarray, np.ndarray, list[int], list[int]]:
    """Codes, a concept that some of them follow, and two balanced halves."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(5, 12))
    n, d = 4 * size, int(rng.integers(2, 7))
    has = np.arange(n) % 2 == 0
    codes = rng.random((n, d)) * (rng.random((n, d)) < rng.choice([0.4, 0.7, 1.0]))
    strength = rng.choice([0.0, 0.3, 2.0], d)
    codes += np.where(has[:, None], strength * rng.random((n, d)), 0)
    if seed % 5 == 0:
        codes = np.round(codes, 1)
    order = rng.permutation(n // 2)
    halves = [np.concatenate([2 * part, 2 * part + 1]) for part in (order[:size], order[size:])]
    return codes.astype(np.float32), has, halves[0].tolist(), halves[1].tolist()


def test_agrees_with_trees_grown_one_by_one() -> None:
    """Cases in which two splits are equally good are left out: either tree is right then."""
    decided, seen = 0, set()
    for seed in range(3000):
        codes, has, fit, held = case(seed)
        try:
            want = ref.fms(codes, has.tolist(), fit, held)
        except ref.Undecided:
            continue
        decided += 1
        seen.add(round(want, 3))
        for values in (codes, with_short_indices(codes)):
            got = concept_fms(values, has, np.array(fit), np.array(held), seed=seed % 3)
            assert got == pytest.approx(want, abs=1e-12), seed
        if decided >= 220:
            break
    assert decided >= 200
    assert len(seen) > 50


def with_short_indices(codes: np.ndarray) -> sp.csr_array:
    sparse = sp.csr_array(codes)
    parts = (sparse.data, sparse.indices.astype(np.intc), sparse.indptr.astype(np.intc))
    return sp.csr_array(parts, shape=sparse.shape)


def test_never_leaves_zero_to_one() -> None:
    """Noise makes deeper trees worse than shallow ones, which once gave scores above 1."""
    scores = []
    for seed in range(300):
        codes, has, fit, held = case(seed)
        noise = np.random.default_rng(seed).permutation(has)
        scores.append(concept_fms(codes, noise, np.array(fit), np.array(held), seed=0))
        assert 0.0 <= scores[-1] <= 1.0
    assert min(scores) < 0.3


def scene(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    concepts = rng.random((n, 3)) < np.array([0.2, 0.5, 0.7])
    noise = rng.random((n, 8)) * (rng.random((n, 8)) < 0.3)
    return np.concatenate([concepts * (1 + rng.random((n, 3))), noise], axis=1), concepts


def test_one_latent_that_is_the_concept_scores_one_and_a_copy_of_it_half() -> None:
    codes, concepts = scene()
    alone = fms(codes, concepts, subsamples=3)
    assert alone.per_concept.min() > 0.9
    copied = fms(np.concatenate([codes, codes], axis=1), concepts, subsamples=3)
    assert copied.per_concept.tolist() == [0.5, 0.5, 0.5]
    assert copied.value == 0.5
    pure = fms(concepts.astype(float), concepts[:, :1], subsamples=3)
    assert pure.value is not None
    assert pure.value <= 1.0


def test_silent_codes_know_nothing() -> None:
    """No split: accuracy ½ at every depth, nothing local, nothing gained by depth."""
    codes, concepts = scene()
    for silent in (np.zeros_like(codes), sp.csr_array(codes.shape), np.ones_like(codes)):
        assert fms(silent, concepts, subsamples=3).per_concept.tolist() == [0.25] * 3


def test_row_order_and_container_never_move_the_value() -> None:
    codes, concepts = scene()
    codes = np.round(codes * 8) / 8
    want = fms(codes, concepts, subsamples=3)
    order = np.random.default_rng(3).permutation(len(codes))
    moved = fms(codes[order], concepts[order], subsamples=3)
    assert moved.per_concept.tolist() == want.per_concept.tolist()
    for container in set(CONTAINERS) - {"bool", "csr_bool", "int8", "uint8", "int64", "csr_int"}:
        other = fms(hold(codes, container).codes, concepts, subsamples=3)
        assert other.per_concept.tolist() == want.per_concept.tolist(), container
        assert other.ci95 == want.ci95, container


def test_concepts_do_not_touch_each_other() -> None:
    codes, concepts = scene()
    alone = [fms(codes, concepts[:, [a]], subsamples=2).per_concept[0] for a in range(3)]
    assert fms(codes, concepts[:, ::-1], subsamples=2).per_concept.tolist() == alone[::-1]


def test_concepts_with_too_few_images_of_a_kind_are_left_out() -> None:
    codes, _ = scene()
    concepts = np.zeros((200, 4), dtype=bool)
    concepts[:10, 0] = concepts[:9, 1] = True
    concepts[:, 2] = concepts[3:, 3] = True
    score = fms(codes, concepts, subsamples=4)
    assert np.isnan(score.per_concept).tolist() == [False, True, True, True]
    assert score.n == 1
    assert score.not_applicable == {"fewer than 10 images with it, or without it": 3}
    nothing = fms(codes, concepts[:, 1:], subsamples=4)
    assert nothing.value is None
    assert nothing.ci95 is None


def test_large_samples_are_cut() -> None:
    codes, concepts = scene(400)
    few = fms(codes, concepts, max_rows=40, subsamples=2)
    assert few.value is not None
    assert (
        few.per_concept.tolist()
        == fms(codes, concepts, max_rows=41, subsamples=2).per_concept.tolist()
    )
    assert fms(codes, concepts, max_rows=800, subsamples=2) == fms(codes, concepts, subsamples=2)


def test_interval_is_of_half_size_subsamples_around_the_value() -> None:
    codes, concepts = scene()
    codes[::3] = codes[::-3][: len(codes[::3])]
    score = fms(codes, concepts, subsamples=60)
    assert score.samples is not None
    assert score.samples.mean() == pytest.approx(score.value, abs=1e-12)
    assert score.ci95 is not None
    assert score.value is not None
    assert score.ci95[0] < score.value < score.ci95[1]
    again = fms(codes, concepts, subsamples=60)
    assert np.asarray(again.samples).tobytes() == score.samples.tobytes()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"max_rows": 19}, "max_rows is 19"),
        ({"max_rows": None}, "max_rows is None"),
        ({"subsamples": 0}, "expected a whole number"),
        ({"concepts": np.ones((3, 1), dtype=bool)}, "3 rows but the latents have 200"),
        ({"concepts": np.full((200, 1), 2)}, "expected 0 or 1"),
        ({"codes": np.full((200, 2), np.nan)}, "finite"),
    ],
)
def test_bad_input(change: dict[str, Any], part: str) -> None:
    codes, concepts = scene()
    with pytest.raises(InputError, match=part):
        fms(**{"codes": codes, "concepts": concepts, **change})
