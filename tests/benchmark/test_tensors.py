import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from safetensors.torch import save_file as save_torch

from benchmark.errors import UserError
from benchmark.tensors import MAX_HEADER_BYTES, read_tensors, write_tensors

ARRAYS = {
    "b": np.arange(3, dtype=np.int8),
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "big-endian": np.arange(4, dtype=">i8"),
    "empty": np.empty((0, 5), dtype=np.float16),
    "flag": np.array([True, False]),
    "scalar": np.float64(2.5),
    "transposed": np.arange(6.0).reshape(2, 3).T,
}
METADATA = {"fingerprint": "é" * 3, "b": "1", "a": "2", "c": "3", "d": "4"}
REPOSITORY = Path(__file__).resolve().parents[2]


def write_header(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_round_trip(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, ARRAYS, METADATA)
    tensors, metadata = read_tensors(path)
    assert metadata == METADATA
    assert tensors.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(tensors[name], array)
        tensors[name].reshape(-1).view(np.uint8)[:1] ^= 1
    # what a reader writes stays its own
    for name, array in read_tensors(path)[0].items():
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_the_formats_library_reads_it(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, ARRAYS, METADATA)
    loaded = load_file(path)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
    with safe_open(path, "np") as stream:
        assert stream.metadata() == METADATA


def test_it_reads_what_the_formats_library_writes(tmp_path):
    path = tmp_path / "t.safetensors"
    arrays = {
        name: np.ascontiguousarray(array) for name, array in ARRAYS.items() if name[:2] != "bi"
    }
    save_file(arrays, path, metadata=METADATA)
    tensors, metadata = read_tensors(path)
    assert metadata == METADATA
    for name, array in arrays.items():
        np.testing.assert_array_equal(tensors[name], array)


def test_bf16_is_exact(tmp_path):
    path = tmp_path / "t.safetensors"
    values = torch.tensor([1e-30, -2.5, 0.0, 3e38, 1.0]).bfloat16()
    save_torch({"x": values}, path)
    np.testing.assert_array_equal(read_tensors(path)[0]["x"], values.float().numpy())


def test_same_bytes_in_every_process(tmp_path):
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path;"
        "import numpy as np; from benchmark.tensors import write_tensors;"
        "write_tensors(Path(sys.argv[1]), {n: np.arange(3) for n in sys.argv[3:]},"
        " {n: n for n in sys.argv[3:]})"
    )
    files = []
    for seed, names in enumerate(["abcde", "edcba"]):
        files.append(tmp_path / str(seed))
        subprocess.run(
            [sys.executable, "-c", script, files[-1], REPOSITORY, *names],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
    assert files[0].read_bytes() == files[1].read_bytes()


def test_unknown_dtype_is_refused(tmp_path):
    with pytest.raises(ValueError, match="'x': no safetensors type for complex128"):
        write_tensors(tmp_path / "t", {"x": np.zeros(2, dtype=complex)}, {})


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"{", b"", "not a valid safetensors header"),
        (b"\xff\xfe", b"", "not a valid safetensors header"),
        (b"[" * 100_000, b"", "not a valid safetensors header"),
        ([], b"", "expected an object"),
        (b'{"x": 1, "x": 2}', b"", "a name appears twice"),
        ({"__metadata__": {"a": 1}}, b"", "not an object of strings"),
        ({"x": 1}, b"", "'x' lacks dtype"),
        ({"x": {**entry(), "more": 1}}, b"", "'x' lacks dtype"),
        ({"x": entry(dtype="F8_E4M3")}, bytes(8), "'x' has type 'F8_E4M3'; known: BF16, F64"),
        ({"x": entry(dtype=["F32"])}, bytes(8), "'x' has type"),
        ({"x": entry(shape=(-2,))}, bytes(8), "integers ≥ 0"),
        ({"x": entry(shape=(True, 2))}, bytes(8), "integers ≥ 0"),
        ({"x": entry(offsets=(0, 4, 8))}, bytes(8), "integers ≥ 0"),
        ({"x": entry(shape=(3,))}, bytes(8), "'x' needs 12 bytes"),
        ({"x": entry(offsets=(8, 16))}, bytes(16), "starts at byte 8, expected 0"),
        ({"x": entry(), "y": entry()}, bytes(8), "'y' starts at byte 0, expected 8"),
        ({"x": entry()}, bytes(7), "tensors hold 8 bytes, the file 7"),
        ({"x": entry()}, bytes(9), "tensors hold 8 bytes, the file 9"),
    ],
)
def test_malformed_files_are_refused(tmp_path, header, data, message):
    path = write_header(tmp_path / "t.safetensors", header, data)
    with pytest.raises(UserError, match=message) as caught:
        read_tensors(path)
    assert str(path) in str(caught.value)


def test_header_size_is_checked_before_parsing(tmp_path):
    path = tmp_path / "t.safetensors"
    path.write_bytes((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + bytes(MAX_HEADER_BYTES + 1))
    with pytest.raises(UserError, match="header of 1,048,577 bytes, limit 1,048,576"):
        read_tensors(path)


@pytest.mark.parametrize("content", [b"", b"short", (2**63).to_bytes(8, "little") + b"{}"])
def test_short_files_are_refused(tmp_path, content):
    path = tmp_path / "t.safetensors"
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a safetensors file, or cut short"):
        read_tensors(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read .*absent: No such file"):
        read_tensors(tmp_path / "absent")
