"""What is asked of a plan: defaults, a file in TOML or JSON, and the command line over both."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmark.errors import UserError
from benchmark.files import RepeatedKey, unique_keys
from generation.work import DeclaredConcept
from schemas import SchemaError, validate

Kind = Literal["syncub", "syncoco", "custom"]
DEFAULT_EDITS = {"syncub": 3063, "syncoco": 9000, "custom": 0}
DEFAULT_SPLIT = {"syncub": "score", "syncoco": "match", "custom": "any"}
"""synCUB's base pictures are of the split that concepts are not matched on. synCOCO's are of
train2017, as the published ones are: val2017 has not as many."""

CLASSES = 33
CONCEPTS = 45
_MAX_BYTES = 2**22


@dataclass(frozen=True)
class Rule:
    """One kind of edit, declared.

    Attributes:
        attribute_kind: what is edited: material, lighting, viewpoint, object, …
        add, remove: concepts, of the source or declared; one at least.
        prompt: template with ``{added}``, ``{removed}``, ``{class}``.
        count: edits to plan.
        references: pictures that show the added concept to hand on with each edit.
        split: of the base pictures, ``"match"``, ``"score"`` or ``"any"``.
        classes: of the base pictures; empty for all.
        shown, absent: concepts that the base pictures must and must not show.
    """

    attribute_kind: str
    add: str | None
    remove: str | None
    prompt: str
    count: int
    references: int = 0
    split: str = "any"
    classes: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """What to plan; None where the default of the kind holds.

    Attributes:
        edits: how many, those of rules not counted; fewer where the source has not as many.
        classes, concepts: names of those to plan with; else ``class_count`` and ``concept_count``
            are chosen.
    """

    kind: Kind
    name: str = ""
    verify: Literal["filter", "report_only"] = "filter"
    seed: int = 0
    edits: int | None = None
    split: str | None = None
    classes: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    class_count: int = CLASSES
    concept_count: int = CONCEPTS
    prompt: str | None = None
    declare: tuple[DeclaredConcept, ...] = ()
    rules: tuple[Rule, ...] = field(default=())

    @property
    def wanted(self) -> int:
        """Edits to plan, those of rules not counted."""
        return DEFAULT_EDITS[self.kind] if self.edits is None else self.edits

    @property
    def base_split(self) -> str:
        """Split of the base pictures, or ``"any"``."""
        return DEFAULT_SPLIT[self.kind] if self.split is None else self.split


def make_request(kind: Kind, file: Path | None = None, **given: Any) -> Request:
    """A request from a file and what goes before it (values that are None do not).

    Raises:
        UserError: not TOML or JSON, an unknown key or a wrong value; file and key are named.
    """
    document = {} if file is None else _read(file)
    document |= {key: value for key, value in given.items() if value is not None}
    where = "the request" if file is None else str(file)
    try:
        validate("plan-request", document)
    except SchemaError as error:
        raise UserError(f"{where}: {error.problems[0]}") from None
    lists: dict[str, Any] = {key: tuple(document.pop(key, ())) for key in ("classes", "concepts")}
    declared = tuple(DeclaredConcept(**each) for each in document.pop("declare", ()))
    rules = tuple(_rule(each, where) for each in document.pop("rules", ()))
    request = Request(kind, **document, **lists, declare=declared, rules=rules)
    if kind == "custom":
        if not rules:
            raise UserError(f"{where}: a custom plan needs rules; found none")
        if not request.name:
            raise UserError(f"{where}: a custom plan needs a name: --name")
    return request


def _rule(document: dict[str, Any], where: str) -> Rule:
    base = document.get("base", {})
    add, remove = document.get("add"), document.get("remove")
    if add is None and remove is None:
        raise UserError(f"{where}: a rule neither adds nor removes a concept; give add or remove")
    if add == remove:
        raise UserError(f"{where}: a rule adds and removes {add!r}")
    references = document.get("references", 0)
    if references and add is None:
        raise UserError(f"{where}: a rule that adds nothing has no references to show")
    return Rule(
        document["attribute_kind"],
        add,
        remove,
        document["prompt"],
        document["count"],
        references,
        base.get("split", "any"),
        tuple(base.get("classes", ())),
        tuple(base.get("with", ())),
        tuple(base.get("without", ())),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UserError(f"{path}: larger than {_MAX_BYTES // 2**20} MiB; expected a request")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8") from None
    is_json = path.suffix.lower() == ".json"
    try:
        document = (
            json.loads(text, object_pairs_hook=unique_keys) if is_json else tomllib.loads(text)
        )
    except RepeatedKey as error:
        raise UserError(f"{path}: {error.key!r} is there twice; give it once") from None
    except (ValueError, RecursionError) as error:
        kind = "JSON" if is_json else "TOML"
        raise UserError(f"{path}: not {kind}: {' '.join(str(error).split())[:120]}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: expected an object")
    return document
