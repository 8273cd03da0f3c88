"""Licences of what a generated dataset is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from generation.work import EditRecord, Plan

_UNKNOWN = {"", "not stated", "unknown", "none", "null", "n/a", "other"}


@dataclass(frozen=True)
class Licences:
    """What is known of the terms; None where nothing is.

    Attributes:
        photographs, annotations: of the source.
        models: licence of every model that made a picture, by its name.
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
        return cls(
            _known(photographs or plan.source.licence),
            _known(annotations or plan.source.licence),
            {each.model: _known(each.licence) for each in records},
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


def _known(text: str) -> str | None:
    text = " ".join(text.split())
    return None if text.lower() in _UNKNOWN else text
