"""Codes and features as files: dense or sparse arrays of the rows that a score needs.

A file is safetensors. Each array belongs to one of four parts: ``match`` and ``score`` (images of
the two splits, in the dataset's order), ``base`` and ``edited`` (both sides of the pairs). A dense
array of part ``match`` is the tensor ``match.dense`` (or plainly ``match``); a sparse one is CSR:
``match.indptr``, ``match.indices``, ``match.values`` and ``match.shape``. Metadata ``fingerprint``
is that of the dataset, ``pairs_fingerprint`` that of the pairs' dataset where it is another one.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from benchmark.errors import UserError
from benchmark.tensors import read_tensors, write_tensors

PARTS = ("match", "score", "base", "edited")
CSR_FIELDS = ("indptr", "indices", "values", "shape")
# Bounds what a sparse array of a stranger can claim.
MAX_COLUMNS = 2**24

Array: TypeAlias = np.ndarray | csr_array
Tensors: TypeAlias = dict[str, np.ndarray]


def write_arrays(path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write float arrays (rows, columns) of some parts, as float32; same input, same bytes.

    Args:
        path: file to write.
        arrays: part → dense array or scipy sparse array.
        metadata: at least ``fingerprint``.

    Raises:
        UserError: an array that ``read_arrays`` would refuse, such as one with NaN.
    """
    if "fingerprint" not in metadata:
        raise ValueError("metadata lacks the dataset's fingerprint")
    tensors: Tensors = {}
    for part, array in arrays.items():
        if issparse(array):
            sparse = csr_array(array, dtype=np.float32, copy=True)
            sparse.sum_duplicates()
            tensors[f"{part}.indptr"] = sparse.indptr.astype(np.int64)
            tensors[f"{part}.indices"] = sparse.indices.astype(np.int32)
            tensors[f"{part}.values"] = sparse.data
            tensors[f"{part}.shape"] = np.array(sparse.shape, dtype=np.int64)
        else:
            tensors[f"{part}.dense"] = np.asarray(array, dtype=np.float32)
    _assemble(path, tensors, nonnegative=False)
    write_tensors(path, tensors, metadata)


def read_arrays(
    path: Path,
    *,
    fingerprint: str | None = None,
    pairs_fingerprint: str | None = None,
    nonnegative: bool = False,
) -> dict[str, Array]:
    """Read the arrays of a file, checked to the last index.

    Args:
        path: file in this module's format.
        fingerprint: that of the dataset in use; ``None`` does not compare.
        pairs_fingerprint: that of the pairs' dataset in use; ``None`` does not compare. A file
            without this metadata took its pairs from the same dataset.
        nonnegative: refuse negative values (codes have none).

    Returns:
        part → float32 array (rows, columns), dense or ``csr_array`` without stored zeros; all with
        the same number of columns, ``base`` and ``edited`` with the same number of rows.

    Raises:
        UserError: missing or malformed file, unknown or incomplete tensors, NaN or infinity
            (naming tensor and row), or fingerprints that differ (naming both).
    """
    tensors, metadata = read_tensors(path)
    own = metadata.get("fingerprint")
    _compare(path, "dataset", own, fingerprint)
    _compare(path, "dataset of pairs", metadata.get("pairs_fingerprint", own), pairs_fingerprint)
    return _assemble(path, tensors, nonnegative=nonnegative)


def read_metadata(path: Path) -> dict[str, str]:
    """Metadata of a file in this module's format."""
    return read_tensors(path)[1]


def _compare(path: Path, what: str, found: str | None, expected: str | None) -> None:
    if expected is not None and found != expected:
        raise UserError(
            f"{path} was made from another {what}: fingerprint {found or 'not given'}, the {what} "
            f"in use has {expected}; make the file again from this {what}"
        )


def _assemble(path: Path, tensors: Tensors, *, nonnegative: bool) -> dict[str, Array]:
    grouped: dict[str, Tensors] = {}
    for name, tensor in tensors.items():
        part, _, field = name.partition(".")
        field = field or "dense"
        if part not in PARTS or field not in ("dense", *CSR_FIELDS):
            raise UserError(
                f"{path}: unknown tensor {name!r}; expected {', '.join(PARTS)}, each .dense or "
                f".{', .'.join(CSR_FIELDS)}"
            )
        if field in grouped.setdefault(part, {}):
            raise UserError(f"{path}: {part!r} and '{part}.dense' are both given; keep one")
        grouped[part][field] = tensor
    if not grouped:
        raise UserError(f"{path} holds no array; expected some of {', '.join(PARTS)}")
    arrays = {
        part: _array(path, part, grouped[part], nonnegative) for part in PARTS if part in grouped
    }
    _check_agreement(path, arrays)
    return arrays


def _array(path: Path, part: str, fields: Tensors, nonnegative: bool) -> Array:
    if set(fields) == {"dense"}:
        return _dense(path, part, fields["dense"], nonnegative)
    if set(fields) == set(CSR_FIELDS):
        return _sparse(path, part, fields, nonnegative)
    found = ", ".join(f"{part}.{field}" for field in sorted(fields))
    raise UserError(
        f"{path}: {part!r} is given by {found}; expected {part}.dense alone or all of "
        f"{', '.join(f'{part}.{field}' for field in CSR_FIELDS)}"
    )


def _dense(path: Path, part: str, array: np.ndarray, nonnegative: bool) -> np.ndarray:
    if array.ndim != 2 or array.shape[1] == 0:
        raise UserError(f"{path}: '{part}.dense' has shape {array.shape}, expected (rows, columns)")
    with np.errstate(over="ignore"):
        values = np.asarray(array, dtype=np.float32)
    # Two numbers a row tell what is in it, without a mask as large as the array.
    low, high = values.min(axis=1), values.max(axis=1)
    if (bad := np.flatnonzero(~np.isfinite(low) | ~np.isfinite(high))).size:
        raise UserError(f"{path}: '{part}.dense' has NaN or infinity in row {bad[0]}")
    if nonnegative and (bad := np.flatnonzero(low < 0)).size:
        raise UserError(f"{path}: '{part}.dense' has a negative value in row {bad[0]}")
    return values


def _sparse(path: Path, part: str, fields: Tensors, nonnegative: bool) -> csr_array:
    where = f"{path}: '{part}."
    for field in ("indptr", "indices", "shape"):
        if fields[field].ndim != 1 or fields[field].dtype.kind not in "iu":
            raise UserError(f"{where}{field}' must be a list of integers")
    indptr, indices, values = fields["indptr"], fields["indices"], fields["values"]
    rows, columns = _shape(where, fields["shape"])
    if indptr.shape != (rows + 1,):
        raise UserError(f"{where}indptr' has {indptr.size} entries, expected {rows + 1}")
    if values.shape != indices.shape:
        raise UserError(
            f"{where}values' has shape {values.shape}, '{part}.indices' {indices.shape}"
        )
    if indptr[0] != 0 or indptr[-1] != indices.size or np.any(indptr[1:] < indptr[:-1]):
        raise UserError(f"{where}indptr' must rise from 0 to the {indices.size} stored values")
    row_of: np.ndarray = np.repeat(np.arange(rows), indptr[1:] - indptr[:-1])

    def refuse(field: str, bad: np.ndarray, what: str) -> None:
        if bad.any():
            raise UserError(f"{where}{field}' has {what} in row {row_of[int(bad.argmax())]}")

    refuse("indices", (indices < 0) | (indices >= columns), f"an index outside 0..{columns - 1}")
    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    refuse("values", ~np.isfinite(values), "NaN or infinity")
    if nonnegative:
        refuse("values", values < 0, "a negative value")
    # Column order within a row is free in CSR; a column named twice is a fault.
    place = row_of * columns + indices.astype(np.int64)
    if np.any(place[1:] <= place[:-1]):
        order = np.argsort(place, kind="stable")
        place, indices, values = place[order], indices[order], values[order]
        twice = np.zeros(place.shape, dtype=bool)
        twice[1:] = place[1:] == place[:-1]
        refuse("indices", twice, "a column twice")
    parts = (values, indices.astype(np.int32), indptr.astype(np.int64))
    array = csr_array(parts, shape=(rows, columns))
    array.eliminate_zeros()
    return array


def _shape(where: str, shape: np.ndarray) -> tuple[int, int]:
    if shape.shape != (2,) or shape[0] < 0 or not 0 < shape[1] <= MAX_COLUMNS:
        raise UserError(
            f"{where}shape' is {shape[:4].tolist()}, expected rows and 1..{MAX_COLUMNS} columns"
        )
    return int(shape[0]), int(shape[1])


def _check_agreement(path: Path, arrays: Mapping[str, Array]) -> None:
    columns = {part: array.shape[1] for part, array in arrays.items()}
    if len(set(columns.values())) > 1:
        raise UserError(f"{path}: parts differ in their number of columns: {columns}")
    sides = {part: arrays[part].shape[0] for part in ("base", "edited") if part in arrays}
    if len(sides) == 1 or len(set(sides.values())) > 1:
        raise UserError(
            f"{path}: 'base' and 'edited' must come together with equal rows; found {sides}"
        )
