"""FID, KID and the neighbour metrics against restatements, and where they do not apply."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.generative.manifold import manifolds, without_extent
from benchmark.generative.quality import NAMES, frechet_distance, kernel_distance, quality
from benchmark.metrics.arrays import InputError


def restated(real: np.ndarray, generated: np.ndarray, k: int) -> tuple[float, float, float, float]:
    """All pairs, one by one."""

    def distance(a: np.ndarray, b: np.ndarray) -> float:
        return float(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))

    def radius(points: np.ndarray, i: int) -> float:
        return sorted(distance(points[i], points[j]) for j in range(len(points)) if j != i)[k - 1]

    balls = [radius(real, i) for i in range(len(real))]
    others = [radius(generated, j) for j in range(len(generated))]
    inside = [[distance(r, g) <= balls[i] for g in generated] for i, r in enumerate(real)]
    recalled = [any(distance(r, g) <= others[j] for j, g in enumerate(generated)) for r in real]
    precision = np.mean([any(row[j] for row in inside) for j in range(len(generated))])
    density = sum(map(sum, inside)) / (k * len(generated))
    return (
        float(precision),
        float(np.mean(recalled)),
        density,
        float(np.mean(list(map(any, inside)))),
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 14), st.integers(6, 14), st.integers(1, 5))
def test_neighbours_equal_the_restatement(seed: int, n: int, m: int, k: int) -> None:
    # whole numbers: many ties and copies, and exact distances on both sides
    rng = np.random.default_rng(seed)
    real = rng.integers(0, 4, (n, 3)).astype(float)
    generated = rng.integers(0, 5, (m, 3)).astype(float)
    found = manifolds(real, generated, k)
    expected = restated(real, generated, k)
    got = (found.precision, found.recall, found.density, found.coverage)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmark.generative import manifold

    rng = np.random.default_rng(1)
    real, generated = rng.normal(size=(40, 5)), rng.normal(0.5, 1, size=(30, 5))
    whole = manifolds(real, generated)
    monkeypatch.setattr(manifold, "_BLOCK_ELEMENTS", 100)
    assert manifolds(real, generated) == whole


def test_identical_sets_are_precise_and_covered() -> None:
    points = np.random.default_rng(0).normal(size=(50, 8))
    found = quality(points, points, identical=True)
    for name in ("precision", "recall", "coverage"):
        assert found.scores[name].value == 1
    assert found.scores["fid"].value == pytest.approx(0, abs=1e-6)
    assert found.scores["kid"].not_applicable == {"both sets hold the same images": 1}


def test_fid_equals_the_formula() -> None:
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(200, 6)), rng.normal(0.3, 1.4, size=(150, 6))
    a, b = np.cov(real.T), np.cov(generated.T)
    root = scipy.linalg.sqrtm(a @ b).real
    apart = ((real.mean(0) - generated.mean(0)) ** 2).sum()
    expected = apart + np.trace(a + b - 2 * root)
    assert frechet_distance(real, generated) == pytest.approx(expected, rel=1e-9)


def test_kid_equals_the_formula_and_keeps_torchs_seed() -> None:
    import torch

    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(40, 6)), rng.normal(0.5, 1, size=(40, 6))

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (x @ y.T / 6 + 1) ** 3

    own = kernel(real, real), kernel(generated, generated)
    within = sum((k.sum() - np.trace(k)) / (40 * 39) for k in own)
    expected = within - 2 * kernel(real, generated).mean()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    value, drawn = kernel_distance(real, generated)
    assert value == pytest.approx(expected, rel=1e-9)
    assert drawn["subsets"] == 1
    assert torch.equal(torch.random.get_rng_state(), before)
    more = np.concatenate([generated, generated + 0.1])
    first, again = (kernel_distance(real, more, seed=3) for _ in range(2))
    assert first == again
    assert first[1]["subset_size"] == 40


@pytest.mark.parametrize(
    ("n", "m", "missing"),
    [
        (1, 30, set(NAMES)),
        (30, 5, {"fid", "precision", "recall", "density", "coverage"}),
        (8, 30, {"fid"}),
        (9, 30, set()),
    ],
)
def test_small_sets_say_so(n: int, m: int, missing: set[str]) -> None:
    rng = np.random.default_rng(0)
    found = quality(rng.normal(size=(n, 8)), rng.normal(size=(m, 8)))
    assert {name for name, score in found.scores.items() if score.value is None} == missing
    for name in missing:
        (reason,) = found.scores[name].not_applicable
        assert "expected at least" in reason
    assert all(score.n == n + m for score in found.scores.values())


def test_copies_and_constants_say_so() -> None:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(30, 4))
    constant = quality(real, np.ones((30, 4)))
    assert all(score.value is None for score in constant.scores.values())
    assert constant.scores["fid"].not_applicable == {
        "features have no variance in the generated set": 1
    }
    copies = np.repeat(rng.normal(size=(3, 4)), 6, axis=0)
    assert without_extent(copies)
    copied = quality(real, copies)
    assert copied.scores["coverage"].value is None
    assert copied.scores["fid"].value is not None
    some = np.concatenate([real, np.repeat(real[:1], 8, axis=0)])
    assert not without_extent(some)
    assert quality(real, some).scores["coverage"].value is not None


def test_broken_features_are_refused() -> None:
    good = np.ones((5, 3))
    with pytest.raises(InputError, match="dimensions"):
        quality(good, np.ones((5, 4)))
    with pytest.raises(InputError, match="not finite"):
        quality(good, np.full((5, 3), np.nan))
    with pytest.raises(InputError, match="expected features"):
        quality(good, np.ones(3))
