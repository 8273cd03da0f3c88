"""Generated inputs for the metric tests: small, full of ties, and in every container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

CASES = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FEW = settings(CASES, max_examples=60)

# Exact in half precision of either kind and in float32; many repeats, so that ties are the rule.
LEVELS = np.array([0.25, 0.5, 1.0, 1.0, 1.0, 1.5, 2.0, 3.0])
# Inactive once cast to float32, although positive in float64.
VANISHING = np.array([1e-50, 1e-300, 5e-324, 7e-46])

MATCHERS = ("fbmp", "one_to_one", "top_k_f1", "nn_omp")


class Held(NamedTuple):
    """A container under test and the values it holds, dense."""

    codes: Any
    values: np.ndarray


def _parts(values: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Shuffled COO parts with every entry split in two and explicit zeros between."""
    rows, cols = np.nonzero(values)
    zero_rows, zero_cols = np.nonzero(values == 0)
    keep = rng.random(len(zero_rows)) < 0.5
    data = np.concatenate([values[rows, cols] / 2, values[rows, cols] / 2, np.zeros(keep.sum())])
    all_rows = np.concatenate([rows, rows, zero_rows[keep]])
    all_cols = np.concatenate([cols, cols, zero_cols[keep]])
    order = rng.permutation(len(data))
    return data[order], all_rows[order], all_cols[order]


def _coo(values: np.ndarray, rng: np.random.Generator) -> Any:
    data, rows, cols = _parts(values, rng)
    return sp.coo_array((data, (rows, cols)), shape=values.shape)


def _raw_compressed(values: np.ndarray, rng: np.random.Generator, kind: Any) -> Any:
    """CSR or CSC with unsorted, duplicate and zero entries left as they are."""
    data, rows, cols = _parts(values, rng)
    major, minor = (rows, cols) if kind is sp.csr_array else (cols, rows)
    order = np.argsort(major, kind="stable")
    length = values.shape[0 if kind is sp.csr_array else 1]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=length))])
    return kind((data[order], minor[order], indptr), shape=values.shape)


def _explicit_zeros(values: np.ndarray, rng: np.random.Generator) -> Any:
    del rng
    full = sp.csr_array(np.ones_like(values, dtype=np.float32))
    full.data[:] = values.ravel()
    return full


Build = Callable[[np.ndarray, np.random.Generator], Any]
CONTAINERS: dict[str, Build] = {
    "float64": lambda v, _: v.copy(),
    "float32": lambda v, _: v.astype(np.float32),
    "float16": lambda v, _: v.astype(np.float16),
    "fortran": lambda v, _: np.asfortranarray(v),
    "strided": lambda v, _: np.repeat(np.repeat(v, 2, axis=0), 2, axis=1)[::2, ::2],
    "int8": lambda v, _: np.ceil(v).astype(np.int8),
    "uint8": lambda v, _: np.ceil(v).astype(np.uint8),
    "int64": lambda v, _: np.ceil(v).astype(np.int64),
    "bool": lambda v, _: v > 0,
    "csr": lambda v, _: sp.csr_array(v.astype(np.float32)),
    "csr_matrix": lambda v, _: sp.csr_matrix(v),
    "csc": lambda v, _: sp.csc_array(v),
    "csr_bool": lambda v, _: sp.csr_array(v > 0),
    "csr_int": lambda v, _: sp.csr_array(np.ceil(v).astype(np.int16)),
    "csr_zeros": _explicit_zeros,
    "csr_raw": lambda v, rng: _raw_compressed(v, rng, sp.csr_array),
    "csc_raw": lambda v, rng: _raw_compressed(v, rng, sp.csc_array),
    "coo": _coo,
    "coo_matrix": lambda v, rng: sp.coo_matrix(_coo(v, rng)),
}
MAGNITUDES = tuple(n for n in CONTAINERS if n not in {"bool", "csr_bool"})
DENSE64 = ("float64", "fortran", "strided")


def hold(values: np.ndarray, name: str, seed: int = 0) -> Held:
    """Put `values` into the named container; returns it with the values it really holds."""
    codes = CONTAINERS[name](values, np.random.default_rng(seed))
    if sp.issparse(codes):
        dense = codes.toarray().astype(np.float64)
    else:
        dense = np.asarray(codes).astype(np.float64)
    return Held(codes, dense)


class Case(NamedTuple):
    """Codes (N, d) as dense float64, concepts (N, A) as bool."""

    values: np.ndarray
    concepts: np.ndarray


def _bits(mask: int, n: int) -> np.ndarray:
    return np.array([(mask >> i) & 1 for i in range(n)], dtype=bool)


@st.composite
def concept_arrays(draw: st.DrawFn, n: int, max_a: int = 4) -> np.ndarray:
    """Annotations with empty and all-positive concepts among them."""
    full = (1 << n) - 1
    masks = st.one_of(st.integers(0, full), st.sampled_from([0, full, 1, full ^ 1]))
    columns = draw(st.lists(masks, min_size=1, max_size=max_a))
    return np.stack([_bits(mask, n) for mask in columns], axis=1)


@st.composite
def code_arrays(
    draw: st.DrawFn, concepts: np.ndarray, max_d: int = 6, d: int | None = None
) -> np.ndarray:
    """Codes with dead, always-on, duplicated and concept-like latents among them."""
    n = len(concepts)
    full = (1 << n) - 1
    kinds = ["random", "dead", "full", "copy", "concept", "part", "more", "not"]
    count = st.just(d) if d is not None else st.integers(1, max_d)
    columns: list[np.ndarray] = []
    for _ in range(draw(count)):
        kind = draw(st.sampled_from(kinds))
        some = _bits(draw(st.integers(0, full)), n)
        y = concepts[:, draw(st.integers(0, concepts.shape[1] - 1))]
        if kind == "dead":
            some = np.zeros(n, dtype=bool)
        elif kind == "full":
            some = np.ones(n, dtype=bool)
        elif kind == "copy" and columns:
            some = columns[draw(st.integers(0, len(columns) - 1))] > 0
        elif kind == "concept":
            some = y.copy()
        elif kind == "part":
            some = some & y
        elif kind == "more":
            some = some | y
        elif kind == "not":
            some = ~y
        rng = np.random.default_rng(draw(st.integers(0, 7)))
        columns.append(np.where(some, rng.choice(LEVELS, n), 0.0))
    return np.stack(columns, axis=1)


@st.composite
def match_cases(draw: st.DrawFn, max_n: int = 12, max_d: int = 6, max_a: int = 4) -> Case:
    n = draw(st.integers(1, max_n))
    concepts = draw(concept_arrays(n, max_a))
    return Case(draw(code_arrays(concepts, max_d)), concepts)


@st.composite
def coalition_lists(draw: st.DrawFn, a: int, d: int) -> list[tuple[int, ...] | None]:
    one = st.lists(st.integers(0, d - 1), max_size=3, unique=True).map(tuple)
    return draw(st.lists(st.one_of(one, one, one, st.none()), min_size=a, max_size=a))


class PairCase(NamedTuple):
    """Base and edited codes (P, d), coalitions of A concepts, and what each pair changes."""

    base: np.ndarray
    edited: np.ndarray
    coalitions: tuple[tuple[int, ...], ...]
    added: tuple[int | None, ...]
    removed: tuple[int | None, ...]
    present: np.ndarray


@st.composite
def pair_cases(draw: st.DrawFn, max_p: int = 12, max_d: int = 5, max_a: int = 4) -> PairCase:
    p = draw(st.integers(1, max_p))
    d = draw(st.integers(1, max_d))
    a = draw(st.integers(2, max_a))
    full = (1 << p) - 1
    present = np.stack([_bits(draw(st.integers(0, full)), p) for _ in range(a)], axis=1)
    base = draw(code_arrays(present, d=d))
    edited = draw(code_arrays(present, d=d))
    one = st.lists(st.integers(0, d - 1), max_size=3, unique=True).map(tuple)
    coalitions = draw(st.lists(one, min_size=a, max_size=a))
    kinds = draw(st.sampled_from([("add",), ("remove",), ("swap",), ("add", "remove", "swap")]))
    added: list[int | None] = []
    removed: list[int | None] = []
    for _ in range(p):
        kind = draw(st.sampled_from(kinds))
        first = draw(st.integers(0, a - 1))
        second = (first + draw(st.integers(1, a - 1))) % a
        added.append(first if kind != "remove" else None)
        removed.append(second if kind != "add" else None)
    return PairCase(base, edited, tuple(coalitions), tuple(added), tuple(removed), present)
