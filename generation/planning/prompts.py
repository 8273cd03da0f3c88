"""What the model is told."""

from __future__ import annotations

import string
from collections.abc import Mapping

from benchmark.errors import UserError

CHANGE = (
    "The first picture shows a bird. Change its {group} from {removed} to {added}, so that it "
    "looks like the {group} of the bird in the second picture; take nothing else from the second "
    "picture. It must stay the same bird: same species, body, pose, size and place, every other "
    "colour and marking as it is. Background, light, framing and style of the first picture stay "
    "exactly as they are."
)
"""Of synCUB: identity, pose and background are held, one attribute is exchanged."""

REMOVE = (
    "Remove every {object} from the picture and show what would be seen behind. Everything else "
    "stays exactly as it is: all other objects, background, light, framing and style."
)
"""Of synCOCO: the same for every picture but for the name of the object."""

FIELDS = ("group", "removed", "added", "class", "object")


def fill(template: str, values: Mapping[str, str], where: str) -> str:
    """A template with its fields replaced.

    Raises:
        UserError: a field that is none of ``FIELDS`` or has no value here.
    """
    parts = []
    try:
        pieces = list(string.Formatter().parse(template))
    except ValueError as error:
        raise UserError(f"{where}: prompt: {error}") from None
    for text, name, spec, conversion in pieces:
        parts.append(text)
        if name is None:
            continue
        if name not in values or spec or conversion:
            known = ", ".join(f"{{{each}}}" for each in FIELDS if each in values)
            raise UserError(f"{where}: prompt has the field {{{name}}}; here are {known}")
        parts.append(values[name])
    return "".join(parts)


def values_of(
    *, class_name: str | None, removed: str | None, added: str | None, group: str | None = None
) -> dict[str, str]:
    """What the fields stand for: ``has breast pattern: striped`` is the ``breast pattern``
    ``striped``."""
    values = {}
    if group is not None:
        values["group"] = group.removeprefix("has ")
    if removed is not None:
        values["removed"] = values["object"] = _value(removed)
    if added is not None:
        values["added"] = _value(added)
        values.setdefault("object", values["added"])
    if class_name is not None:
        number, dot, name = class_name.partition(".")
        values["class"] = (name if dot and number.isdigit() else class_name).replace("_", " ")
    return values


def _value(concept: str) -> str:
    return concept.partition(": ")[2] or concept
