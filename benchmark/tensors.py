"""Tensor files in the safetensors format: the same bytes each time, nothing trusted on reading.

The format's own library writes its metadata in random order, so that two runs give two files;
here the header is sorted.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.files import replacing, unique_keys

# Far above what a file of this project holds, far below what could exhaust memory.
MAX_HEADER_BYTES = 2**20
METADATA = "__metadata__"
_PIECE = 2**20
_MAX_DIMENSIONS = 64
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_CODES = {np.dtype(value): code for code, value in DTYPES.items()}


def write_tensors(
    path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file at once; the same content gives the same bytes.

    Raises ``ValueError`` for a dtype that the format lacks.
    """
    arrays = {name: _little_endian(name, array) for name, array in tensors.items()}
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    offset = 0
    # Wide items first: every tensor then starts at a multiple of its item size.
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": _CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(f"{path}: header of {len(text):,} bytes, limit {MAX_HEADER_BYTES:,}")
    with replacing(path) as temporary, temporary.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            stream.write(arrays[name].reshape(-1).view(np.uint8).data)


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Tensors and metadata of a safetensors file; nothing but the header is read at once.

    Tensors are views of the file that copy what is written to; BF16 becomes float32 (exactly).

    Raises ``UserError`` naming the file for one that is missing or breaks the format, and for a
    header of more than ``MAX_HEADER_BYTES``, looked at before it is parsed.
    """
    header, start = _read_header(path)
    metadata = header.pop(METADATA, {})
    data = np.memmap(path, np.uint8, "c", start) if path.stat().st_size > start else np.empty(0)
    tensors = {name: _tensor(data, entry) for name, entry in header.items()}
    return tensors, metadata


def read_header(path: Path) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type ("F32") and shape of every tensor of a safetensors file; no tensor is read.

    Raises ``UserError`` as ``read_tensors`` does.
    """
    header, _ = _read_header(path)
    return {
        name: (entry["dtype"], tuple(entry["shape"]))
        for name, entry in header.items()
        if name != METADATA
    }


def content_sha256(path: Path) -> str:
    """SHA-256 over type, shape and bytes of every tensor, whatever they are called and the order.

    The file is read in pieces. Raises ``UserError`` as ``read_tensors`` does.
    """
    header, start = _read_header(path)
    header.pop(METADATA, None)
    found = []
    with path.open("rb") as stream:
        for entry in header.values():
            first, last = entry["data_offsets"]
            digest = hashlib.sha256(f"{entry['dtype']}{entry['shape']};".encode())
            stream.seek(start + first)
            for place in range(first, last, _PIECE):
                digest.update(stream.read(min(_PIECE, last - place)))
            found.append(digest.digest())
    return hashlib.sha256(b"".join(sorted(found))).hexdigest()


def _little_endian(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype not in _CODES:
        raise ValueError(f"tensor {name!r}: no safetensors type for {array.dtype}")
    return array


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > size - 8:
                raise UserError(
                    f"{path}: not a safetensors file, or cut short: {size:,} bytes, its header "
                    f"asks for {length + 8:,}"
                )
            if length > MAX_HEADER_BYTES:
                raise UserError(f"{path}: header of {length:,} bytes, limit {MAX_HEADER_BYTES:,}")
            text = stream.read(length)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        # the format is UTF-8; given bytes, the parser would take UTF-16 and UTF-32 too
        header = json.loads(text.decode(), object_pairs_hook=unique_keys)
        _check_header(header, size - 8 - length)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a valid safetensors header: {error}") from error
    return header, 8 + length


def _check_header(header: Any, data_bytes: int) -> None:
    if not isinstance(header, dict):
        raise ValueError("expected an object")
    metadata = header.get(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"{METADATA} is not an object of strings")
    spans = sorted(_span(name, entry) for name, entry in header.items() if name != METADATA)
    end = 0
    for start, stop, name in spans:
        if start != end:
            raise ValueError(f"tensor {name!r} starts at byte {start}, expected {end}")
        end = stop
    if end != data_bytes:
        raise ValueError(f"tensors hold {end:,} bytes, the file {data_bytes:,}")


def _span(name: str, entry: Any) -> tuple[int, int, str]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {name!r} lacks dtype, shape or data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in (*DTYPES, "BF16"):
        raise ValueError(f"tensor {name!r} has type {dtype!r}; known: BF16, {', '.join(DTYPES)}")
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        raise ValueError(f"tensor {name!r}: shape and data_offsets must be lists of integers ≥ 0")
    size = math.prod(shape) * (2 if dtype == "BF16" else np.dtype(DTYPES[dtype]).itemsize)
    if offsets[1] - offsets[0] != size:
        raise ValueError(f"tensor {name!r} needs {size} bytes, data_offsets give {offsets}")
    return offsets[0], offsets[1], name


def _naturals(value: Any) -> bool:
    """Whether ``value`` is a short list of sizes; a long one would take minutes to multiply."""
    return (
        isinstance(value, list)
        and len(value) <= _MAX_DIMENSIONS
        and all(type(item) is int and 0 <= item < 2**63 for item in value)
    )


def _tensor(data: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    start, stop = entry["data_offsets"]
    raw = np.asarray(data[start:stop], dtype=np.uint8)
    if entry["dtype"] == "BF16":
        # BF16 is the upper half of a float32.
        wide = raw.view("<u2").astype(np.uint32) << 16
        return wide.view(np.float32).reshape(entry["shape"])
    return raw.view(DTYPES[entry["dtype"]]).reshape(entry["shape"])
