import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_folders import coco_document, png, put, write_coco

from benchmark.datasets import check_folder, coco_stream, load_dataset
from benchmark.datasets.coco import CLASSES, CocoDataset
from benchmark.datasets.coco_annotations import read_instances
from benchmark.errors import UserError

# not in the order of their ids, and with gaps as in COCO
CATEGORIES = {18: "dog", 1: "person", 90: "toothbrush", 3: "car"}
TRAIN = coco_document([30, 9, 25, 12], [(30, 18), (9, 90), (9, 1), (9, 1), (12, 3)], CATEGORIES)
VAL = coco_document([139, 285], [(285, 3)], CATEGORIES)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


def test_the_80_classes() -> None:
    assert len(CLASSES) == len(set(CLASSES)) == 80
    some = {0: "person", 11: "stop sign", 32: "sports ball", 60: "dining table", 79: "toothbrush"}
    assert {place: CLASSES[place] for place in some} == some
    assert [name for name in CLASSES if name != name.strip() or not name] == []


def test_small_folder(tmp_path: Path) -> None:
    dataset = load_dataset("coco", root=write_coco(tmp_path / "c", TRAIN, VAL))
    assert isinstance(dataset, CocoDataset)
    assert dataset.concepts == ("person", "car", "dog", "toothbrush")
    assert dataset.groups[1] == "kind of car"
    # image 25 and 139 have no region; the others keep the file's order
    assert dataset.ids == ("train2017/30", "train2017/9", "train2017/12", "val2017/285")
    assert dataset.annotations.astype(int).tolist() == [
        [0, 0, 1, 0],
        [1, 0, 0, 1],
        [0, 1, 0, 0],
        [0, 1, 0, 0],
    ]
    assert dataset.split("match").tolist() == [0, 1, 2]
    assert dataset.split("score").tolist() == [3]
    assert dataset.images.encoded(3) == png(285)
    assert "2 pictures without a region are left out" in dataset.notes[1]
    assert [dataset.locate(f"train2017#{place}") for place in range(4)] == [0, 1, 2, None]
    assert dataset.locate("val2017/285") == 3
    assert dataset.locate("train2017#\u00b2") is None
    assert dataset.locate("train2017/25") is None
    assert load_dataset(tmp_path / "c").fingerprint == dataset.fingerprint


def test_unannotated_pictures_may_stay(tmp_path: Path) -> None:
    write_coco(tmp_path, TRAIN, VAL)
    dataset = load_dataset("coco:unannotated=keep", root=tmp_path)
    assert dataset.name == "coco:unannotated=keep"
    assert dataset.ids[2] == "train2017/25"
    assert not dataset.annotations[2].any()
    assert len(dataset.split("score")) == 2
    # places among the annotated ones do not shift
    assert [dataset.locate(f"train2017#{place}") for place in range(3)] == [0, 1, 3]
    with pytest.raises(UserError, match="expected keep or drop"):
        load_dataset("coco:unannotated=maybe", root=tmp_path)


def test_crowds_count_and_boxes_without_area_do_not(tmp_path: Path) -> None:
    train = json.loads(json.dumps(TRAIN))
    crowd, flat, thin = (train["annotations"][place] for place in (0, 1, 4))
    crowd |= {"iscrowd": 1, "segmentation": {"counts": [5, 3], "size": [8, 8]}}
    flat["bbox"] = [1, 1, 0, 5]
    thin["bbox"] = [1, 1, 5, 0.0]
    dataset = load_dataset("coco", root=write_coco(tmp_path, train, VAL))
    # image 12 has a region, though none with an area, and so it stays
    assert dataset.ids[2] == "train2017/12"
    assert dataset.annotations.astype(int).tolist()[:3] == [
        [0, 0, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
    ]
    assert dataset.notes[0] == (
        "6 regions: 1 crowds count as presence, 2 boxes without area do not"
    )


@pytest.mark.parametrize("pictures", [{"train2017": "images", "val2017": "images"}, {}])
def test_pictures_in_other_places(tmp_path: Path, pictures: dict[str, str]) -> None:
    root = write_coco(tmp_path / "a", TRAIN, VAL)
    expected = load_dataset("coco", root=root).fingerprint
    other = write_coco(tmp_path / "b", TRAIN, VAL, pictures=pictures)
    if not pictures:
        (other / "images").mkdir()
        (other / "train2017").rename(other / "images" / "train2017")
        (other / "val2017").rename(tmp_path / "elsewhere")
        with pytest.raises(UserError, match="name its folder: coco:val_images=FOLDER"):
            load_dataset("coco", root=other)
        name = f"coco:val_images={tmp_path / 'elsewhere'}"
    else:
        name = "coco"
    found = load_dataset(name, root=other)
    assert found.fingerprint == expected
    assert found.name == "coco"


def broken(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(TRAIN | changes))


def region(**changes: Any) -> dict[str, Any]:
    document = broken()
    document["annotations"][1] |= changes
    return document


def named(name: str, above: Any) -> dict[str, Any]:
    document = broken()
    document["categories"][1] |= {"name": name, "supercategory": above}
    return document


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        (broken(images=[*TRAIN["images"], TRAIN["images"][0]]), "image id 30 is there twice"),
        (
            broken(images=[*TRAIN["images"], TRAIN["images"][0] | {"id": 31}]),
            "images 30 and 31 are both",
        ),
        (region(id=100), "annotation id 100 is there twice"),
        (region(category_id=2), "annotation 101 is of category 2, which the file does not list"),
        (region(image_id=77), "annotation 101 is of image 77, which the file does not list"),
        (region(image_id=[9]), r"annotation 101 is of image \[9\]"),
        (region(bbox=[1, 2, 3]), "annotation 101 has bbox"),
        (region(bbox=[1, 2, "3", 4]), "annotation 101 has bbox"),
        (region(bbox=[1, 2, 3, 1e300]), "annotation 101 has bbox"),
        (region(iscrowd="0"), "annotation 101 has iscrowd '0'; expected 0 or 1"),
        (region(iscrowd=2), "annotation 101 has iscrowd '2'"),
        (region(iscrowd=-1), "annotation 101 has iscrowd '-1'"),
        (region(iscrowd=None), "annotation 101 has iscrowd 'None'"),
        (named("per\nson", "x"), r"category 1 has name or supercategory 'per\\nson'"),
        (named("person", "\x1b[31m"), "category 1 has name or supercategory .* control"),
        (named("person", 5), "category 1 has name or supercategory '5'"),
        (region(id="x"), "annotation number 2 has id 'x'"),
        (broken(categories=[]), "no categories"),
        (broken(images=[]), "no images"),
        (broken(images=[{"id": 1, "file_name": "../x.png"}]), "no file name inside"),
        (
            coco_document([30], [(30, 18)], CATEGORIES | {18: "hound"}),
            "differ in categories",
        ),
    ],
)
def test_each_fault_is_one_line(tmp_path: Path, train: dict[str, Any], expected: str) -> None:
    write_coco(tmp_path, TRAIN, VAL)
    put(tmp_path / "annotations" / "instances_train2017.json", json.dumps(train))
    with pytest.raises(UserError, match=expected) as raised:
        load_dataset("coco", root=tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("array", ["images", "annotations", "categories"])
def test_a_list_that_stands_twice(
    tmp_path: Path, array: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_coco(tmp_path, TRAIN, VAL) / "annotations" / "instances_train2017.json"
    text = json.dumps(TRAIN)
    put(path, f'{text[:-1]}, "{array}": []}}')
    for chunk in (coco_stream._CHUNK, 3):  # the key across the seam of two reads
        monkeypatch.setattr(coco_stream, "_CHUNK", chunk)
        with pytest.raises(UserError, match=rf"train2017\.json: key '{array}' stands twice"):
            read_instances(path)
    # the same word elsewhere is no second list
    put(path, text.replace('"year": 2017', f'"{array}": "{array}"'))
    assert read_instances(path).regions == 5


def test_a_key_that_stands_twice_in_one_region(tmp_path: Path) -> None:
    path = write_coco(tmp_path, TRAIN, VAL) / "annotations" / "instances_train2017.json"
    text = json.dumps(TRAIN)
    put(path, text.replace('"id": 102,', '"id": 102, "iscrowd": 1,'))
    with pytest.raises(UserError, match=r"key 'iscrowd' .*object of annotations \(id 102\)"):
        read_instances(path)
    put(path, text.replace('"name": "dog"', '"name": "cat", "name": "dog"'))
    with pytest.raises(UserError, match=r"key 'name' .*object of categories \(id 18\)"):
        read_instances(path)


@pytest.mark.parametrize("crowd", [True, 1, 1.0, False, 0])
def test_crowds_by_any_spelling_of_a_truth_value(tmp_path: Path, crowd: Any) -> None:
    path = write_coco(tmp_path, TRAIN, VAL) / "annotations" / "instances_train2017.json"
    put(path, json.dumps(region(iscrowd=crowd)))
    assert read_instances(path).crowds == int(crowd)


def test_a_mark_before_the_text_is_passed_over(tmp_path: Path) -> None:
    expected = load_dataset("coco", root=write_coco(tmp_path, TRAIN, VAL)).fingerprint
    path = tmp_path / "annotations" / "instances_train2017.json"
    put(path, b"\xef\xbb\xbf" + path.read_bytes())
    assert load_dataset("coco", root=tmp_path).fingerprint == expected


def test_missing_pictures_and_broken_files(tmp_path: Path) -> None:
    write_coco(tmp_path, TRAIN, VAL)
    (tmp_path / "train2017" / f"{12:012}.png").unlink()
    with pytest.raises(UserError, match=r"instances_train2017.json: no picture .*000000000012.png"):
        load_dataset("coco", root=tmp_path)
    put(tmp_path / "annotations" / "instances_train2017.json", json.dumps(TRAIN)[:-40])
    with pytest.raises(UserError, match=r"instances_train2017.json: not JSON"):
        load_dataset("coco", root=tmp_path)
    put(tmp_path / "annotations" / "instances_train2017.json", '{"categories":' + "[" * 100_000)
    with pytest.raises(UserError, match=r"instances_train2017.json: brackets more than 1,000 deep"):
        load_dataset("coco", root=tmp_path)
    with pytest.raises(UserError, match=r"https://cocodataset.org/#download into"):
        load_dataset("coco")


def test_a_picture_that_is_left_out_need_not_be_there(tmp_path: Path) -> None:
    bare = {"images": [{"id": 5, "file_name": "absent.png"}, *TRAIN["images"]]}
    dataset = load_dataset("coco", root=write_coco(tmp_path, TRAIN, VAL))
    put(tmp_path / "annotations" / "instances_train2017.json", json.dumps(TRAIN | bare))
    assert load_dataset("coco", root=tmp_path).ids == dataset.ids
    with pytest.raises(UserError, match=r"no picture absent.png"):
        load_dataset("coco:unannotated=keep", root=tmp_path)


def test_annotations_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmark.datasets import coco_annotations

    write_coco(tmp_path, TRAIN, VAL)
    path = tmp_path / "annotations" / "instances_train2017.json"
    first = read_instances(path)
    parse = coco_annotations._parse
    monkeypatch.setattr(coco_annotations, "_parse", lambda _: pytest.fail("parsed again"))
    again = read_instances(path)
    assert again.names == first.names
    assert again.categories == first.categories
    assert (again.regions, again.crowds, again.flat) == (5, 0, 0)
    for name in ("ids", "annotated", "present"):
        kept, made = getattr(again, name), getattr(first, name)
        assert kept.dtype == made.dtype
        assert np.array_equal(kept, made)
    # another file, or a damaged copy, is read anew
    monkeypatch.setattr(coco_annotations, "_parse", parse)
    put(path, json.dumps(VAL))
    assert read_instances(path).names == tuple(f"{n:012}.png" for n in (139, 285))
    for kept in (tmp_path / "home" / "annotations").iterdir():
        kept.write_bytes(b"junk")
    assert read_instances(path).ids.tolist() == [139, 285]


def test_check(tmp_path: Path) -> None:
    root = write_coco(tmp_path, TRAIN, VAL, picture=lambda number: png(number % 9))
    report = check_folder(root)
    assert report.problems == []
    assert report.counts == {"match": 3, "score": 1, "pairs": 0, "concepts": 4}
    assert report.fingerprint == load_dataset("coco", root=root).fingerprint
    assert "score: 3 concepts without positives, the first 'person'" in report.notes
