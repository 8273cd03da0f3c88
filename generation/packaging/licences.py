"""Licences of what a generated dataset is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from generation.licences import is_licence
from generation.packaging.markdown import cell
from generation.work import EditRecord, Plan


@dataclass(frozen=True)
class Licences:
    """What is known of the terms; None where nothing is.

    Attributes:
        photographs, annotations: of the source.
        models: licence of every model that made a picture, by its name; of one that goes by several
            all of them, and None where any of its pictures is without.
        package: identifier of the licence of the whole as the Hub spells it; ``"other"`` where the
            terms of the parts hold.
    """

    photographs: str | None
    annotations: str | None
    models: dict[str, str | None]
    package: str = "other"

    @classmethod
    def of(
        cls,
        plan: Plan,
        records: Iterable[EditRecord],
        *,
        photographs: str | None = None,
        annotations: str | None = None,
        package: str = "other",
    ) -> Licences:
        """Licences from plan and edit log; what is given goes before what the plan says."""
        stated: dict[str, list[str | None]] = {}
        for each in records:
            stated.setdefault(each.model, []).append(_known(each.licence))
        return cls(
            _known(photographs or plan.source.licence),
            _known(annotations or plan.source.licence),
            {model: _joined(licences) for model, licences in stated.items()},
            package,
        )

    def as_dict(self) -> dict[str, Any]:
        """As the manifest holds it."""
        return {
            "photographs": self.photographs,
            "annotations": self.annotations,
            "models": dict(sorted(self.models.items())),
            "package": self.package,
        }


def missing(licences: dict[str, Any]) -> list[str]:
    """What has no licence in a manifest's block of them, in words."""
    found = [name for name in ("photographs", "annotations") if not licences[name]]
    found += [f"model {name}" for name, licence in licences["models"].items() if not licence]
    if not licences["models"]:
        found.append("the model")
    return found


def licence_file(licences: Mapping[str, Any], source: str, title: str) -> str:
    """LICENSE.md of the package."""
    return f"# Licences of {title}\n\n{licence_table(licences, source)}\n"


def licence_table(licences: Mapping[str, Any], source: str) -> str:
    """Whose terms hold for which part."""
    makers = f"makers of {cell(source)}"
    rows = [
        ("photographs (`base`)", makers, licences["photographs"]),
        ("annotations", makers, licences["annotations"]),
        *(
            ("edited pictures (`edited`)", f"model {cell(name)}", licence)
            for name, licence in licences["models"].items()
        ),
    ]
    lines = ["| part | terms set by | licence |", "|---|---|---|"]
    lines += [
        f"| {part} | {whose} | {cell(terms) if terms else '**not stated**'} |"
        for part, whose, terms in rows
    ]
    note = (
        "An edited picture is made from a photograph, so the photograph's terms hold for it as "
        "well as the model's. Where terms differ, the strictest of them hold for the pair."
    )
    gaps = missing(dict(licences))
    if gaps:
        note += f" Not stated, to be asked of the source: {', '.join(map(cell, gaps))}."
    return "\n".join([*lines, "", note])


def _joined(licences: Iterable[str | None]) -> str | None:
    """Every one of them once, in whatever spelling came first; None where one is not known."""
    found: dict[str, str] = {}
    for licence in licences:
        if licence is None:
            return None
        found.setdefault(licence.lower(), licence)
    return "; ".join(found[key] for key in sorted(found))


def _known(text: str) -> str | None:
    text = " ".join(text.split())
    return text if is_licence(text) else None
