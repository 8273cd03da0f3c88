"""From probabilities to verdicts: the rule, its reasons, and what is counted where."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from edit_work import BLUE, YELLOW, make_work

from generation.verifying import verdicts as rules
from generation.verifying.classifier import Classifier
from generation.verifying.outside import Change
from generation.verifying.verdicts import KINDS, Seen, by_concept, verdict
from generation.work import DeclaredConcept, Plan, PlannedEdit

SHA = "a" * 64
LOCAL = Change(0.0, 0.1, 0.05)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return make_work(tmp_path_factory.mktemp("plan"), 2, count=20).plan


def classifier(plan: Plan, unvalidated: tuple[int, ...] = ()) -> Classifier:
    rows = [
        {
            "concept": name,
            "threshold": None if number in unvalidated else 0.5,
            "reason": "shown by fewer than 5 validation pictures (1)",
        }
        for number, name in enumerate(plan.concepts)
    ]
    record: dict[str, Any] = {"concepts": rows}
    return Classifier(None, record)  # type: ignore[arg-type]


def edit_of(plan: Plan, added: int | None, removed: int | None) -> PlannedEdit:
    names: tuple[str | None, ...] = (*plan.concepts, None)
    return replace(
        plan.edits[0],
        added=None if added is None else names[added],
        removed=None if removed is None else names[removed],
    )


def seen(base: dict[int, float], edited: dict[int, float], change: Change | None = LOCAL) -> Seen:
    rows = np.zeros((2, 6), np.float32)
    for row, said in zip(rows, (base, edited), strict=True):
        for column, value in said.items():
            row[column] = value
    return Seen(SHA, rows[0], rows[1], change)


def kinds(found: Any) -> list[str]:
    return [reason.partition(":")[0] for reason in found.reasons]


def test_a_pair_is_kept_where_every_concept_is_right_on_both_sides(plan: Plan) -> None:
    edit = edit_of(plan, YELLOW, BLUE)
    found = verdict(
        plan, edit, seen({BLUE: 0.5, YELLOW: 0.49}, {BLUE: 0.2, YELLOW: 0.9}), classifier(plan)
    )
    assert found.kept
    assert found.reasons == ()
    assert [(check.concept, check.side, check.wanted, check.right) for check in found.checks] == [
        (edit.added, "base", False, True),
        (edit.added, "edited", True, True),
        (edit.removed, "base", True, True),
        (edit.removed, "edited", False, True),
    ]
    # the threshold itself counts as yes
    assert found.checks[2].probability == found.checks[2].threshold == 0.5


@pytest.mark.parametrize("wrong", range(16))
def test_every_combination_of_wrong_answers(plan: Plan, wrong: int) -> None:
    right = {("base", YELLOW): 0, ("edited", YELLOW): 1, ("base", BLUE): 1, ("edited", BLUE): 0}
    said = {
        place: float(value ^ (wrong >> bit & 1)) for bit, (place, value) in enumerate(right.items())
    }
    sides = [
        {column: value for (side, column), value in said.items() if side == name}
        for name in ("base", "edited")
    ]
    found = verdict(plan, edit_of(plan, YELLOW, BLUE), seen(*sides), classifier(plan))
    assert found.kept == (wrong == 0)
    assert len(found.reasons) == wrong.bit_count()
    assert kinds(found) == sorted(kinds(found), key=KINDS.index)
    assert [not check.right for check in found.checks] == [bool(wrong >> b & 1) for b in range(4)]


def test_one_sided_edits_are_judged_by_their_side_only(plan: Plan) -> None:
    said = seen({BLUE: 0.9, YELLOW: 0.9}, {BLUE: 0.1, YELLOW: 0.9})
    assert verdict(plan, edit_of(plan, None, BLUE), said, classifier(plan)).kept
    assert kinds(verdict(plan, edit_of(plan, YELLOW, None), said, classifier(plan))) == [
        "added concept already seen in the base picture"
    ]


def test_a_concept_that_cannot_be_judged_is_a_reason(plan: Plan) -> None:
    said = seen({BLUE: 0.9}, {BLUE: 0.1, YELLOW: 0.9})
    found = verdict(plan, edit_of(plan, YELLOW, BLUE), said, classifier(plan, (YELLOW,)))
    assert not found.kept
    assert found.reasons == (
        f"no validated threshold: {plan.concepts[YELLOW]} "
        "(shown by fewer than 5 validation pictures (1))",
    )
    assert {check.concept for check in found.checks} == {plan.concepts[BLUE]}
    declared = replace(plan, declared=(DeclaredConcept("light: dusk", "light"),))
    dusk = replace(plan.edits[0], added="light: dusk", removed=None, attribute_kind="lighting")
    found = verdict(declared, dusk, seen({}, {}, None), classifier(plan))
    assert found.reasons == ("not annotated in the source: light: dusk",)
    assert found.outside_change is None
    assert not found.kept


def test_a_plan_may_ask_for_opinions_only(plan: Plan) -> None:
    lenient = replace(plan, verify="report_only")
    found = verdict(lenient, edit_of(plan, YELLOW, None), seen({}, {}), classifier(plan))
    assert found.kept
    assert kinds(found) == ["added concept not seen in the edited picture"]


def test_outside_change_is_recorded_and_drops_only_where_asked(plan: Plan) -> None:
    edit, said = edit_of(plan, None, BLUE), ({BLUE: 0.9}, {BLUE: 0.1})
    wide = seen(*said, Change(0.4, 0.1, 0.4))
    found = verdict(plan, edit, wide, classifier(plan))
    assert (found.kept, found.outside_change) == (True, 0.4)
    assert verdict(plan, edit, wide, classifier(plan), 0.4).kept
    found = verdict(plan, edit, wide, classifier(plan), 0.3)
    assert (found.kept, kinds(found)) == (False, [rules.OUTSIDE])
    found = verdict(plan, edit, seen(*said, Change(0, 0, 0)), classifier(plan))
    assert (found.kept, kinds(found)) == (False, [rules.NOTHING])


def test_pairs_are_counted_by_concept_and_side(plan: Plan) -> None:
    right, wrong = seen({BLUE: 1, YELLOW: 0}, {BLUE: 0, YELLOW: 1}), seen({}, {})
    edits = tuple(
        replace(edit_of(plan, added, removed), id=name)
        for name, added, removed in (("a", YELLOW, BLUE), ("b", YELLOW, None), ("c", None, BLUE))
    )
    larger = replace(plan, edits=edits)
    found = {
        edit.id: verdict(larger, edit, said, classifier(plan))
        for edit, said in zip(edits[:2], (right, wrong), strict=True)
    }
    blue, yellow = plan.concepts[BLUE], plan.concepts[YELLOW]
    assert by_concept(larger, found) == [(blue, "removed", 1, 1), (yellow, "added", 2, 1)]
