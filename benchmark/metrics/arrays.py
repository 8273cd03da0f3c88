"""Input checks and the one rule that says which latents are active."""

import operator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

BoolArray: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
IntArray: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Codes: TypeAlias = Any
"""Codes (N, d): a number or boolean array, a scipy sparse matrix or array, or a torch tensor."""

_CHECKED_ROWS = 1 << 13


class InputError(ValueError):
    """Input that no score can be computed from; one line says what is wrong and where."""


def _to_numpy(value: Any, name: str) -> np.ndarray:
    if hasattr(value, "detach"):  # a torch tensor; bfloat16 has no numpy counterpart
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() else value
        return np.asarray(value.numpy())
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name}: rows of different lengths; expected a matrix") from None
    # bfloat16 arrays come from packages beside numpy, which sees only unknown bytes
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def codes_float32(codes: Codes, name: str = "latents") -> Any:
    """Checked codes as float32: an array, or for sparse input a ``csr_array`` without stored zeros.

    Raises:
        InputError: not two-dimensional, no rows, not numbers, NaN, infinite or negative.
    """
    if sp.issparse(codes):
        result = _canonical_csr(codes, name)
        values = result.data
    else:
        array = _to_numpy(codes, name)
        if array.dtype.kind not in "biuf":
            raise InputError(f"{name}: expected numbers, found dtype {array.dtype}")
        if array.ndim != 2:
            raise InputError(f"{name}: expected shape (rows, latents), found {array.shape}")
        result = array.astype(np.float32, copy=False)
        values = result
    if result.shape[0] == 0:
        raise InputError(f"{name}: has no rows; an empty split cannot be scored")
    _check_values(values, result, name)
    return result


def _canonical_csr(codes: Any, name: str) -> sp.csr_array:
    if codes.ndim != 2:
        raise InputError(f"{name}: expected shape (rows, latents), found {codes.shape}")
    if codes.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found dtype {codes.dtype}")
    if codes.format != "csr" or codes.dtype != np.float32:
        if codes.dtype == np.float16:  # scipy's routines know no half precision
            codes = codes.copy()
            codes.data = codes.data.astype(np.float32)
        codes = codes.tocsr()
    csr = sp.csr_array(
        (codes.data.astype(np.float32, copy=False), codes.indices, codes.indptr), shape=codes.shape
    )
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not csr.data.all():  # a stored zero, or a value that float32 cannot hold
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


def _check_values(values: np.ndarray, whole: Any, name: str) -> None:
    if values.size == 0:
        return
    low, high = values.min(), values.max()
    if low >= 0 and np.isfinite(high):  # False for NaN, which both extremes pass on
        return
    bad = np.flatnonzero(~((values >= 0) & np.isfinite(values)).ravel())[0]
    if sp.issparse(whole):
        row = int(np.searchsorted(whole.indptr, bad, side="right")) - 1
        column = int(whole.indices[bad])
    else:
        row, column = divmod(int(bad), whole.shape[1])
    found = values.ravel()[bad]
    raise InputError(
        f"{name}: row {row}, latent {column} is {found}; codes must be finite and not negative"
    )


def active(codes: Codes, name: str = "latents") -> Any:
    """Which latents are active: ``z > 0`` after casting to float32, the one rule for every score.

    Args:
        codes: (N, d) numbers, dense or sparse; finite, not negative.
        name: what to call the codes in an error.

    Returns:
        Booleans (N, d): a ``csr_array`` without stored zeros for sparse input, else an array.

    Raises:
        InputError: as ``codes_float32``.
    """
    values = codes_float32(codes, name)
    if not sp.issparse(values):
        return values > 0
    on = np.ones(values.nnz, bool)
    return sp.csr_array((on, values.indices, values.indptr), shape=values.shape)


def whole_number(value: Any) -> int | None:
    """``value`` as an int where it is a whole number (True and 2.0 are not), else None."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def annotations(concepts: Any, rows: int | None = None, name: str = "concepts") -> BoolArray:
    """Checked annotations (N, A) as booleans; only 0, 1, True and False are allowed.

    Raises:
        InputError: wrong shape, another value than 0 and 1, or not ``rows`` rows.
    """
    array = concepts.toarray() if sp.issparse(concepts) else _to_numpy(concepts, name)
    if array.ndim != 2:
        raise InputError(f"{name}: expected shape (rows, concepts), found {array.shape}")
    if rows is not None and len(array) != rows:
        raise InputError(f"{name}: has {len(array)} rows but the latents have {rows}")
    if array.dtype == bool:
        return array
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected booleans or 0/1, found dtype {array.dtype}")
    good = (array == 0) | (array == 1)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise InputError(
            f"{name}: row {row}, concept {column} is {array[row, column]}; expected 0 or 1"
        )
    return array.astype(bool)


def embeddings_checked(
    embeddings: Any, rows: int, name: str = "embeddings", *, directed: bool = True
) -> np.ndarray:
    """Checked embeddings (N, D), as they are, looked through in chunks.

    Args:
        rows: N, the number of rows of the codes.
        directed: refuse a row of norm 0, which has no direction.

    Raises:
        InputError: not two-dimensional, not numbers, not ``rows`` rows, a row that is not finite.
    """
    array = _to_numpy(embeddings, name)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: expected numbers, found dtype {array.dtype}")
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name}: expected shape (rows, features), found {array.shape}")
    if len(array) != rows:
        raise InputError(f"{name}: has {len(array)} rows but the latents have {rows}")
    for start in range(0, rows, _CHECKED_ROWS):
        part = array[start : start + _CHECKED_ROWS]
        bad = np.flatnonzero(~np.isfinite(part).all(axis=1))
        if bad.size:
            raise InputError(f"{name}: row {start + bad[0]} holds a value that is not finite")
        still = np.flatnonzero(~part.any(axis=1))
        if directed and still.size:
            raise InputError(
                f"{name}: row {start + still[0]} is zero throughout; a cosine needs a direction"
            )
    return array
