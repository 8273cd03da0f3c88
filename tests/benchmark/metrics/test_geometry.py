"""Angles of rows to the mean activation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import CASES

from benchmark.metrics import InputError, angle_summary, angles_to_mean


def angle(row: list[float], mean: list[float]) -> float:
    """The angle by its definition, NaN where either has no direction."""
    norms = math.sqrt(math.fsum(v * v for v in row)) * math.sqrt(math.fsum(v * v for v in mean))
    if norms == 0:
        return math.nan
    cosine = math.fsum(a * b for a, b in zip(row, mean, strict=True)) / norms
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 10_000))
@CASES
def test_brute_force(d: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, mean = rng.integers(-2, 3, (d, width)), rng.integers(-2, 3, width)
    found = angles_to_mean(rows, mean)
    expected = [angle(row.tolist(), mean.tolist()) for row in rows]
    # arc cosine itself loses half the digits near 0° and 180°
    np.testing.assert_allclose(found, expected, atol=2e-6)
    scaled = angles_to_mean(rows * 1e-30, mean * 1e20)
    np.testing.assert_allclose(found, scaled, atol=1e-10)


def test_known_angles() -> None:
    rows = np.array([[1, 0], [0, 1], [-1, 0], [1, 1], [0, 0], [1, 1e-9]], np.float64)
    found = angles_to_mean(rows, np.array([3.0, 0.0]))
    assert found[:4].tolist() == pytest.approx([0, 90, 180, 45])
    assert math.isnan(found[4])
    assert found[5] == pytest.approx(math.degrees(1e-9), rel=1e-6)


def test_large_dictionaries_are_done_block_by_block() -> None:
    rows = np.random.default_rng(0).standard_normal((9001, 3)).astype(np.float32)
    mean = np.array([1.0, 2.0, 3.0])
    found = angles_to_mean(rows, mean)
    for latent in (0, 4095, 4096, 8192, 9000):
        assert found[latent] == pytest.approx(angle(rows[latent].tolist(), mean.tolist()))


def test_a_zero_mean_has_no_angles() -> None:
    assert np.isnan(angles_to_mean(np.eye(3), np.zeros(3))).all()


@pytest.mark.parametrize(
    ("rows", "mean", "message"),
    [
        (np.eye(3), np.ones(2), "expected (d, D) and (D,)"),
        (np.ones(3), np.ones(3), "expected (d, D) and (D,)"),
        (np.array([[1.0, np.nan]]), np.ones(2), "rows: row 0"),
        (np.eye(2), np.array([1.0, np.inf]), "mean: entry 1"),
    ],
)
def test_wrong_input_is_refused(rows: np.ndarray, mean: np.ndarray, message: str) -> None:
    with pytest.raises(InputError) as caught:
        angles_to_mean(rows, mean)
    assert message in str(caught.value)


def test_dead_latents_and_zero_rows_are_counted_not_averaged() -> None:
    angles = np.array([10.0, 20.0, np.nan, 90.0, 30.0])
    alive = np.array([True, True, True, False, True])
    summary = angle_summary(angles, alive, resamples=50)
    assert summary.mean.value == pytest.approx(20)
    assert summary.mean.n == 3
    assert summary.mean.not_applicable == {"dead": 1, "row or mean activation is zero": 1}
    assert summary.quartiles == pytest.approx((15, 20, 25))
    none = angle_summary(np.array([np.nan]), np.array([True]))
    assert none.mean.value is None
    assert none.mean.not_applicable
    assert none.quartiles is None
