"""Small plans and what follows them, for tests of the stages."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from generation.work import Decision, EditRecord, Plan, PlannedEdit, PlanSource, Verdict

SHA = "ab" * 32


def planned_edit(number: int = 0, **changes: Any) -> PlannedEdit:
    edit = PlannedEdit(
        id=f"edit-{number:05d}",
        base=f"birds/{number}.jpg",
        class_name="001.Auk",
        added="has wing color: blue",
        removed="has wing color: yellow",
        attribute_kind="attribute",
        references=("birds/9.jpg",),
        prompt="Change its wing colour.",
    )
    return replace(edit, **changes)


def small_plan(count: int = 3, **changes: Any) -> Plan:
    plan = Plan(
        name="small",
        kind="syncub",
        verify="filter",
        seed=0,
        source=PlanSource("cub", "2011", SHA, "non-commercial"),
        concepts=("has wing color: blue", "has wing color: yellow"),
        declared=(),
        edits=tuple(map(planned_edit, range(count))),
    )
    return replace(plan, **changes)


def edit_record(plan: Plan, edit: str, **changes: Any) -> EditRecord:
    record = EditRecord(
        id=edit,
        plan_hash=plan.hash,
        status="ok",
        sha256=SHA,
        model="folder:tiny",
        model_revision=SHA,
        licence="Apache-2.0",
        seed=1,
        steps=4,
        guidance=None,
        width=64,
        height=64,
        scheduler="FlowMatchEulerDiscreteScheduler",
        precision="float32",
        seconds=0.5,
        error=None,
        attempt=1,
    )
    return replace(record, **changes)


def failed_record(plan: Plan, edit: str, error: str, attempt: int = 1) -> EditRecord:
    nothing = {"sha256": None, "width": None, "height": None}
    return edit_record(plan, edit, status="failed", error=error, attempt=attempt, **nothing)


def verdict(plan: Plan, edit: str, **changes: Any) -> Verdict:
    return replace(Verdict(edit, plan.hash, SHA, (), 0.1, True, ()), **changes)


def decision(plan: Plan, edit: str, said: str, **changes: Any) -> Decision:
    made = Decision(edit, plan.hash, SHA, said, "", "2026-01-02T03:04:05Z")  # type: ignore[arg-type]
    return replace(made, **changes)


def exclusive(rows: int, seed: int = 0) -> np.ndarray:
    """bool (rows, 6): every picture shows one value of each of the three groups of two."""
    chosen = np.random.default_rng(seed).integers(0, 2, (rows, 3))
    present = np.zeros((rows, 6), bool)
    for group in range(3):
        present[np.arange(rows), 2 * group + chosen[:, group]] = True
    return present


def work_files(root: Path) -> dict[str, bytes]:
    """Every file below a folder, but for the locks."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }
