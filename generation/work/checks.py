"""What a schema cannot say of a plan: that it agrees with itself, and with its source."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.datasets import Dataset
from benchmark.datasets.characters import has_control
from benchmark.datasets.cub import CubDataset
from benchmark.errors import UserError
from generation.work.formats import Plan, PlannedEdit


def check_plan(plan: Plan, where: str) -> None:
    """``UserError`` where a plan contradicts itself; ``where`` stands before it."""
    for what, name in _names(plan):
        if has_control(name):
            raise UserError(f"{where}: {what} {name[:80]!r} holds a control character; rename it")
    declared = {concept.name for concept in plan.declared}
    known = set(plan.concepts)
    for name in sorted(declared & known):
        raise UserError(f"{where}: declares {name!r}, which is a concept of the source already")
    for edit in plan.edits:
        fault = _fault(edit, known | declared)
        if fault is None and plan.verify == "filter":
            fault = next(
                (
                    f"changes {name!r}, which is declared, so that no classifier can judge it; "
                    "expected verify: report_only"
                    for name in edit.changed
                    if name in declared
                ),
                None,
            )
        if fault is not None:
            raise UserError(f"{where}: edit {edit.id} {fault}")


def _names(plan: Plan) -> Iterator[tuple[str, str]]:
    for name in plan.concepts:
        yield "concept", name
    for concept in plan.declared:
        yield "declared concept", concept.name
        yield "group", concept.group
    for class_name in dict.fromkeys(edit.class_name for edit in plan.edits):
        if class_name is not None:
            yield "class", class_name


def _fault(edit: PlannedEdit, known: set[str]) -> str | None:
    for name in edit.changed:
        if name not in known:
            return f"changes {name!r}, which is no concept"
    if not edit.changed:
        return "neither adds nor removes a concept"
    if edit.added == edit.removed:
        return f"adds and removes {edit.added!r}; expected two concepts, or one of them null"
    if edit.base in edit.references:
        return f"has its base {edit.base!r} as a reference; expected another picture"
    return None


def check_source(plan: Plan, source: Dataset, where: str) -> None:
    """``UserError`` where a plan is not of this source; ``where`` stands before it."""
    if plan.source.name != source.name:
        raise UserError(f"{where}: its source is {plan.source.name!r}, not dataset {source.name}")
    if plan.concepts != tuple(source.concepts):
        raise UserError(
            f"{where}: its concepts are not those of dataset {source.name}, in their order; "
            "plan anew"
        )
    for edit in plan.edits:
        rows = {name: source.locate(name) for name in (edit.base, *edit.references)}
        for name, row in rows.items():
            if row is None:
                raise UserError(
                    f"{where}: edit {edit.id} needs picture {name!r}, which dataset {source.name} "
                    "does not have; plan anew"
                )
        row = rows[edit.base]
        assert row is not None
        if edit.class_name != (expected := _class_of(source, row)):
            raise UserError(
                f"{where}: edit {edit.id} is of class {edit.class_name!r}; its base {edit.base!r} "
                f"is of {expected!r} in dataset {source.name}"
            )


def _class_of(source: Dataset, row: int) -> str | None:
    if isinstance(source, CubDataset):
        return source.species[int(source.species_of[row])]
    return None
