"""Comparison of a TapaScore with its brute-force restatement."""

from __future__ import annotations

from typing import Any

import metric_reference as ref
import pytest


def same(got: float | None, want: float | None) -> bool:
    if want is None or got is None:
        return got is None and want is None
    return got == pytest.approx(want, abs=1e-12)


def check_tapa(score: Any, want: ref.Tapa) -> None:
    assert same(score.value, want.value)
    assert same(score.delta_add, want.delta_add)
    assert same(score.delta_rem, want.delta_rem)
    assert same(score.delta_stay, want.delta_stay)
    assert same(score.stay.value, want.delta_stay)
    assert (score.empty_add, score.empty_removed) == (want.empty_add, want.empty_removed)
    assert len(score.per_concept) == len(want.per_concept)
    for got, row in zip(score.per_concept, want.per_concept, strict=True):
        assert same(got.delta_add, row["delta_add"])
        assert same(got.delta_rem, row["delta_rem"])
        assert same(got.tapa, row["tapa"])
        assert (got.n_add, got.n_rem) == (row["n_add"], row["n_rem"])
    if want.value is None:
        assert score.ci95 is None
        return
    bound = 2.0 if want.delta_add is not None and want.delta_rem is not None else 1.0
    low, high = score.ci95
    assert -bound <= low <= high <= bound
    for value in (score.value, score.delta_add, score.delta_rem, score.delta_stay):
        assert value is None or type(value) is float
