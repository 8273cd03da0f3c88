"""The folder of one dataset in the making: where each stage finds and leaves its files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmark import files
from benchmark.errors import UserError
from benchmark.names import ID
from generation.work.checks import check_plan
from generation.work.formats import Decision, EditRecord, Plan, Verdict
from generation.work.journal import Journal
from generation.work.standing import standing
from schemas import SchemaError, validate

PLAN = "plan.json"
SOURCE = "source.json"
LEFT_OUT = "left_out.csv"
PLANNED = "planned.csv"
ADJUDICATION = "adjudication"
_MAX_PLAN_BYTES = 2**31


class Work:
    """A work folder with a plan.

    ``plan.json`` and what carries its hash can be handed on; ``source.json`` says where the source
    lies on this machine and is no part of the plan.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    @cached_property
    def plan(self) -> Plan:
        """The plan, read and checked once; ``UserError`` where there is none or it is broken."""
        return read_plan(self.root / PLAN)

    @property
    def images(self) -> Path:
        """Folder of the edited pictures."""
        return self.root / "edits" / "images"

    def image(self, edit_id: str) -> Path:
        """File of an edited picture."""
        return self.images / f"{edit_id}.png"

    @property
    def verify(self) -> Path:
        """Folder of the classifier and its verdicts."""
        return self.root / "verify"

    @property
    def review(self) -> Path:
        """Folder of the reviewers' files."""
        return self.root / "review"

    @property
    def edit_log(self) -> Journal[EditRecord]:
        """The log of attempts."""
        path = self.root / "edits" / "log.jsonl"
        return Journal(path, "edit-record", EditRecord, self.plan.hash)

    @property
    def verdict_log(self) -> Journal[Verdict]:
        """The classifier's verdicts."""
        return Journal(self.verify / "verdicts.jsonl", "verdict", Verdict, self.plan.hash)

    def review_log(self, reviewer: str) -> Journal[Decision]:
        """The decisions of a reviewer; ``UserError`` where the name is none for a file."""
        if not ID.fullmatch(reviewer) or reviewer == ADJUDICATION:
            raise UserError(
                f"reviewer {reviewer[:80]!r}; expected lower-case letters, digits and dashes, at "
                f"most 63, not {ADJUDICATION!r}"
            )
        path = self.review / f"{reviewer}.jsonl"
        return Journal(path, "review-decision", Decision, self.plan.hash)

    @property
    def adjudication_log(self) -> Journal[Decision]:
        """Decisions on what reviewers disagree about."""
        path = self.review / f"{ADJUDICATION}.jsonl"
        return Journal(path, "review-decision", Decision, self.plan.hash)

    @property
    def reviewers(self) -> list[str]:
        """Names of those who have a file here, sorted; what begins with a dot is passed over.

        ``UserError`` where a file is called as no reviewer can be.
        """
        paths = [path for path in self.review.glob("*.jsonl") if not path.name.startswith(".")]
        for path in paths:
            if not ID.fullmatch(path.stem):
                raise UserError(
                    f"{path}: {path.stem[:80]!r} is no name of a reviewer; expected lower-case "
                    "letters, digits and dashes, at most 63: rename the file, or move it away"
                )
        return sorted(path.stem for path in paths if path.stem != ADJUDICATION)

    def edits(self) -> dict[str, EditRecord]:
        """The last record of every edit that was tried."""
        return self._known(self.edit_log)

    def verdicts(self) -> dict[str, Verdict]:
        """The last verdict on every edit."""
        return self._known(self.verdict_log)

    def reviews(self) -> dict[str, dict[str, Decision]]:
        """What stands of every reviewer's decisions, by reviewer and edit."""
        return {name: self.decisions(self.review_log(name)) for name in self.reviewers}

    def adjudications(self) -> dict[str, Decision]:
        """What stands of the adjudication, by edit."""
        return self.decisions(self.adjudication_log)

    def decisions(self, log: Journal[Decision]) -> dict[str, Decision]:
        """The decision that stands on each edit: the latest that is not taken back."""
        lines = list(log)
        for decision in lines:
            self._check_id(decision.id, log.path)
        return {decision.id: decision for decision in standing(lines)}

    def _known(self, log: Journal[Any]) -> dict[str, Any]:
        latest = log.latest()
        for edit in latest:
            self._check_id(edit, log.path)
        return latest

    def _check_id(self, edit: str, path: Path) -> None:
        if edit not in self.plan.by_id:
            raise UserError(f"{path}: edit {edit!r} is not in {self.root / PLAN}")

    @contextmanager
    def locked(self, stage: str) -> Iterator[None]:
        """Keep other runs of a stage out of this folder.

        Raises:
            UserError: one is under way, or the plan was replaced since it was read.
        """
        with locked(self.root, stage):
            if "plan" in vars(self) and read_plan(self.root / PLAN).hash != self.plan.hash:
                raise UserError(
                    f"{self.root / PLAN}: replaced since this {stage} began; run it again"
                )
            yield


@contextmanager
def locked(root: Path, stage: str, what: str = "") -> Iterator[None]:
    """Hold the lock of a stage in a work folder.

    Args:
        what: who holds it otherwise, in words; by default another run of the stage.

    Raises:
        UserError: somebody else holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(root / f".{stage}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError(
            f"{root}: {what or f'another {stage}'} is under way here; wait for it, or end it"
        ) from None
    try:
        yield
    finally:
        lock.release()


def read_plan(path: Path) -> Plan:
    """Read a plan.

    Raises:
        UserError: absent, not JSON, not as the schema ``plan`` says, or in contradiction with
            itself; file and key are named.
    """
    try:
        if path.stat().st_size > _MAX_PLAN_BYTES:
            raise UserError(f"{path}: larger than {_MAX_PLAN_BYTES // 2**20} MiB")
        document = json.loads(path.read_bytes(), object_pairs_hook=files.unique_keys)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; make it with: assay generate plan") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except files.RepeatedKey as error:
        raise UserError(
            f"{path}: key {error.key[:80]!r} stands twice in one object; expected once"
        ) from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not JSON") from None
    try:
        validate("plan", document)
    except SchemaError as error:
        raise UserError(f"{path}: {error.problems[0]}") from None
    plan = Plan.from_dict(document)
    check_plan(plan, str(path))
    return plan


def write_plan(
    root: Path,
    plan: Plan,
    left_out: Mapping[str, str],
    source_root: Path | None = None,
    source_name: str | None = None,
) -> Work:
    """Put a plan into a work folder, with tables for people of what is planned and left out.

    Args:
        root: the folder; made where it is not there.
        plan: what to write.
        left_out: reason for every picture of the source that no edit is planned of, by id.
        source_root: where the source lies, if not in its usual place.
        source_name: what ``load_dataset`` was told, if it is not the source's name.

    Raises:
        UserError: a plan that contradicts itself, a folder that holds another plan and work done
            by it, or in which another run plans or edits.
    """
    root = Path(root)
    document = plan.as_dict()
    validate("plan", document)
    check_plan(plan, "the plan")
    files.check_target(root / PLAN)
    root.mkdir(parents=True, exist_ok=True)
    place = None if source_root is None else str(source_root.resolve())
    # an edit that began by the plan here must not find another when it ends
    with locked(root, "plan"), locked(root, "edit", "an edit by the plan there"):
        if (root / PLAN).exists() and (root / "edits").exists() and _other(root, plan):
            raise UserError(
                f"{root} holds work done by another plan; choose a folder of its own, or delete it"
            )
        files.write_json(root / PLAN, document)
        files.write_json(root / SOURCE, {"root": place, "dataset": source_name})
        _write_tables(root, plan, left_out)
    return Work(root)


def _write_tables(root: Path, plan: Plan, left_out: Mapping[str, str]) -> None:
    columns = ("id", "image", "class", "removed", "added", "kind", "references")
    rows = [
        (
            edit.id,
            edit.base,
            edit.class_name or "",
            edit.removed or "",
            edit.added or "",
            edit.attribute_kind,
            " ".join(edit.references),
        )
        for edit in plan.edits
    ]
    _write_table(root / PLANNED, columns, rows)
    _write_table(root / LEFT_OUT, ("image", "reason"), sorted(left_out.items()))


def _other(root: Path, plan: Plan) -> bool:
    try:
        return read_plan(root / PLAN).hash != plan.hash
    except UserError:
        return True


def _write_table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with files.replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as s:
        writer = csv.writer(s, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
