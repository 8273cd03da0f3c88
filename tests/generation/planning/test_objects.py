"""synCOCO plans against the annotation file, read another way."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from foreign_folders import coco_document, write_coco
from hypothesis import given
from hypothesis import strategies as st
from work_cases import exclusive

from benchmark.datasets.coco import open_coco
from benchmark.datasets.coco_objects import Objects, read_objects
from benchmark.datasets.cub import open_cub
from benchmark.errors import UserError
from generation.planning import Request, make_plan
from generation.planning.objects import to_remove

CATEGORIES = {1: "person", 3: "car", 17: "cat", 18: "dog"}


@pytest.fixture(autouse=True)
def own_home(home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))


def random_document(images, seed):
    rng = np.random.default_rng(seed)
    regions = [
        (image, int(category))
        for image in images
        for category in rng.choice(list(CATEGORIES), rng.integers(1, 6))
    ]
    document = coco_document(images, regions, CATEGORIES)
    for region in document["annotations"]:
        region["area"] = float(rng.integers(1, 4))  # ties happen
        region["iscrowd"] = int(rng.random() < 0.1)
    return document


@pytest.fixture
def folder(tmp_path):
    train, val = random_document(range(1, 31), 0), random_document(range(31, 36), 1)
    return write_coco(tmp_path, train, val) / "annotations"


def fewest(document, image):
    """The class to remove by the rule's words."""
    names = {each["id"]: each["name"] for each in document["categories"]}
    of_class = defaultdict(list)
    for region in document["annotations"]:
        if region["image_id"] == image:
            of_class[names[region["category_id"]]].append(region)
    ranked = sorted(
        (len(found), -sum(each["area"] for each in found), name)
        for name, found in of_class.items()
        if not any(each["iscrowd"] for each in found)
    )
    return ranked[0][2] if ranked else None


def test_the_class_with_the_fewest_objects_goes(folder):
    document = json.loads((folder / "instances_train2017.json").read_text())
    planned = make_plan(open_coco(folder), Request("syncoco"))
    by_base = {edit.base: edit for edit in planned.plan.edits}
    prompts = set()
    for image in range(1, 31):
        wanted, name = fewest(document, image), f"train2017/{image}"
        if wanted is None:
            assert "crowd" in planned.left_out[name]
            continue
        edit = by_base[name]
        assert (edit.removed, edit.added, edit.references) == (wanted, None, ())
        assert edit.attribute_kind == "object"
        prompts.add(edit.prompt.replace(wanted, "…"))
    assert len(prompts) == 1
    assert planned.left_out["val2017/31"] == "not of split match"
    assert len(planned.plan.edits) + len(planned.left_out) == 35


def test_classes_share_evenly(folder):
    planned = make_plan(open_coco(folder), Request("syncoco", edits=8))
    possible = Counter(
        edit.removed for edit in make_plan(open_coco(folder), Request("syncoco")).plan.edits
    )
    times = Counter(edit.removed for edit in planned.plan.edits)
    for name in possible:
        assert times[name] == possible[name] or times[name] >= max(times.values()) - 1
    reasons = Counter(planned.left_out.values())
    assert reasons["as many edits as asked for were planned without it"] > 0


def test_concepts_can_be_named(folder):
    planned = make_plan(open_coco(folder), Request("syncoco", concepts=("dog", "cat")))
    assert {edit.removed for edit in planned.plan.edits} == {"dog", "cat"}
    with pytest.raises(UserError, match="'roc'"):
        make_plan(open_coco(folder), Request("syncoco", concepts=("roc",)))


@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.builds(Objects, st.integers(0, 3), st.integers(0, 3).map(float), st.booleans()),
    ),
    st.randoms(),
)
def test_removal_does_not_depend_on_order(objects, random):
    items = list(objects.items())
    random.shuffle(items)
    everything = frozenset("abcd")
    found = to_remove(dict(items), everything)
    assert found == to_remove(objects, everything)
    counted = {name: each for name, each in objects.items() if each.count and not each.crowd}
    if not counted:
        assert found is None
        return
    least = min(each.count for each in counted.values())
    largest = max(each.area for each in counted.values() if each.count == least)
    assert (counted[found].count, counted[found].area) == (least, largest)
    assert to_remove(objects, everything - {found}) is None


def test_counts_and_areas_are_the_files(folder):
    file = folder / "instances_val2017.json"
    document = json.loads(file.read_text())
    found = read_objects(file)
    for region in document["annotations"]:
        region["bbox"] = [0, 0, 2, 3]
        del region["area"]
    document["annotations"][0]["bbox"] = [0, 0, 2, 0]  # flat: no object
    file.write_text(json.dumps(document))
    boxes = read_objects(file)
    total = sum(each.count for of in boxes.values() for each in of.values())
    whole = sum(1 for each in document["annotations"][1:] if not each["iscrowd"])
    assert total == whole
    for image, of_image in boxes.items():
        for name, each in of_image.items():
            assert each.area == 6.0 * each.count
            assert each.crowd == found[image][name].crowd or image == 31


def test_other_sources_have_no_objects(tmp_path):
    cub = open_cub(write_cub_here(tmp_path))
    with pytest.raises(UserError, match="has no counts of objects"):
        make_plan(cub, Request("syncoco"))


def write_cub_here(folder):
    from foreign_folders import write_cub

    return write_cub(folder, exclusive(4))


@pytest.mark.parametrize("area", ["13", True, None, [], -5])
def test_an_area_that_is_none_is_refused(folder, area):
    path = folder / "instances_val2017.json"
    document = json.loads(path.read_text())
    number = document["annotations"][2]["id"]
    document["annotations"][2]["area"] = area
    path.write_text(json.dumps(document))
    with pytest.raises(UserError, match=f"annotation {number} has area .*0 or more") as raised:
        read_objects(path)
    assert "\n" not in str(raised.value)
