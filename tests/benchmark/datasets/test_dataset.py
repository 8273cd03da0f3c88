import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dataset_cases import CONCEPTS, GROUPS, content, manifest, png, table, write, write_split

from benchmark.datasets import ImageRow, PairRow, fingerprint, load_dataset, parquet
from benchmark.datasets import pictures as pictures_module
from benchmark.errors import UserError
from benchmark.images import read_image


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny", content())


def test_everything_is_where_the_interface_says(folder: Path) -> None:
    dataset = load_dataset(folder)
    rows = content()
    assert (dataset.name, dataset.revision) == ("tiny", "1.0")
    assert (dataset.concepts, dataset.groups) == (CONCEPTS, GROUPS)
    assert dataset.annotations.shape == (12, 4)
    assert dataset.annotations.dtype == bool
    images = rows["match"] + rows["score"]
    assert dataset.ids == tuple(row["id"] for row in images)
    for index, row in enumerate(images):
        assert np.flatnonzero(dataset.annotations[index]).tolist() == row["concepts"]
        assert dataset.images.encoded(index) == row["image"]["bytes"]
        expected = np.asarray(read_image(row["image"]["bytes"]))
        assert (np.asarray(dataset.images[index]) == expected).all()
    assert dataset.split("match").tolist() == list(range(7))
    assert dataset.split("score").tolist() == list(range(7, 12))
    assert dataset.split("score").dtype == np.int64
    assert len(list(dataset.images)) == 12


def test_pairs(folder: Path) -> None:
    pairs = load_dataset(folder).pairs
    assert pairs is not None
    assert pairs.added == (1, 2, None)
    assert pairs.removed == (0, None, 2)
    assert pairs.present.tolist()[0] == [True, False, False, True]
    last = pairs[-1]
    assert (last.id, last.added, last.removed) == ("pair-2", None, 2)
    assert last.present.tolist() == [False, True, True, False]
    assert (np.asarray(last.edited) == np.asarray(read_image(png(1005)))).all()
    assert pairs.base.encoded(1) == png(1002)
    assert [pair.id for pair in pairs] == list(pairs.ids)


def test_unknown_split_lists_the_known(folder: Path) -> None:
    with pytest.raises(UserError, match="'train'; known: match, score"):
        load_dataset(folder).split("train")


def test_rows_out_of_range(folder: Path) -> None:
    dataset = load_dataset(folder)
    assert dataset.pairs is not None
    with pytest.raises(IndexError):
        dataset.images[12]
    with pytest.raises(IndexError):
        dataset.pairs[3]


def test_opening_decodes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded(*_: object, **__: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(pictures_module, "read_image", decoded)
    dataset = load_dataset(folder)
    assert len(dataset.fingerprint) == 64
    with pytest.raises(AssertionError, match="decoded"):
        dataset.images[0]


def test_at_most_one_row_group_is_held(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    original = pictures_module.pq.ParquetFile.read_row_group

    def counted(self: object, number: int, **options: object) -> object:
        read.append(number)
        return original(self, number, **options)

    monkeypatch.setattr(pictures_module.pq.ParquetFile, "read_row_group", counted)
    images = load_dataset(folder).images
    assert read == []
    list(images)
    # 7 match rows and 5 score rows in groups of 3.
    assert read == [0, 1, 2, 0, 1]


def test_a_dataset_survives_pickling(folder: Path) -> None:
    dataset = load_dataset(folder)
    dataset.images.encoded(4)
    again = pickle.loads(pickle.dumps(dataset))
    assert again.images.encoded(4) == dataset.images.encoded(4)
    assert again.fingerprint == dataset.fingerprint


def test_fingerprint_is_the_same_from_any_layout(folder: Path, tmp_path: Path) -> None:
    rows = content()
    other = tmp_path / "other"
    write(other, rows)
    match = table("match", rows["match"])
    write_split(other, "match", match.slice(4), row_group=1)
    # Another shard before it, so rows come in another order; other Arrow types, another codec.
    first = other / "images" / "match-00000-of-00002.parquet"
    (other / "images" / "match-00000-of-00001.parquet").rename(first)
    rest = match.slice(0, 4)
    wide = rest.set_column(2, "concepts", rest["concepts"].cast(pa.large_list(pa.int32())))
    wide = wide.set_column(0, "id", wide["id"].cast(pa.large_string()))
    pq.write_table(wide, other / "images" / "match-00001-of-00002.parquet", compression="zstd")
    before, after = load_dataset(folder), load_dataset(other)
    assert before.ids != after.ids
    assert before.fingerprint == after.fingerprint


def test_fingerprint_sees_every_field() -> None:
    image = ImageRow("match", "a", b"picture", [1, 2])
    pair = PairRow("p", b"base", b"edited", 1, None, [0])
    seen = {fingerprint(["x", "y"], [image], [pair])}
    changed = [
        (["y", "x"], [image], [pair]),
        (["xy"], [image], [pair]),
        (["x", "y"], [ImageRow("score", "a", b"picture", [1, 2])], [pair]),
        (["x", "y"], [ImageRow("match", "ap", b"icture", [1, 2])], [pair]),
        (["x", "y"], [ImageRow("matcha", "", b"picture", [1, 2])], [pair]),
        (["x", "y"], [ImageRow("match", "a", b"picturf", [1, 2])], [pair]),
        (["x", "y"], [ImageRow("match", "a", b"picture", [1])], [pair]),
        (["x", "y"], [image, ImageRow("match", "b", b"", [])], [pair]),
        (["x", "y"], [image, image], [pair]),
        (["x", "y"], [], [pair]),
        (["x", "y"], [image], []),
        (["x", "y"], [image], [PairRow("q", b"base", b"edited", 1, None, [0])]),
        (["x", "y"], [image], [PairRow("p", b"basee", b"dited", 1, None, [0])]),
        (["x", "y"], [image], [PairRow("p", b"base", b"edited", None, 1, [0])]),
        (["x", "y"], [image], [PairRow("p", b"base", b"edited", 0, None, [0])]),
        (["x", "y"], [image], [PairRow("p", b"base", b"edited", None, None, [0])]),
        (["x", "y"], [image], [PairRow("p", b"base", b"edited", 1, None, [])]),
    ]
    for concepts, images, pairs in changed:
        seen.add(fingerprint(concepts, images, pairs))
    assert len(seen) == len(changed) + 1


def test_fingerprint_does_not_depend_on_row_or_label_order() -> None:
    rows = [ImageRow("match", str(i), bytes([i]), [2, 1]) for i in range(5)]
    turned = [ImageRow("match", str(i), bytes([i]), [1, 2]) for i in reversed(range(5))]
    assert fingerprint(["a"], rows) == fingerprint(["a"], turned)


def test_fingerprint_is_pinned() -> None:
    found = fingerprint(
        ["a: x", "ü"],
        [ImageRow("match", "m", b"\x00", [0]), ImageRow("score", "s", b"", [])],
        [PairRow("p", b"1", b"2", None, 1, [1])],
    )
    assert found == "af460d9041269e3d7219673140b6e3f34bfe7c93ffbd8225d6bda60f94aa418c"


def test_revision_is_checked(folder: Path) -> None:
    assert load_dataset(folder, revision="1.0").revision == "1.0"
    with pytest.raises(UserError, match=r"tiny is at revision 1\.0, asked for 2\.0"):
        load_dataset(folder, revision="2.0")


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(UserError, match="known: coco, cub, planted, synavatars, syncoco, syncub"):
        load_dataset("sinavatars")
    with pytest.raises(UserError, match="no dataset folder"):
        load_dataset("./nowhere")


def test_absent_synavatars_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    place = tmp_path / "datasets" / "synavatars"
    with pytest.raises(UserError, match=f"assay generate avatars --out {place}"):
        load_dataset("synavatars")
    with pytest.raises(UserError, match=f"assay generate avatars --out {tmp_path / 'synavatars'}"):
        load_dataset("synavatars", root=tmp_path)


def test_synavatars_is_found_in_its_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = content()
    stated = manifest(rows) | {"name": "synavatars"}
    place = write(tmp_path / "datasets" / "synavatars", rows, stated)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    for root in (None, place, place.parent):
        assert load_dataset("synavatars", root=root).name == "synavatars"


def test_another_dataset_in_the_place_of_synavatars(folder: Path) -> None:
    with pytest.raises(UserError, match="holds dataset 'tiny', expected 'synavatars'"):
        load_dataset("synavatars", root=folder)


def test_row_groups_too_large_to_hold_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures_module, "MAX_ROW_GROUP_BYTES", 100)
    with pytest.raises(UserError, match="smaller row groups"):
        load_dataset(folder)


def test_tables_too_large_to_hold_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MAX_CELLS", 10)
    with pytest.raises(UserError, match="more than can be held"):
        load_dataset(folder)


def test_picture_without_bytes_is_named(tmp_path: Path) -> None:
    rows = content()
    rows["match"][4]["image"] = {"bytes": None, "path": "5.png"}
    rows["match"][5]["image"] = None
    rows["score"][1]["image"] = {"bytes": b"junk", "path": None}
    stated = content()
    dataset = load_dataset(write(tmp_path / "x", rows, manifest(stated)))
    with pytest.raises(
        UserError, match=r"match-00000-of-00001.parquet row 4 column image holds no"
    ):
        dataset.images[4]
    with pytest.raises(UserError, match=r"match-00000-of-00001.parquet row 5 column image is null"):
        dataset.images[5]
    with pytest.raises(UserError, match=r"score-00000-of-00001.parquet row 1 column image: not a"):
        dataset.images[8]
