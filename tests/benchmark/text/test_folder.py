"""Folders of text activations that were changed or damaged."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_models import write_corpus, write_model

from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.tensors import read_tensors, write_tensors
from benchmark.text.collect import TextRecipe, collect
from benchmark.text.corpus import read_corpus
from benchmark.text.model import find_model


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    model = find_model(str(write_model(folder / "model")))
    corpus = read_corpus(str(write_corpus(folder / "corpus.txt")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(folder / "home"))
        collect(model, corpus, TextRecipe("model.layers.0", context_length=12), folder / "out")
    return folder / "out"


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "copy")


def edit_manifest(folder, change):
    document = json.loads((folder / "manifest.json").read_text())
    change(document)
    (folder / "manifest.json").write_text(json.dumps(document))


def edit_table(folder, column, change):
    table = pq.read_table(folder / "contexts.parquet")
    values = table[column].to_pylist()
    change(values)
    place = table.schema.get_field_index(column)
    table = table.set_column(
        place, table.schema.field(column), pa.array(values, table.schema.field(column).type)
    )
    pq.write_table(table, folder / "contexts.parquet")


def test_a_copy_is_the_same_dataset(original, copy):
    first, second = load_dataset(original), load_dataset(copy)
    assert first.fingerprint == second.fingerprint
    assert list(first.ids) == list(second.ids)


def test_another_way_to_write_the_table_is_the_same_dataset(original, copy):
    table = pq.read_table(copy / "contexts.parquet")
    pq.write_table(table, copy / "contexts.parquet", compression="none", row_group_size=7)
    assert load_dataset(copy).fingerprint == load_dataset(original).fingerprint


def one_number(folder):
    values = np.array(read_tensors(folder / "activations.safetensors")[0]["activations"])
    values[3, 2] += 1e-3
    write_tensors(folder / "activations.safetensors", {"activations": values}, {})


@pytest.mark.parametrize(
    "change",
    [
        one_number,
        lambda folder: edit_table(folder, "text", lambda v: v.__setitem__(0, v[0].upper())),
        lambda folder: edit_table(folder, "document", lambda v: v.__setitem__(0, "other")),
        lambda folder: edit_table(folder, "input_ids", lambda v: v[0].__setitem__(0, 5)),
        lambda folder: edit_manifest(folder, lambda d: d.update(hook="model.layers.1")),
        lambda folder: edit_manifest(folder, lambda d: d["model"].update(weights_sha256="0" * 64)),
    ],
)
def test_any_change_moves_the_fingerprint(copy, change):
    change(copy)
    with pytest.raises(UserError, match="does not fit the fingerprint"):
        load_dataset(copy).fingerprint  # noqa: B018


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda f: (f / "contexts.parquet").unlink(), "not a readable Parquet file"),
        (lambda f: (f / "contexts.parquet").write_bytes(b"PAR1"), "not a readable Parquet file"),
        (lambda f: (f / "activations.safetensors").unlink(), "cannot read"),
        (lambda f: (f / "activations.safetensors").write_bytes(b"x" * 99), "safetensors"),
        (lambda f: edit_manifest(f, lambda d: d.update(schema_version=9)), "expected 1"),
        (lambda f: edit_manifest(f, lambda d: d.pop("model")), "model must be an object"),
        (lambda f: edit_manifest(f, lambda d: d["counts"].update(width="1")), "whole number"),
        (lambda f: edit_manifest(f, lambda d: d["counts"].update(width=1)), "expected float32"),
        (lambda f: edit_manifest(f, lambda d: d["norm"].update(mean=-1)), "norm.mean is -1"),
        (lambda f: edit_table(f, "split", lambda v: v.__setitem__(0, "x")), "split is 'x'"),
        (lambda f: edit_table(f, "split", lambda v: v.__setitem__(0, None)), "holds null"),
        (lambda f: edit_table(f, "places", lambda v: v[0].__setitem__(0, 99)), "must rise"),
        (lambda f: edit_table(f, "places", lambda v: v[0].pop()), "must be as many"),
        (lambda f: edit_table(f, "stops", lambda v: v[0].__setitem__(0, 999)), "outside the text"),
        (lambda f: edit_table(f, "context", lambda v: v.__setitem__(0, 1)), "not numbered"),
        (
            lambda f: edit_table(
                f, "split", lambda v: v.__setitem__(0, {"match": "score"}.get(v[0], "match"))
            ),
            "stands in both splits",
        ),
    ],
)
def test_a_broken_folder_is_one_line(copy, change, complaint):
    change(copy)
    with pytest.raises(UserError, match=complaint) as caught:
        load_dataset(copy)
    assert "\n" not in str(caught.value)
