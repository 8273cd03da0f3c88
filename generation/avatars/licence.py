"""Licences of the styles, read from the definitions that draw them."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.errors import UserError
from generation.avatars.render import definition
from generation.avatars.styles import STYLES

_PUBLIC_DOMAIN = "CC0 1.0"


@dataclass(frozen=True)
class StyleLicence:
    """Who drew a style and under which licence it may be used."""

    label: str
    style: str
    title: str
    source: str
    creator: str
    creator_url: str
    licence: str
    licence_url: str


def licences() -> list[StyleLicence]:
    """Licence of every style; ``UserError`` if one does not let anyone publish the pictures."""
    found = []
    for label, spec in STYLES.items():
        meta = definition(spec.style)["meta"]
        if meta["license"]["name"] != _PUBLIC_DOMAIN:
            raise UserError(
                f"style {spec.style} is under {meta['license']['name']!r}, expected "
                f"{_PUBLIC_DOMAIN!r}; install the dicebear-styles version of the constraints file"
            )
        found.append(
            StyleLicence(
                label=label,
                style=spec.style,
                title=meta["source"]["name"],
                source=meta["source"]["url"],
                creator=meta["creator"]["name"],
                creator_url=meta["creator"]["url"],
                licence=meta["license"]["name"],
                licence_url=meta["license"]["url"],
            )
        )
    return found
