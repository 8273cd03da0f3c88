"""synCUB plans against what the files say, read another way."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from foreign_folders import ATTRIBUTES, SPECIES, write_cub
from work_cases import exclusive

from benchmark.datasets.cub import CubDataset, open_cub
from benchmark.errors import UserError
from generation.planning import Request, make_plan

ROWS = 24


@pytest.fixture(autouse=True)
def own_home(home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))


@pytest.fixture
def cub(tmp_path) -> CubDataset:
    present = exclusive(ROWS)
    present[5, :2] = True  # two values of a group: which would go?
    unsure = {(7, column): 2 for column in range(6)}
    return open_cub(write_cub(tmp_path, present, certainty=unsure))


def group(name: str) -> str:
    return name.partition(":")[0]


def shown(dataset: CubDataset, image: str, least: int = 1) -> set[str]:
    row = dataset.ids.index(image)
    sure = dataset.annotations[row] & (dataset.certainty[row] >= least)
    return {dataset.concepts[place] for place in np.flatnonzero(sure)}


def test_every_edit_exchanges_one_sure_value_of_a_group(cub):
    planned = make_plan(cub, Request("syncub"))
    assert planned.plan.edits
    for edit in planned.plan.edits:
        assert edit.added != edit.removed
        assert group(edit.added) == group(edit.removed)
        assert [n for n in shown(cub, edit.base) if group(n) == group(edit.removed)] == [
            edit.removed
        ]
        assert edit.removed in shown(cub, edit.base, 3)
        assert edit.class_name == cub.species[cub.species_of[cub.ids.index(edit.base)]]
        (reference,) = edit.references
        assert reference != edit.base
        assert edit.added in shown(cub, reference, 3)
        assert cub.ids.index(edit.base) in cub.split("score")
        for word in (edit.added, edit.removed):
            assert word.partition(": ")[2] in edit.prompt
    used = Counter((edit.base, group(edit.removed)) for edit in planned.plan.edits)
    assert set(used.values()) == {1}


def test_nothing_is_left_that_could_have_been_planned(cub):
    """With no limit that binds, exactly the possible (picture, group) have an edit."""
    planned = make_plan(cub, Request("syncub"))
    possible = set()
    for row in cub.split("score"):
        image = cub.ids[row]
        for name in {group(each) for each in cub.concepts}:
            values = [each for each in shown(cub, image) if group(each) == name]
            if len(values) == 1 and values[0] in shown(cub, image, 3):
                possible.add((image, name))
    assert {(e.base, group(e.removed)) for e in planned.plan.edits} == possible
    everything = set(cub.ids)
    assert set(planned.left_out) == everything - {edit.base for edit in planned.plan.edits}
    assert planned.left_out[cub.ids[4]] == "not of split score"
    assert planned.left_out[cub.ids[7]].startswith("in no group does it surely show exactly one")
    assert len([edit for edit in planned.plan.edits if edit.base == cub.ids[5]]) == 2


def test_pictures_that_are_left_out_have_their_reason(tmp_path):
    present = exclusive(ROWS)
    unsure = {(7, column): 2 for column in range(6)}
    cub = open_cub(write_cub(tmp_path, present, certainty=unsure))
    planned = make_plan(cub, Request("syncub", split="any", classes=(SPECIES[1],), edits=5))
    reasons = planned.left_out
    assert reasons[cub.ids[0]] == "its class is not among the planned ones"
    assert reasons[cub.ids[7]].startswith("in no group does it surely show exactly one")
    assert Counter(reasons.values())["as many edits as asked for were planned without it"] == 6
    assert len(planned.plan.edits) == 5
    assert {edit.class_name for edit in planned.plan.edits} == {SPECIES[1]}


def permuted(dataset: CubDataset, seed: int) -> CubDataset:
    order = np.random.default_rng(seed).permutation(len(dataset.ids))
    place = np.argsort(order)
    names = tuple(dataset.ids[row] for row in order)
    return replace(
        dataset,
        ids=names,
        annotations=dataset.annotations[order],
        certainty=dataset.certainty[order],
        species_of=dataset.species_of[order],
        images=replace(dataset.images, names=names),
        splits={name: place[rows] for name, rows in dataset.splits.items()},
    )


def test_order_of_rows_does_not_matter_but_the_seed_does(cub):
    planned = make_plan(cub, Request("syncub", seed=3))
    for seed in (1, 2):
        other = permuted(cub, seed)
        assert other.ids != cub.ids
        again = make_plan(other, Request("syncub", seed=3))
        assert again.plan.edits == planned.plan.edits
        assert again.left_out == planned.left_out
    assert make_plan(cub, Request("syncub", seed=4)).plan.edits != planned.plan.edits
    assert make_plan(cub, Request("syncub", seed=3)).plan.hash == planned.plan.hash


def test_fewer_edits_are_the_beginning_of_more(cub):
    few = make_plan(cub, Request("syncub", edits=4)).plan.edits
    assert few == make_plan(cub, Request("syncub", edits=9)).plan.edits[:4]


def test_counts_of_classes_and_concepts_are_kept(cub):
    planned = make_plan(cub, Request("syncub", split="any", class_count=1, concept_count=4))
    assert len({edit.class_name for edit in planned.plan.edits}) == 1
    assert len({name for edit in planned.plan.edits for name in edit.changed}) == 4
    named = ("has wing color: blue", "has wing color: yellow")
    planned = make_plan(cub, Request("syncub", concepts=named))
    assert {edit.added for edit in planned.plan.edits} == set(named)


def test_what_makes_the_bird_is_not_exchanged_unless_named(tmp_path):
    attributes = ("has_size::small", "has_size::large", *ATTRIBUTES[2:])
    cub = open_cub(write_cub(tmp_path, exclusive(ROWS), attributes=attributes))
    planned = make_plan(cub, Request("syncub"))
    assert not any("size" in edit.added for edit in planned.plan.edits)
    named = ("has size: small", "has size: large")
    planned = make_plan(cub, Request("syncub", concepts=named))
    assert {edit.added for edit in planned.plan.edits} == set(named)


def test_an_attribute_without_a_reference_picture_is_an_error_where_named(tmp_path):
    present = exclusive(ROWS)
    present[:, 4:] = [False, True]
    cub = open_cub(write_cub(tmp_path, present))
    named = ("has wing color: blue", "has wing color: yellow")
    with pytest.raises(UserError, match="'has wing color: blue' has no reference picture"):
        make_plan(cub, Request("syncub", concepts=named))
    planned = make_plan(cub, Request("syncub"))  # where none is named it is passed over
    assert not any("wing" in edit.added for edit in planned.plan.edits)


def test_the_only_reference_is_no_reference_for_itself(tmp_path):
    present = exclusive(ROWS)
    present[:, 4:] = [False, True]
    present[3, 4:] = [True, False]
    cub = open_cub(write_cub(tmp_path, present))
    planned = make_plan(cub, Request("syncub", split="any"))
    to_blue = [edit for edit in planned.plan.edits if edit.added == "has wing color: blue"]
    assert len(to_blue) == ROWS - 1
    assert {edit.references for edit in to_blue} == {(cub.ids[3],)}


@pytest.mark.parametrize(
    ("request_of", "said"),
    [
        ({"classes": ("003.Roc",)}, "classes: unknown to the source: 003.Roc"),
        ({"concepts": ("has teeth: many",)}, "concepts: unknown to the source: 'has teeth: many'"),
        ({"concepts": ("has wing color: blue",)}, "is the only one named of 'has wing color'"),
        ({"prompt": "Make it {removed.__class__}"}, "has the field {removed.__class__}"),
        ({"prompt": "Make it {object"}, "prompt: expected '}'"),
        ({"prompt": "Make it {added!r}"}, "has the field {added}"),
    ],
)
def test_mistakes_are_named(cub, request_of, said):
    with pytest.raises(UserError) as raised:
        make_plan(cub, Request("syncub", **request_of))
    assert said in str(raised.value)


def test_a_missing_picture_is_named_before_anything_is_planned(tmp_path):
    folder = write_cub(tmp_path, exclusive(ROWS))
    gone = folder / "images" / SPECIES[1] / "Bird_0002.png"
    gone.unlink()
    with pytest.raises(UserError) as raised:
        open_cub(folder)
    assert str(gone) in str(raised.value)
    assert "images.txt line 2" in str(raised.value)
