"""Plans edited by hand: what contradicts itself or the source is one line."""

import json
from pathlib import Path

import pytest
from edit_work import make_work
from work_cases import planned_edit, small_plan

from benchmark.errors import UserError
from generation.work import DeclaredConcept, Plan, Work, open_source, read_plan, write_plan

BLUE, YELLOW = small_plan().concepts
NIGHT = DeclaredConcept("lighting: night", "lighting")


def edited(**changes: object) -> Plan:
    return small_plan(edits=(planned_edit(0, **changes),))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (edited(added=YELLOW), f"edit edit-00000 adds and removes '{YELLOW}'"),
        (edited(added=None, removed=None), "neither adds nor removes"),
        (edited(added="else"), "changes 'else', which is no concept"),
        (edited(references=("birds/0.jpg",)), "its base 'birds/0.jpg' as a reference"),
        (small_plan(declared=(DeclaredConcept(BLUE, "x"),)), "is a concept of the source already"),
        (
            small_plan(declared=(NIGHT,), edits=(planned_edit(0, added=NIGHT.name),)),
            "changes 'lighting: night', which is declared.* expected verify: report_only",
        ),
        (
            small_plan(declared=(DeclaredConcept("a\nb", "x"),)),
            r"declared concept 'a\\nb' holds a control character",
        ),
        (small_plan(declared=(DeclaredConcept("b", "\x1b[31m"),)), "group .* control character"),
        (edited(class_name="a\x00b"), "class .* control character"),
    ],
)
def test_a_plan_that_contradicts_itself(tmp_path: Path, plan: Plan, said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        write_plan(tmp_path / "new", plan, {})
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan.as_dict()))
    with pytest.raises(UserError, match=said) as read:
        read_plan(path)
    assert str(read.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value) + str(read.value)


def test_a_declared_concept_may_be_changed_where_nothing_is_filtered(tmp_path: Path) -> None:
    edits = (planned_edit(0, added=NIGHT.name),)
    plan = small_plan(declared=(NIGHT,), verify="report_only", edits=edits)
    assert write_plan(tmp_path, plan, {}).plan == plan


def test_a_key_that_stands_twice(tmp_path: Path) -> None:
    path = write_plan(tmp_path, small_plan(), {}).root / "plan.json"
    text = path.read_text()
    path.write_text(text.replace('"seed": 0', '"seed": 1, "seed": 0'))
    with pytest.raises(UserError, match=r"plan\.json: key 'seed' stands twice") as raised:
        read_plan(path)
    assert "\n" not in str(raised.value)
    path.write_text(text)
    (tmp_path / "source.json").write_text('{"root": null, "root": "x", "dataset": null}')
    with pytest.raises(UserError, match=r"source\.json: not as written"):
        open_source(Work(tmp_path))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return make_work(tmp_path_factory.mktemp("source"), 2, count=24)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plan: plan["concepts"].reverse(), "its concepts are not those of dataset cub"),
        (lambda plan: plan["concepts"].append("more"), "its concepts are not those of dataset"),
        (lambda plan: plan["source"].update(name="cub:certainty=3"), "not dataset cub"),
        (lambda plan: plan["edits"][1].update(base="../x"), "needs picture '../x', which dataset"),
        (lambda plan: plan["edits"][1].update(references=["x"]), "needs picture 'x', which"),
        (lambda plan: plan["edits"][0].update({"class": "Roc"}), "is of class 'Roc'; its base"),
        (lambda plan: plan["edits"][0].update({"class": None}), "is of class None; its base"),
    ],
)
def test_a_plan_that_is_not_of_its_source(work: Work, tmp_path: Path, change, said: str) -> None:
    assert open_source(Work(work.root)).name == "cub"
    document = work.plan.as_dict()
    change(document)
    (tmp_path / "plan.json").write_text(json.dumps(document))
    noted = json.loads((work.root / "source.json").read_text()) | {"dataset": "cub"}
    (tmp_path / "source.json").write_text(json.dumps(noted))
    with pytest.raises(UserError, match=said) as raised:
        open_source(Work(tmp_path))
    assert str(raised.value).startswith(f"{tmp_path / 'plan.json'}: ")
    assert "\n" not in str(raised.value)
