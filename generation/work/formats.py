"""What the stages of making a dataset hand to each other, as data.

Every class is one JSON object of the same keys (``class`` is ``class_name`` here); its schema in
``schemas/`` says what each value may be. ``plan_hash`` ties a line to its plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, Self

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class PlanSource:
    """The dataset that base pictures and references come from."""

    name: str
    revision: str
    fingerprint: str
    licence: str


@dataclass(frozen=True)
class DeclaredConcept:
    """A concept that the source has no annotations of."""

    name: str
    group: str


@dataclass(frozen=True)
class PlannedEdit:
    """One picture to make.

    Attributes:
        id: its name, usable as a file name.
        base: id of the base picture in the source.
        class_name: class of the base picture, None where the source has none.
        added, removed: names of concepts, None where the edit adds or removes nothing.
        attribute_kind: ``"attribute"``, ``"object"``, ``"material"``, ``"lighting"``, …
        references: ids of pictures of the source that show the added concept.
        prompt: what the model is told.
    """

    id: str
    base: str
    class_name: str | None
    added: str | None
    removed: str | None
    attribute_kind: str
    references: tuple[str, ...]
    prompt: str

    @property
    def changed(self) -> tuple[str, ...]:
        """The added and the removed concept, those that there are."""
        return tuple(name for name in (self.added, self.removed) if name is not None)


@dataclass(frozen=True)
class Plan:
    """Every edit of a dataset in the making.

    Attributes:
        concepts: names of the source's concepts, in its order.
        declared: further concepts, which the source has no annotations of: nothing learned from
            the source can judge them.
        edits: in the order they were planned, the first ``n`` balanced for every ``n``.
    """

    name: str
    kind: Literal["syncub", "syncoco", "custom"]
    verify: Literal["filter", "report_only"]
    seed: int
    source: PlanSource
    concepts: tuple[str, ...]
    declared: tuple[DeclaredConcept, ...]
    edits: tuple[PlannedEdit, ...] = field(repr=False)

    @cached_property
    def hash(self) -> str:
        """Hex SHA-256 of the canonical plan."""
        text = json.dumps(self.as_dict(), sort_keys=True, ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Names of the source's concepts, then of the declared ones."""
        return (*self.concepts, *(concept.name for concept in self.declared))

    @cached_property
    def by_id(self) -> Mapping[str, PlannedEdit]:
        """Edits by id."""
        return {edit.id: edit for edit in self.edits}

    def as_dict(self) -> dict[str, Any]:
        """The document of ``plan.json``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "kind": self.kind,
            "verify": self.verify,
            "seed": self.seed,
            "source": _plain(self.source),
            "concepts": list(self.concepts),
            "declared": [_plain(each) for each in self.declared],
            "edits": [
                {
                    ("class" if key == "class_name" else key): value
                    for key, value in _plain(edit).items()
                }
                for edit in self.edits
            ],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """The plan of a document that fits the schema ``plan``."""
        edits = (
            PlannedEdit(
                **{key: value for key, value in edit.items() if key not in ("class", "references")},
                class_name=edit["class"],
                references=tuple(edit["references"]),
            )
            for edit in document["edits"]
        )
        return cls(
            document["name"],
            document["kind"],
            document["verify"],
            document["seed"],
            PlanSource(**document["source"]),
            tuple(document["concepts"]),
            tuple(DeclaredConcept(**each) for each in document["declared"]),
            tuple(edits),
        )


@dataclass(frozen=True)
class Line:
    """What the lines of the journals have in common."""

    id: str
    plan_hash: str

    def as_dict(self) -> dict[str, Any]:
        """The line as JSON holds it."""
        return _plain(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """The line of a document that fits its schema; ``ValueError`` where it cannot be."""
        return cls(**document)


@dataclass(frozen=True)
class EditRecord(Line):
    """One attempt at an edit: a line of ``edits/log.jsonl``; the last one of an id counts.

    Attributes:
        status: ``"ok"`` or ``"failed"``.
        sha256: of the file ``edits/images/<id>.png``; None for a failed edit.
        model, model_revision: Hub id and full commit, or ``folder:NAME`` and the SHA-256 over its
            files.
        licence: of the model.
        seed: of the noise.
        guidance: what had an effect; None for a distilled model, which ignores it.
        width, height: of the edited picture, in pixels.
        scheduler: its class.
        precision: number format of the weights.
        error: why it failed; a kind stands before the first colon.
        attempt: 1 for the first.
    """

    status: Literal["ok", "failed"]
    sha256: str | None
    model: str
    model_revision: str
    licence: str
    seed: int
    steps: int
    guidance: float | None
    width: int | None
    height: int | None
    scheduler: str
    precision: str
    seconds: float
    error: str | None
    attempt: int


@dataclass(frozen=True)
class Check:
    """What the classifier sees of one changed concept on one side of a pair."""

    concept: str
    side: Literal["base", "edited"]
    wanted: bool
    probability: float
    threshold: float
    right: bool


@dataclass(frozen=True)
class Verdict(Line):
    """The classifier's opinion of an edit: a line of ``verify/verdicts.jsonl``; the last counts.

    Attributes:
        image_sha256: of the edited picture that was looked at.
        checks: of every changed concept that the source annotates, on both sides.
        outside_change: how much changed outside the edited region; None where it is not known.
        kept: whether the pair passes; reasons say why not.
    """

    image_sha256: str
    checks: tuple[Check, ...]
    outside_change: float | None
    kept: bool
    reasons: tuple[str, ...]

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Verdict:
        """The verdict of a document that fits its schema."""
        checks = tuple(Check(**check) for check in document["checks"])
        return cls(**{**document, "checks": checks, "reasons": tuple(document["reasons"])})


@dataclass(frozen=True)
class Decision(Line):
    """What a reviewer says of an edit: a line of ``review/<reviewer>.jsonl``.

    Attributes:
        edit_sha256: of the edited picture that was looked at.
        decision: ``"undo"`` takes the reviewer's latest standing decision on this edit back.
        at: when, ISO 8601 in UTC.
        reviewer: who, in ``review/adjudication.jsonl``; None elsewhere, where the file says it.
    """

    edit_sha256: str
    decision: Literal["accept", "reject", "unsure", "undo"]
    note: str
    at: str
    reviewer: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The line as JSON holds it."""
        line = _plain(self)
        if self.reviewer is None:
            del line["reviewer"]
        return line

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Decision:
        """The decision of a document that fits its schema; ``ValueError`` at no date."""
        try:
            datetime.fromisoformat(document["at"])
        except ValueError:
            raise ValueError(f"at is {document['at']!r}, which is no date and time") from None
        return cls(**document)


def _plain(value: Any) -> dict[str, Any]:
    """A dataclass as JSON holds it; tuples become lists."""

    def plain(each: Any) -> Any:
        if isinstance(each, tuple):
            return [plain(item) for item in each]
        return _plain(each) if hasattr(each, "__dataclass_fields__") else each

    return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
