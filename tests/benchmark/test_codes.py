import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, random_array

from benchmark.codes import MAX_COLUMNS, read_arrays, read_metadata, write_arrays
from benchmark.errors import UserError
from benchmark.tensors import write_tensors

META = {"fingerprint": "f" * 64}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "codes.safetensors"


def csr(**change):
    """Parts of a valid array [[0, 1.5, 0], [2, 0, 3], [0, 0, 0]] with some replaced."""
    parts = {
        "indptr": np.array([0, 1, 3, 3]),
        "indices": np.array([1, 0, 2]),
        "values": np.array([1.5, 2, 3]),
        "shape": np.array([3, 3]),
    }
    return {f"match.{name}": value for name, value in {**parts, **change}.items()}


def test_round_trip(path):
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((5, 8)).astype(np.float32)
    sparse = random_array((7, 8), density=0.3, rng=rng, format="csr").astype(np.float32)
    arrays = {"match": sparse, "score": dense, "base": sparse[:2], "edited": sparse[2:4]}
    write_arrays(path, arrays, {**META, "note": "x"})
    found = read_arrays(path, fingerprint="f" * 64, nonnegative=False)
    assert list(found) == ["match", "score", "base", "edited"]
    np.testing.assert_array_equal(found["score"], dense)
    for part in ("match", "base", "edited"):
        assert isinstance(found[part], csr_array)
        assert found[part].dtype == np.float32
        np.testing.assert_array_equal(found[part].toarray(), arrays[part].toarray())
    assert read_metadata(path) == {**META, "note": "x"}


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_any_sparse_array_round_trips(tmp_path_factory, rows, columns, seed):
    path = tmp_path_factory.mktemp("any") / "codes"
    sparse = random_array((rows, columns), density=0.4, rng=seed, format="coo")
    write_arrays(path, {"match": sparse}, META)
    found = read_arrays(path)["match"]
    np.testing.assert_array_equal(found.toarray(), sparse.toarray().astype(np.float32))


def test_duplicates_are_summed_when_written(path):
    array = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    write_arrays(path, {"match": array}, META)
    assert read_arrays(path)["match"].toarray().tolist() == [[0, 3]]


def test_same_bytes_for_the_same_array_in_any_sparse_form(tmp_path):
    sparse = random_array((7, 8), density=0.3, rng=1)
    for name, array in {"a": sparse.tocsr(), "b": sparse.tocsc(), "c": sparse.tocoo()}.items():
        write_arrays(tmp_path / name, {"match": array}, META)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1


def test_bare_names_are_dense(path):
    array = np.ones((2, 3))
    write_tensors(path, {"match": array, "base": array, "edited": array}, META)
    assert read_arrays(path)["base"].tolist() == array.tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.uint8, bool])
def test_everything_is_cast_to_float32(path, dtype):
    write_tensors(path, {"match": np.eye(3, dtype=dtype), **_named("score", dtype)}, META)
    found = read_arrays(path)
    assert found["match"].dtype == found["score"].dtype == np.float32
    np.testing.assert_array_equal(found["match"], np.eye(3))


def _named(part, dtype):
    parts = csr(values=np.ones(3, dtype=dtype))
    return {name.replace("match", part): value for name, value in parts.items()}


def test_columns_in_any_order_and_stored_zeros(path):
    parts = csr(indices=np.array([1, 2, 0]), values=np.array([0.0, 3, 2]))
    write_tensors(path, parts, META)
    found = read_arrays(path)["match"]
    assert found.toarray().tolist() == [[0, 0, 0], [2, 0, 3], [0, 0, 0]]
    assert found.nnz == 2
    assert found.has_canonical_format


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": np.array([0, 1, 3])}, r"'match.indptr' has 3 entries, expected 4"),
        ({"indptr": np.array([0, 2, 1, 3])}, r"'match.indptr' must rise"),
        ({"indptr": np.array([1, 1, 3, 3])}, r"'match.indptr' must rise"),
        ({"indptr": np.array([0, 1, 3, 4])}, r"'match.indptr' must rise .* 3 stored"),
        ({"indptr": np.array([0.0, 1, 3, 3])}, r"'match.indptr' must be a list of integers"),
        ({"indices": np.array([1, 0, 3])}, r"'match.indices' has an index outside 0..2 in row 1"),
        ({"indices": np.array([-1, 0, 2])}, r"an index outside 0..2 in row 0"),
        ({"indices": np.array([1, 2, 2])}, r"'match.indices' has a column twice in row 1"),
        ({"indices": np.array([[1, 0, 2]])}, r"'match.indices' must be a list of integers"),
        ({"values": np.array([1.0, 2])}, r"'match.values' has shape \(2,\)"),
        ({"values": np.array([1.5, np.nan, 3])}, r"'match.values' has NaN or infinity in row 1"),
        ({"values": np.array([1.5, 2, -np.inf])}, r"'match.values' has NaN or infinity in row 1"),
        ({"values": np.array([1e300, 2, 3])}, r"'match.values' has NaN or infinity in row 0"),
        ({"values": np.array([1.5, 2, -3])}, r"'match.values' has a negative value in row 1"),
        ({"shape": np.array([3])}, r"'match.shape' is \[3\], expected rows"),
        ({"shape": np.array([-1, 3])}, r"'match.shape' is \[-1, 3\]"),
        ({"shape": np.array([3, 0])}, r"'match.shape' is \[3, 0\]"),
        ({"shape": np.array([3, MAX_COLUMNS + 1])}, r"'match.shape' is "),
        ({"shape": np.array([2**62, 3])}, r"'match.indptr' has 4 entries"),
        ({"dense": np.ones((3, 3))}, r"'match' is given by match.dense, match.indices"),
        ({"other": np.ones(3)}, r"unknown tensor 'match.other'; expected match, score"),
    ],
)
def test_faulty_sparse_arrays_are_refused(path, change, message):
    write_tensors(path, csr(**change), META)
    with pytest.raises(UserError, match=message):
        read_arrays(path, nonnegative=True)


def test_incomplete_sparse_array_is_refused(path):
    parts = csr()
    del parts["match.shape"]
    write_tensors(path, parts, META)
    with pytest.raises(UserError, match=r"expected match.dense alone or all of match.indptr"):
        read_arrays(path)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), r"'match.dense' has shape \(3,\), expected \(rows, columns\)"),
        (np.ones((3, 0)), r"'match.dense' has shape \(3, 0\)"),
        (np.array([[1, 2], [3, np.nan]]), "'match.dense' has NaN or infinity in row 1"),
        (np.array([[1, 2], [-np.inf, np.inf]]), "'match.dense' has NaN or infinity in row 1"),
        (np.array([[1, 2], [3, 1e39]]), "'match.dense' has NaN or infinity in row 1"),
        (np.array([[1, 2], [3, 0], [4, -1e-9]]), "'match.dense' has a negative value in row 2"),
    ],
)
def test_faulty_dense_arrays_are_refused(path, array, message):
    write_tensors(path, {"match.dense": array}, META)
    with pytest.raises(UserError, match=message):
        read_arrays(path, nonnegative=True)


def test_negative_values_are_allowed_in_features(path):
    write_tensors(path, {"match": np.array([[-3e38, 3e38]])}, META)
    assert read_arrays(path)["match"].shape == (1, 2)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "holds no array"),
        ({"train": np.ones((2, 3))}, "unknown tensor 'train'"),
        ({"match": np.ones((2, 3)), "match.dense": np.ones((2, 3))}, "are both given"),
        ({"match": np.ones((2, 3)), "score": np.ones((2, 4))}, "differ in their number of columns"),
        ({"base": np.ones((2, 3)), "edited": np.ones((1, 3))}, "'base': 2, 'edited': 1"),
        ({"match": np.ones((2, 3)), "base": np.ones((2, 3))}, "must come together"),
    ],
)
def test_parts_must_fit(path, arrays, message):
    write_tensors(path, arrays, META)
    with pytest.raises(UserError, match=message):
        read_arrays(path)


def test_nothing_is_written_that_would_be_refused(path):
    with pytest.raises(UserError, match="NaN or infinity in row 1"):
        write_arrays(path, {"match": np.array([[1.0], [np.nan]])}, META)
    with pytest.raises(ValueError, match="fingerprint"):
        write_arrays(path, {"match": np.ones((1, 1))}, {})
    assert not path.exists()


def test_fingerprints_are_compared(path):
    write_arrays(path, {"match": np.ones((1, 1))}, META)
    with pytest.raises(UserError, match=r"another dataset: fingerprint ffff.* in use has 0000"):
        read_arrays(path, fingerprint="0" * 64)
    with pytest.raises(
        UserError, match=r"another dataset of pairs: fingerprint ffff.* in use has 0000"
    ):
        read_arrays(path, pairs_fingerprint="0" * 64)
    read_arrays(path, fingerprint="f" * 64, pairs_fingerprint="f" * 64)

    write_arrays(path, {"match": np.ones((1, 1))}, {**META, "pairs_fingerprint": "p"})
    read_arrays(path, fingerprint="f" * 64, pairs_fingerprint="p")

    write_tensors(path, {"match": np.ones((1, 1))}, {})
    read_arrays(path)
    with pytest.raises(UserError, match="fingerprint not given"):
        read_arrays(path, fingerprint="f" * 64)
