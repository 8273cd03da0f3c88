"""From a source and a request to a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.datasets import Dataset, source_of_name
from benchmark.datasets.coco_objects import Objects
from benchmark.errors import UserError
from generation.planning import attributes, objects, rules
from generation.planning.balance import Candidate, Shares, choose
from generation.planning.pictures import Pictures
from generation.planning.prompts import CHANGE, REMOVE, fill, values_of
from generation.planning.request import Request
from generation.work import Plan, PlannedEdit, PlanSource

ENOUGH = "as many edits as asked for were planned without it"

References = Callable[[Candidate], tuple[str, ...]]


@dataclass(frozen=True)
class Planned:
    """A plan and what was not planned.

    Attributes:
        plan: the plan.
        left_out: reason for every picture of the source that no edit is planned of, by id.
        wanted: edits asked for, of rules too; the plan has fewer where the source has not as many.
        classes: of the base pictures; empty where the source has none.
    """

    plan: Plan
    left_out: Mapping[str, str] = field(repr=False)
    wanted: int
    classes: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Counts, as JSON holds them."""
        edits = self.plan.edits
        targets = Counter(edit.added if edit.added is not None else edit.removed for edit in edits)
        return {
            "name": self.plan.name,
            "plan_hash": self.plan.hash,
            "edits": len(edits),
            "wanted": self.wanted,
            "bases": len({edit.base for edit in edits}),
            "classes": len({edit.class_name for edit in edits} - {None}),
            "concepts": len({name for edit in edits for name in edit.changed}),
            "targets": {
                "concepts": len(targets),
                "least": min(targets.values()),
                "most": max(targets.values()),
            },
            "left_out": dict(sorted(Counter(self.left_out.values()).items())),
        }


class _Draft:
    """Edits so far, what they used up, and the pictures that nothing could be planned of."""

    def __init__(self, pictures: Pictures, request: Request) -> None:
        self.pictures = pictures
        self.request = request
        self.edits: list[PlannedEdit] = []
        self.left_out: dict[str, str] = {}
        self.classes: tuple[str, ...] = ()
        self._shares = Shares()

    def add(
        self,
        candidates: Sequence[Candidate],
        count: int,
        *,
        template: str,
        kind: str,
        references: References,
        where: str,
        groups: bool = False,
    ) -> None:
        """Choose ``count`` of the candidates and write their prompts."""
        for each in choose(candidates, count, self.request.seed, self._shares):
            values = values_of(
                class_name=each.class_name,
                removed=each.removed,
                added=each.added,
                group=each.group if groups else None,
            )
            self.edits.append(
                PlannedEdit(
                    id=f"edit-{len(self.edits):05d}",
                    base=each.base,
                    class_name=each.class_name,
                    added=each.added,
                    removed=each.removed,
                    attribute_kind=kind,
                    references=references(each),
                    prompt=fill(template, values, where),
                )
            )


def make_plan(
    dataset: Dataset, request: Request, progress: Callable[[int, int], None] | None = None
) -> Planned:
    """Plan the edits of a dataset.

    The same content and request give the same plan, whatever order the source has its rows in.

    Args:
        dataset: the source.
        request: what to plan.
        progress: told what was read of annotations that have to be read again, and all of it.

    Raises:
        UserError: a request that names what the source does not have, or nothing to plan.
    """
    pictures = Pictures.of(dataset)
    draft = _Draft(pictures, request)
    declared = _declared(pictures, request)
    rows = [
        row for row, split in enumerate(pictures.splits) if request.base_split in ("any", split)
    ]
    if request.kind == "syncub":
        _exchanges(draft, rows)
    elif request.kind == "syncoco":
        _removals(draft, rows, objects.objects_of(dataset, progress))
    for number, rule in enumerate(request.rules, start=1):
        where = f"rule {number}"
        rules.check_rule(pictures, rule, declared, where)
        found = list(rules.candidates(pictures, rule, declared))
        draft.add(
            found,
            rule.count,
            template=rule.prompt,
            kind=rule.attribute_kind,
            references=rules.references(pictures, rule, request.seed),
            where=where,
        )
    if not draft.edits:
        raise UserError(
            f"nothing to plan: no picture of dataset {dataset.name} (split {request.base_split}) "
            "allows an edit as asked for"
        )
    wanted = (request.wanted if request.kind != "custom" else 0) + sum(
        rule.count for rule in request.rules
    )
    return Planned(_plan(dataset, draft), _left_out(draft), wanted, draft.classes)


def _exchanges(draft: _Draft, rows: Sequence[int]) -> None:
    pictures, request = draft.pictures, draft.request
    exchange = attributes.prepare(pictures, rows, request)
    draft.classes = exchange.classes
    planned = set(exchange.classes)
    bases = [row for row in rows if not planned or pictures.classes[row] in planned]
    found = list(exchange.candidates(bases))
    row_of = {pictures.ids[row]: row for row in rows}
    place = {name: column for column, name in enumerate(pictures.concepts)}

    def references(each: Candidate) -> tuple[str, ...]:
        assert each.added is not None
        row = exchange.reference(place[each.added], row_of[each.base], request.seed)
        return (pictures.ids[row],)

    template = request.prompt or CHANGE
    draft.add(
        found,
        request.wanted,
        template=template,
        kind="attribute",
        references=references,
        where="the request",
        groups=True,
    )
    with_any = {each.base for each in found}
    for row in rows:
        image = pictures.ids[row]
        if planned and pictures.classes[row] not in planned:
            draft.left_out[image] = "its class is not among the planned ones"
        elif image not in with_any:
            draft.left_out[image] = (
                "in no group does it surely show exactly one planned value with another to "
                "exchange it for"
            )


def _removals(
    draft: _Draft, rows: Sequence[int], counted: Mapping[str, Mapping[str, Objects]]
) -> None:
    pictures, request = draft.pictures, draft.request
    if request.concepts:
        pictures.places(request.concepts, "concepts")
    concepts = request.concepts or pictures.concepts
    found, without = objects.candidates(pictures, rows, counted, concepts)
    draft.left_out.update(without)
    draft.add(
        found,
        request.wanted,
        template=request.prompt or REMOVE,
        kind="object",
        references=lambda each: (),
        where="the request",
    )


def _declared(pictures: Pictures, request: Request) -> frozenset[str]:
    """Names of the declared concepts; those of the source cannot be declared again."""
    names = frozenset(concept.name for concept in request.declare)
    known = sorted(names & set(pictures.concepts))
    if known:
        raise UserError(f"declare: {known[0]!r} is a concept of the source already")
    changed = {name for rule in request.rules for name in (rule.add, rule.remove)}
    if request.verify == "filter" and names & changed:
        first = sorted(names & {name for name in changed if name is not None})[0]
        raise UserError(
            f"the source has no annotations of {first!r}, so that no classifier can judge its "
            'edits; plan them with verify = "report_only"'
        )
    return names


def _plan(dataset: Dataset, draft: _Draft) -> Plan:
    request = draft.request
    known = source_of_name(dataset.name)
    return Plan(
        name=request.name or request.kind,
        kind=request.kind,
        verify=request.verify,
        seed=request.seed,
        source=PlanSource(
            dataset.name,
            dataset.revision,
            dataset.fingerprint,
            "not stated" if known is None else known.licence,
        ),
        concepts=tuple(dataset.concepts),
        declared=request.declare,
        edits=tuple(draft.edits),
    )


def _left_out(draft: _Draft) -> dict[str, str]:
    planned = {edit.base for edit in draft.edits}
    split = draft.request.base_split
    reasons = {}
    for image, of in zip(draft.pictures.ids, draft.pictures.splits, strict=True):
        if image in planned:
            continue
        outside = split not in ("any", of)
        reasons[image] = f"not of split {split}" if outside else draft.left_out.get(image, ENOUGH)
    return reasons
