"""Edits that a request declares."""

import pytest
from foreign_folders import SPECIES, write_cub
from work_cases import exclusive

from benchmark.datasets.cub import open_cub
from benchmark.errors import UserError
from generation.planning import Request, Rule, make_plan
from generation.work import DeclaredConcept

BLUE, YELLOW = "has wing color: blue", "has wing color: yellow"
NIGHT = DeclaredConcept("lighting: night", "lighting")


@pytest.fixture
def cub(tmp_path, home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))
    return open_cub(write_cub(tmp_path, exclusive(24, seed=1)))


def custom(*rules, **more):
    return Request("custom", name="mine", rules=rules, **more)


def shows(dataset, image, concept):
    return bool(dataset.annotations[dataset.ids.index(image), dataset.concepts.index(concept)])


def test_an_addition_goes_to_pictures_without_it(cub):
    rule = Rule("object", BLUE, None, "Add {added}.", 4, references=2, classes=(SPECIES[0],))
    plan = make_plan(cub, custom(rule)).plan
    assert len(plan.edits) == 4
    for edit in plan.edits:
        assert (edit.added, edit.removed, edit.attribute_kind) == (BLUE, None, "object")
        assert not shows(cub, edit.base, BLUE)
        assert edit.class_name == SPECIES[0]
        assert edit.prompt == "Add blue."
        assert len(set(edit.references) - {edit.base}) == 2
        assert all(shows(cub, each, BLUE) for each in edit.references)


def test_base_pictures_are_as_the_rule_says(cub):
    solid = "has breast pattern: solid"
    rule = Rule("material", None, YELLOW, "p", 99, split="match", shown=(solid,))
    plan = make_plan(cub, custom(rule)).plan
    wanted = {
        cub.ids[row]
        for row in cub.split("match")
        if shows(cub, cub.ids[row], YELLOW) and shows(cub, cub.ids[row], solid)
    }
    assert {edit.base for edit in plan.edits} == wanted
    absent = Rule("material", None, YELLOW, "p", 99, split="match", absent=(solid,))
    others = {edit.base for edit in make_plan(cub, custom(absent)).plan.edits}
    assert others
    assert not others & wanted


def test_declared_concepts_need_no_annotations(cub):
    rule = Rule("lighting", NIGHT.name, None, "The {class} at {added}.", 5)
    plan = make_plan(cub, custom(rule, declare=(NIGHT,), verify="report_only")).plan
    assert len(plan.edits) == 5
    assert plan.declared == (NIGHT,)
    assert plan.vocabulary == (*cub.concepts, NIGHT.name)
    assert plan.edits[0].prompt.startswith("The ")
    assert plan.edits[0].prompt.endswith(" at night.")
    assert "_" not in plan.edits[0].prompt


def test_rules_come_on_top_of_a_kind(cub):
    alone = make_plan(cub, Request("syncub", edits=6)).plan
    rule = Rule("viewpoint", NIGHT.name, None, "p", 3)
    request = Request("syncub", edits=6, rules=(rule,), declare=(NIGHT,), verify="report_only")
    both = make_plan(cub, request)
    assert both.plan.edits[:6] == alone.edits
    assert [edit.attribute_kind for edit in both.plan.edits[6:]] == ["viewpoint"] * 3
    assert both.wanted == 9
    assert len({edit.id for edit in both.plan.edits}) == 9


@pytest.mark.parametrize(
    ("rule", "more", "said"),
    [
        (Rule("x", "roc", None, "p", 1), {}, "rule 1: unknown to the source: 'roc'"),
        (Rule("x", BLUE, None, "p", 1, classes=("Roc",)), {}, "rule 1: unknown to the source: Roc"),
        (Rule("x", BLUE, None, "p", 1, shown=("roc",)), {}, "rule 1: unknown to the source: 'roc'"),
        (Rule("x", BLUE, None, "{removed}", 1), {}, "rule 1: prompt has the field {removed}"),
        (Rule("x", NIGHT.name, None, "p", 1), {"declare": (NIGHT,)}, "no classifier can judge"),
        (
            Rule("x", NIGHT.name, None, "p", 1, references=1),
            {"declare": (NIGHT,), "verify": "report_only"},
            "references must be 0",
        ),
        (
            Rule("x", BLUE, None, "p", 1),
            {"declare": (DeclaredConcept(BLUE, "g"),)},
            "is a concept of the source already",
        ),
        (Rule("x", BLUE, None, "p", 1, shown=(BLUE,)), {}, "nothing to plan"),
    ],
)
def test_mistakes_are_named(cub, rule, more, said):
    with pytest.raises(UserError) as raised:
        make_plan(cub, custom(rule, **more))
    assert said in str(raised.value)


def test_a_concept_without_a_reference_picture_is_named(tmp_path, home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))
    present = exclusive(8)
    present[:, 4] = False
    cub = open_cub(write_cub(tmp_path, present))
    with pytest.raises(UserError, match="has 0 reference pictures"):
        make_plan(cub, custom(Rule("x", BLUE, None, "p", 1, references=1)))
