"""Bad input: one clear line each, raised as InputError before any work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.metrics import (
    InputError,
    active,
    alive,
    dead_fraction,
    decoder_redundancy,
    dominance,
    explained_variance,
    l0,
    l0_median,
    match_concepts,
    match_score,
    quartiles,
    tapa_score,
)

CODES = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]])
CONCEPTS = np.array([[True, False], [False, True], [True, True]])
WRAPS: list[Callable[[np.ndarray], Any]] = [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array]


def refuses(call: Callable[..., object], *args: Any, **kwargs: Any) -> str:
    """The call raises InputError; returns its message, which is one line and says something."""
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) > 10
    return message


def with_value(value: float) -> np.ndarray:
    codes = CODES.copy()
    codes[1, 1] = value
    return codes


def test_input_error_is_a_value_error() -> None:
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, -1e-30])
def test_codes_that_are_no_codes(wrap: Callable[[np.ndarray], Any], value: float) -> None:
    bad = wrap(with_value(value))
    good = wrap(CODES)
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    refuses(match_concepts, bad, CONCEPTS)
    refuses(match_concepts, bad, CONCEPTS, matcher="nn_omp")
    refuses(match_score, bad, CONCEPTS, [(0,), (1,)])
    refuses(tapa_score, bad, good, [(0,), (1,)], **edits)
    refuses(tapa_score, good, bad, [(0,), (1,)], **edits)
    matching = match_concepts(good, CONCEPTS)
    refuses(matching.predict, bad)
    for function in (l0, l0_median, dead_fraction, alive, active):
        refuses(function, bad)
    if value != -1.0 and value != -1e-30:
        refuses(dominance, bad)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_nan_in_narrow_floats(dtype: type) -> None:
    refuses(match_concepts, with_value(np.nan).astype(dtype), CONCEPTS)


def test_negative_integers() -> None:
    refuses(match_concepts, np.array([[1, 0], [0, -1], [1, 1]]), CONCEPTS)
    refuses(match_concepts, sp.csr_array(np.array([[1, 0], [0, -1], [1, 1]])), CONCEPTS)


def test_message_names_the_row_of_a_nan() -> None:
    assert "1" in refuses(match_concepts, with_value(np.nan), CONCEPTS)


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf])
def test_annotations_other_than_zero_and_one(value: float) -> None:
    bad = CONCEPTS.astype(np.float64)
    bad[2, 0] = value
    refuses(match_concepts, CODES, bad)
    refuses(match_score, CODES, bad, [(0,), (1,)])
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    refuses(tapa_score, CODES, CODES, [(0,), (1,)], present=bad, **edits)


def test_integer_annotations_other_than_zero_and_one() -> None:
    bad = CONCEPTS.astype(np.int64)
    bad[0, 0] = 2
    refuses(match_concepts, CODES, bad)
    refuses(match_concepts, CODES, np.array([["a", "b"]] * 3))


@pytest.mark.parametrize("wrap", WRAPS)
def test_shapes_that_disagree(wrap: Callable[[np.ndarray], Any]) -> None:
    codes = wrap(CODES)
    message = refuses(match_concepts, codes, CONCEPTS[:2])
    assert "3" in message
    assert "2" in message
    refuses(match_score, codes, CONCEPTS[:2], [(0,), (1,)])
    refuses(match_score, codes, CONCEPTS, [(0,)])
    refuses(match_score, codes, CONCEPTS, [(0,), (1,), ()])
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    refuses(tapa_score, codes, wrap(CODES[:2]), [(0,), (1,)], **edits)
    refuses(tapa_score, codes, wrap(CODES[:, :1]), [(0,), (1,)], **edits)
    refuses(tapa_score, codes, codes, [(0,)], present=CONCEPTS, **edits)
    refuses(tapa_score, codes, codes, [(0,), (1,)], present=CONCEPTS[:2], **edits)


def test_wrong_number_of_dimensions() -> None:
    refuses(match_concepts, CODES[:, 0], CONCEPTS)
    refuses(match_concepts, CODES[None], CONCEPTS)
    refuses(match_concepts, CODES, CONCEPTS[:, 0])
    refuses(match_concepts, CODES, CONCEPTS[None])
    refuses(dominance, CODES[0])
    refuses(l0, CODES[0])
    refuses(explained_variance, CODES[0], CODES[0], resamples=10, seed=0)


def test_codes_that_are_not_numbers() -> None:
    refuses(match_concepts, np.array([["a", "b"]] * 3), CONCEPTS)
    refuses(match_concepts, CODES.astype(complex), CONCEPTS)
    refuses(match_concepts, CODES.astype(object), CONCEPTS)


@pytest.mark.parametrize("wrap", WRAPS[:3])
def test_empty_splits(wrap: Callable[[np.ndarray], Any]) -> None:
    nothing = wrap(np.zeros((0, 2)))
    none = np.zeros((0, 2), dtype=bool)
    refuses(match_concepts, nothing, none)
    refuses(match_score, nothing, none, [(0,), (1,)])
    for function in (l0, l0_median, dead_fraction, dominance):
        refuses(function, nothing)
    refuses(explained_variance, np.zeros((0, 2)), np.zeros((0, 2)), resamples=10, seed=0)


@pytest.mark.parametrize("index", [2, -1, 10**9])
def test_coalition_index_out_of_range(index: int) -> None:
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    message = refuses(match_score, CODES, CONCEPTS, [(0,), (1, index)])
    assert str(index) in message.replace(",", "")
    refuses(tapa_score, CODES, CODES, [(0,), (index,)], **edits)
    refuses(match_score, sp.csr_array(CODES), CONCEPTS, [(0,), (1, index)])


def test_matching_of_another_dictionary_size() -> None:
    wide = np.concatenate([np.zeros((3, 3)), CODES], axis=1)
    for matcher in ("fbmp", "nn_omp"):
        matching = match_concepts(wide, CONCEPTS, matcher=matcher)
        refuses(match_score, CODES, CONCEPTS, matching)
        refuses(matching.predict, CODES)


def test_added_equals_removed() -> None:
    message = refuses(tapa_score, CODES, CODES, [(0,), (1,)], added=[0, 1, 0], removed=[1, 1, None])
    assert "1" in message


@pytest.mark.parametrize("index", [2, -1, 99])
def test_concept_index_out_of_range(index: int) -> None:
    coalitions = [(0,), (1,)]
    refuses(tapa_score, CODES, CODES, coalitions, added=[0, index, 0], removed=[None] * 3)
    refuses(tapa_score, CODES, CODES, coalitions, added=[None] * 3, removed=[0, index, 0])


def test_edits_of_the_wrong_length() -> None:
    coalitions = [(0,), (1,)]
    refuses(tapa_score, CODES, CODES, coalitions, added=[0, 0], removed=[None] * 3)
    refuses(tapa_score, CODES, CODES, coalitions, added=[0, 0, 0], removed=[None] * 2)
    refuses(tapa_score, CODES, CODES, coalitions, added=[0] * 4, removed=[None] * 4)


def test_unknown_matcher_lists_the_known() -> None:
    message = refuses(match_concepts, CODES, CONCEPTS, matcher="hungarian")
    assert "hungarian" in message
    for known in ("fbmp", "one_to_one", "top_k_f1", "nn_omp"):
        assert known in message


@pytest.mark.parametrize("beta", [0, -0.5, np.nan, np.inf])
def test_beta_that_is_not_positive_and_finite(beta: float) -> None:
    refuses(match_concepts, CODES, CONCEPTS, beta=beta)


@pytest.mark.parametrize("k", [0, -1, 1.5, np.nan, np.inf])
def test_max_latents_below_one_or_not_whole(k: Any) -> None:
    refuses(match_concepts, CODES, CONCEPTS, max_latents=k)


@pytest.mark.parametrize(
    "coalitions", [[0, 1], [("a",), ()], [(np.nan,), ()], [(0.5,), ()], [0, ()]]
)
def test_coalitions_that_are_none(coalitions: Any) -> None:
    refuses(match_score, CODES, CONCEPTS, coalitions)
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    refuses(tapa_score, CODES, CODES, coalitions, **edits)


@pytest.mark.parametrize("concept", [np.nan, 0.5, "x"])
def test_edits_that_are_no_concept_index(concept: Any) -> None:
    """A missing value read from a table arrives as NaN: it is refused, not taken for a concept."""
    edits: Any = {"added": [0, concept, 0], "removed": [None] * 3}
    refuses(tapa_score, CODES, CODES, [(0,), (1,)], **edits)


@pytest.mark.parametrize("resamples", [0, -5])
def test_resamples_below_one(resamples: int) -> None:
    refuses(match_score, CODES, CONCEPTS, [(0,), (1,)], resamples=resamples)
    edits: Any = {"added": [0, 0, 0], "removed": [None] * 3}
    refuses(tapa_score, CODES, CODES, [(0,), (1,)], resamples=resamples, **edits)
    refuses(explained_variance, CODES, CODES, resamples=resamples, seed=0)


def test_explained_variance_input() -> None:
    refuses(explained_variance, CODES, CODES[:2], resamples=10, seed=0)
    refuses(explained_variance, CODES, CODES[:, :1], resamples=10, seed=0)
    for value in (np.nan, np.inf):
        assert "1" in refuses(explained_variance, with_value(value), CODES, resamples=10, seed=0)
        assert "1" in refuses(explained_variance, CODES, with_value(value), resamples=10, seed=0)


def test_quartiles_input() -> None:
    refuses(quartiles, np.array([0.1, 0.2]), np.array([True]))
    refuses(quartiles, np.array([0.1, np.nan]), np.array([True, True]))


def test_decoder_redundancy_input() -> None:
    rho, living = np.array([0.5, 0.5]), np.array([True, True])
    decoder = np.eye(2)
    refuses(decoder_redundancy, decoder[:1], rho, living)
    refuses(decoder_redundancy, decoder, rho[:1], living)
    refuses(decoder_redundancy, decoder, rho, living[:1])
    refuses(decoder_redundancy, decoder[0], rho, living)
    refuses(decoder_redundancy, np.array([[1.0, np.nan], [0.0, 1.0]]), rho, living)
    refuses(decoder_redundancy, np.array([[1.0, np.inf], [0.0, 1.0]]), rho, living)
    refuses(decoder_redundancy, decoder, rho, living, encoder=np.ones((3, 2)), codes=CODES)
    refuses(decoder_redundancy, decoder, rho, living, encoder=decoder, codes=np.ones((3, 5)))
    refuses(decoder_redundancy, decoder, rho, living, threshold=1.5)


@pytest.mark.parametrize("beta", [None, "x", [0.5]])
def test_beta_that_is_no_number(beta: object) -> None:
    refuses(match_concepts, CODES, CONCEPTS, beta=beta)


def test_ragged_rows() -> None:
    refuses(match_concepts, [[1, 0], [1]], CONCEPTS)


@pytest.mark.parametrize("matcher", ["fbmp", "one_to_one", "top_k_f1", "nn_omp"])
def test_no_latents_at_all_match_nothing(matcher: str) -> None:
    found = match_concepts(np.zeros((3, 0)), np.array([[1], [0], [1]]), matcher=matcher)
    assert found.coalitions == ((),)
    assert found.f1.tolist() == [0.0]
