"""synCUB and synCOCO: the authors' layout, ours, and every trap of the tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from foreign_folders import (
    ATTRIBUTES,
    numbered,
    pairs_files,
    png,
    put,
    syncoco_rows,
    syncub_rows,
    table_text,
    write_files,
)

from benchmark.datasets import Dataset, check_folder, load_dataset
from benchmark.datasets.coco import CLASSES
from benchmark.datasets.layout import PAIR_COLUMNS, schema
from benchmark.errors import UserError
from benchmark.files import write_json

BIRDS = [([0, 2, 5], 2, 3), ([1, 3], 3, 2), ([0, 4], 4, 5)]
OBJECTS = [([0, 11, 60], 11, 5), ([0, 79], 79, 0), ([2], 2, 7)]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


def syncub(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    return write_files(folder, pairs_files(rows or syncub_rows(BIRDS)))


def syncoco(folder: Path, rows: list[dict[str, Any]] | None = None) -> Path:
    return write_files(folder, pairs_files(rows or syncoco_rows(OBJECTS, CLASSES), None))


def as_parquet(dataset: Dataset, folder: Path) -> Path:
    """The same pairs in our own layout, written from what was loaded."""
    pairs = dataset.pairs
    assert pairs is not None
    rows = []
    for row, name in enumerate(pairs.ids):
        base = np.flatnonzero(pairs.present[row]).tolist()
        added, removed = pairs.added[row], pairs.removed[row]
        changed = removed if added is None else added
        rows.append(
            {
                "id": name,
                "base": {"bytes": pairs.base.encoded(row), "path": f"{name}-base.png"},
                "edited": {"bytes": pairs.edited.encoded(row), "path": f"{name}-edited.png"},
                "added": added,
                "removed": removed,
                "group": dataset.groups[changed or 0],
                "base_concepts": base,
                "edited_concepts": sorted({*base, added} - {removed, None}),
            }
        )
    table = pa.Table.from_pylist(rows, schema=schema(PAIR_COLUMNS, dataset.concepts))
    if pairs.sources:
        table = table.append_column("source", pa.array(pairs.sources, pa.string()))
    put(folder / "README.md", "---\nlicense: other\n---\n")
    (folder / "pairs").mkdir()
    pq.write_table(table, folder / "pairs" / "test-00000-of-00001.parquet", row_group_size=2)
    write_json(
        folder / "manifest.json",
        {
            "schema_version": 1,
            "name": dataset.name,
            "version": "1.0",
            "fingerprint": dataset.fingerprint,
            "concepts": [
                {"name": name, "group": group}
                for name, group in zip(dataset.concepts, dataset.groups, strict=True)
            ],
            "counts": {
                "match": 0,
                "score": 0,
                "pairs": len(rows),
                "concepts": len(dataset.concepts),
            },
        },
    )
    return folder


def test_syncub(tmp_path: Path) -> None:
    dataset = load_dataset("syncub", root=syncub(tmp_path / "syncub"))
    assert (dataset.name, dataset.revision) == ("syncub", "local")
    assert len(dataset.ids) == len(dataset.images) == 0
    assert dataset.concepts[3] == "has breast pattern: striped"
    pairs = dataset.pairs
    assert pairs is not None
    assert pairs.ids == ("0", "1", "2")
    assert (pairs.removed, pairs.added) == ((2, 3, 4), (3, 2, 5))
    assert [np.flatnonzero(row).tolist() for row in pairs.present] == [[0, 2, 5], [1, 3], [0, 4]]
    assert pairs.base.encoded(1) == png(1002)
    assert pairs.edited.encoded(1) == png(1003)
    assert pairs.edited[2].size == (8, 8)
    assert pairs.sources == ()
    with pytest.raises(UserError, match=r"holds edit pairs only; .* --pairs syncub"):
        dataset.split("match")


def test_syncoco_has_coco_classes_and_names_its_sources(tmp_path: Path) -> None:
    dataset = load_dataset("syncoco", root=syncoco(tmp_path))
    assert dataset.concepts == CLASSES
    pairs = dataset.pairs
    assert pairs is not None
    assert pairs.added == (None,) * 3
    assert pairs.removed == (11, 79, 2)
    assert pairs.sources == ("train2017#5", "train2017#0", "train2017#7")


def test_syncoco_with_a_vocabulary_of_its_own(tmp_path: Path) -> None:
    names = ["cat", "dog", "hot dog"]
    files = pairs_files(syncoco_rows([([0, 2], 2, 1)], names), names)
    dataset = load_dataset(write_files(tmp_path, files))
    assert (dataset.name, dataset.concepts) == ("syncoco", tuple(names))


@pytest.mark.parametrize("write", [syncub, syncoco])
def test_our_layout_gives_the_same(tmp_path: Path, write: Any) -> None:
    theirs = load_dataset(write(tmp_path / "theirs"))
    folder = as_parquet(theirs, tmp_path / "ours")
    ours = load_dataset(theirs.name, root=folder)
    assert ours.fingerprint == theirs.fingerprint
    assert (ours.concepts, ours.groups, ours.ids) == (theirs.concepts, theirs.groups, theirs.ids)
    assert ours.annotations.shape == theirs.annotations.shape
    mine, other = ours.pairs, theirs.pairs
    assert mine is not None
    assert other is not None
    for name in ("ids", "added", "removed", "sources"):
        assert getattr(mine, name) == getattr(other, name)
    assert (mine.present == other.present).all()
    for row in range(3):
        assert (np.asarray(mine[row].base) == np.asarray(other[row].base)).all()
        assert mine.edited.encoded(row) == other.edited.encoded(row)
    assert check_folder(folder).problems == []


def test_check_of_a_release(tmp_path: Path) -> None:
    folder = syncub(tmp_path)
    report = check_folder(folder)
    assert report.problems == []
    assert report.counts == {"pairs": 3, "concepts": 6}
    assert report.fingerprint == load_dataset(folder).fingerprint
    put(folder / "images" / "000001_syn.png", png(1002))
    put(folder / "images" / "000002_orig.png", b"junk")
    problems = check_folder(folder).problems
    assert len(problems) == 2
    assert any("pair 1: the edited picture is the base picture" in each for each in problems)
    put(folder / "metadata.csv", "pair_id\n1\n")
    assert "columns of no known tables of pairs" in check_folder(folder).problems[0]


def test_names_of_columns_before_publication(tmp_path: Path) -> None:
    rows = [
        {{"orig_image": "orig_path", "syn_image": "syn_path"}.get(k, k): v for k, v in row.items()}
        for row in syncub_rows(BIRDS)
    ]
    expected = load_dataset(syncub(tmp_path / "a")).fingerprint
    assert load_dataset(syncub(tmp_path / "b", rows)).fingerprint == expected
    rows = [row | {"orig_image": row["orig_path"]} for row in rows]
    put(tmp_path / "b" / "metadata.csv", table_text(rows))
    with pytest.raises(UserError, match="orig_image and orig_path mean the same; keep one"):
        load_dataset(tmp_path / "b")


def shifted(row: dict[str, Any]) -> dict[str, Any]:
    """A table that counts its concepts from 1, as its vocabulary's file does."""
    return row | {
        "old_attr_idx": row["old_attr_idx"] + 1,
        "new_attr_idx": row["new_attr_idx"] + 1,
        "orig_attr_idx": "[1, 3, 6]",
        "syn_attr_idx": "[1, 4, 6]",
    }


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"old_attr_idx": "two"}, "old_attr_idx is 'two', expected a whole number"),
        ({"old_attr_idx": -1}, "old_attr_idx is '-1', expected a whole number"),
        ({"old_attr_idx": 6}, "old_attr_idx is 6, expected 0 to 5"),
        ({"old_attr_idx": ""}, "old_attr_idx is '', expected a whole number"),
        ({"old_attr_idx": 2.5}, "old_attr_idx is '2.5', expected a whole number"),
        (
            {"old_attr": ATTRIBUTES[0]},
            "old_attr_idx 2 is 'has_breast_pattern::solid', but old_attr",
        ),
        (shifted(syncub_rows(BIRDS)[0]), "seems to count from 1"),
        ({"orig_attr_idx": "[0 2 5]"}, r"orig_attr_idx is '\[0 2 5\]', expected a list such as"),
        ({"orig_attr_idx": "__import__('os').getpid()"}, "expected a list such as"),
        ({"orig_attr_idx": "[0, 2, true]"}, "expected a list such as"),
        ({"orig_attr_idx": "[" * 60000}, "expected a list such as"),
        ({"orig_attr_idx": "[0, 2, 6]"}, "orig_attr_idx holds 6, expected 0 to 5"),
        ({"orig_attr_idx": "[0, 2, 2]"}, "orig_attr_idx holds an index twice"),
        ({"syn_attr_idx": "[0, 2, 3, 5]"}, "syn_attr_idx is not orig_attr_idx without the removed"),
        (
            {"orig_attr_idx": "[0, 5]", "syn_attr_idx": "[0, 3, 5]"},
            "removes 'has_breast_pattern::solid', which the base picture lacks",
        ),
        (
            {"orig_attr_idx": "[0, 2, 3, 5]", "syn_attr_idx": "[0, 3, 5]"},
            "syn_attr_idx is not orig_attr_idx without",
        ),
        ({"orig_image": "/etc/passwd"}, "orig_image: '/etc/passwd' is no file name inside"),
        ({"orig_image": "images/../../x.png"}, "no file name inside"),
        ({"syn_image": "images/absent.png"}, "no picture .*absent.png"),
        ({"pair_id": ""}, "no pair_id"),
        ({"pair_id": 1}, "line 3: pair '1' is also in line 2"),
    ],
)
def test_each_fault_names_file_and_line(
    tmp_path: Path, changed: dict[str, Any], expected: str
) -> None:
    rows = syncub_rows(BIRDS)
    folder = syncub(tmp_path)
    rows[0] |= changed
    put(folder / "metadata.csv", table_text(rows))
    with pytest.raises(UserError, match=expected) as raised:
        load_dataset(folder)
    assert "metadata.csv line " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("new_attr_idx", "old_attr_idx", "column 'old_attr_idx' is there twice"),
        ("new_attr_idx", "new_idx", "no column new_attr_idx; found pair_id"),
        ("Black_footed_Albatross", "Black, footed", "line 2: 12 fields, expected 11"),
        ("pair_id", 'pair_"id', "no column pair_id"),
    ],
)
def test_broken_tables(tmp_path: Path, old: str, new: str, expected: str) -> None:
    path = syncub(tmp_path) / "metadata.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UserError, match=expected):
        load_dataset(tmp_path)


def test_a_table_that_is_no_utf8_is_called_so(tmp_path: Path) -> None:
    path = syncub(tmp_path) / "metadata.csv"
    path.write_bytes(path.read_bytes() + b"\xe9\n")
    with pytest.raises(UserError, match=r"no readable table: 'utf-8' codec can't decode"):
        load_dataset(tmp_path)


def test_numbers_that_a_table_program_made_floats(tmp_path: Path) -> None:
    rows = [row | {"new_attr_idx": float(row["new_attr_idx"])} for row in syncub_rows(BIRDS)]
    assert load_dataset(syncub(tmp_path, rows)).pairs.added == (3, 2, 5)


def test_vocabulary_must_be_whole(tmp_path: Path) -> None:
    folder = syncub(tmp_path)
    put(folder / "attributes.txt", numbered(ATTRIBUTES).replace("3 has", "9 has"))
    with pytest.raises(UserError, match=r"attributes.txt: 6 names but none numbered 3"):
        load_dataset(folder)
    (folder / "attributes.txt").unlink()
    with pytest.raises(UserError, match=r"attributes.txt is missing"):
        load_dataset(folder)


def test_revision_of_a_downloaded_folder(tmp_path: Path) -> None:
    folder = syncub(tmp_path)
    note = folder / ".cache" / "huggingface" / "download" / "metadata.csv.metadata"
    put(note, "0123456789" * 4 + "\nabc\n1.5\n")
    assert load_dataset(folder).revision == "0123456789" * 4
    put(note, "main\n")
    assert load_dataset(folder).revision == "local"


def test_absent_datasets_name_the_command() -> None:
    with pytest.raises(UserError, match=r"get jokl/syncub v1\.0 with: assay data fetch syncub"):
        load_dataset("syncub")
    with pytest.raises(UserError, match=r"get jokl/syncoco v2\.0 with: assay data fetch syncoco"):
        load_dataset("syncoco")
