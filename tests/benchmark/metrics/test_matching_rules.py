"""Matching under the general rules: order, chunks, dtypes, counts, memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import metric_reference as ref
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from metric_cases import (
    CASES,
    CONTAINERS,
    DENSE64,
    FEW,
    MATCHERS,
    VANISHING,
    Case,
    hold,
    match_cases,
)

from benchmark.metrics import match_concepts


def columns(*patterns: str) -> np.ndarray:
    """Boolean columns written as strings of 0 and 1."""
    return np.array([[c == "1" for c in pattern] for pattern in patterns]).T


@given(match_cases(), st.sampled_from(MATCHERS), st.randoms(use_true_random=False))
@CASES
def test_row_order_is_irrelevant(case: Case, matcher: str, random: Any) -> None:
    order = list(range(len(case.values)))
    random.shuffle(order)
    before = match_concepts(case.values, case.concepts, matcher=matcher)
    after = match_concepts(case.values[order], case.concepts[order], matcher=matcher)
    fits = ref.match(case.values, case.concepts, matcher, 0.5, 3).fits
    for a, fit in enumerate(fits):
        if fit is not None and not fit.safe:
            continue
        assert before.coalitions[a] == after.coalitions[a]
        if fit is None or fit.decided(case.values):
            assert before.f1[a].tobytes() == after.f1[a].tobytes()


@given(match_cases(), st.sampled_from(MATCHERS))
@FEW
def test_concepts_are_independent(case: Case, matcher: str) -> None:
    together = match_concepts(case.values, case.concepts, matcher=matcher)
    for a in range(case.concepts.shape[1]):
        alone = match_concepts(case.values, case.concepts[:, [a]], matcher=matcher)
        assert alone.coalitions[0] == together.coalitions[a]
        assert alone.f1[:1].tobytes() == together.f1[a : a + 1].tobytes()


@given(match_cases(), st.sampled_from(MATCHERS), st.sampled_from(sorted(CONTAINERS)))
@FEW
def test_inputs_are_not_written_to(case: Case, matcher: str, container: str) -> None:
    codes = hold(case.values, container).codes
    copy = hold(case.values, container).codes
    concepts = case.concepts.copy()
    match_concepts(codes, concepts, matcher=matcher)
    assert np.array_equal(concepts, case.concepts)
    if sp.issparse(codes):
        assert codes.nnz == copy.nnz
        assert np.array_equal(codes.data, copy.data)
        parts = ("indices", "indptr") if codes.format != "coo" else ("row", "col")
        for part in parts:
            assert np.array_equal(getattr(codes, part), getattr(copy, part))
    else:
        assert np.array_equal(codes, copy)


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("container", DENSE64)
def test_values_that_vanish_in_float32_are_inactive(matcher: str, container: str) -> None:
    concepts = columns("110011001100")
    clean = np.zeros((12, 2))
    clean[:6, 0], clean[[0, 4, 8], 1] = 1.0, 1.0
    dirty = clean.copy()
    dirty[clean == 0] = np.resize(VANISHING, int((clean == 0).sum()))
    expected = match_concepts(clean, concepts, matcher=matcher)
    codes = hold(dirty, container).codes
    for given_codes in (codes, sp.csr_array(codes), sp.coo_array(codes)):
        got = match_concepts(given_codes, concepts, matcher=matcher)
        assert got.coalitions == expected.coalitions
        assert np.array_equal(got.f1, expected.f1)
        assert np.array_equal(got.predict(given_codes), expected.predict(clean))


def test_smallest_float32_is_active() -> None:
    codes = np.array([[1e-44], [0.0], [1e-40]])
    matching = match_concepts(codes, columns("101"))
    assert matching.coalitions == ((0,),)
    assert matching.f1[0] == 1.0


def test_negative_zero_is_inactive() -> None:
    matching = match_concepts(np.array([[1.0], [-0.0]]), columns("10"))
    assert matching.f1[0] == 1.0


@pytest.mark.parametrize("container", sorted(CONTAINERS))
@pytest.mark.parametrize("rows", [300, 4097, 70001])
def test_counts_do_not_overflow_or_round(container: str, rows: int) -> None:
    """The last row decides, whatever the dtype can count to and however rows are chunked."""
    values = np.ones((rows, 2))
    values[-1, 0] = 0.0
    values[:-1, 1] = 0.0
    codes = CONTAINERS[container](values, np.random.default_rng(0))
    matching = match_concepts(codes, np.ones((rows, 1), dtype=bool))
    assert matching.coalitions == ((0, 1),)
    assert matching.f1[0] == 1.0
    single = match_concepts(codes, np.ones((rows, 1), dtype=bool), max_latents=1)
    assert single.f1[0] == pytest.approx(2 * (rows - 1) / (2 * rows - 1), abs=1e-15)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("matcher", MATCHERS)
def test_torch_tensors_of_any_precision(matcher: str, dtype: str) -> None:
    import torch

    rows = 4099
    values = np.ones((rows, 2))
    values[-1, 0], values[:-1, 1] = 0.0, 0.0
    codes = torch.tensor(values, dtype=getattr(torch, dtype))
    concepts = np.ones((rows, 1), dtype=bool)
    expected = match_concepts(values, concepts, matcher=matcher)
    got = match_concepts(codes, concepts, matcher=matcher)
    assert got.coalitions == expected.coalitions == ((0, 1),) or matcher == "one_to_one"
    assert got.f1.tobytes() == expected.f1.tobytes()


@pytest.mark.parametrize("container", ["float32", "csr", "csc", "bool"])
@pytest.mark.parametrize("rows", [1, 2, 31, 1023, 8191, 65537])
def test_no_number_of_rows_is_special(container: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    values = (rng.random((rows, 3)) < 0.4).astype(np.float64)
    concepts = values[:, [1]].astype(bool) | values[:, [2]].astype(bool)
    concepts[-1] = True
    codes = CONTAINERS[container](values, rng)
    got = match_concepts(codes, concepts, matcher="top_k_f1")
    y = concepts[:, 0]
    scores = []
    for j in range(3):
        z = values[:, j] > 0
        total = int(y.sum()) + int(z.sum())
        scores.append(2 * int((y & z).sum()) / total)
    order = sorted((j for j in range(3) if scores[j] > 0), key=lambda j: (-scores[j], j))
    assert got.coalitions == (tuple(order),)
    union = values[:, order].any(axis=1) if order else np.zeros(rows, dtype=bool)
    want = 2 * int((y & union).sum()) / (int(y.sum()) + int(union.sum()))
    assert got.f1[0] == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("matcher", MATCHERS)
def test_annotations_may_be_numbers_zero_and_one(matcher: str) -> None:
    rng = np.random.default_rng(5)
    latents, concepts = rng.random((30, 6)) < 0.3, rng.random((30, 3)) < 0.3
    expected = match_concepts(latents, concepts, matcher=matcher)
    for dtype in (np.int64, np.uint8, np.float32, np.float64):
        got = match_concepts(latents, concepts.astype(dtype), matcher=matcher)
        assert got.coalitions == expected.coalitions
        assert got.f1.tobytes() == expected.f1.tobytes()


def test_sparse_codes_are_never_made_dense() -> None:
    rng = np.random.default_rng(0)
    n, d = 20_000, 20_000
    codes = sp.random_array((n, d), density=4 / d, format="csr", rng=rng, dtype=np.float32)
    concepts = rng.random((n, 3)) < 0.1
    tracemalloc.start()
    try:
        for matcher in MATCHERS:
            match_concepts(codes, concepts, matcher=matcher).predict(codes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6  # a dense boolean copy alone would be 400 MB
