"""Finds couplings of a style by pixel differences: parts that hide or drag one another along.

For every drawing ``y`` of one group and every drawing ``x`` of another, the edit from the plain
avatar to ``y`` is compared with and without ``x`` in the picture. With ``x``,

- the edit must still be seen: at least ``SEEN`` of the pixels that it changes without ``x``;
- it must not reach further: at most ``DRAGGED`` of that number may be pixels that it leaves alone
  without ``x`` (hair colour must not recolour a beard).

Combinations that the style forbids, and labels that it hides, are left out: an audit without
findings shows that conflicts and hidden labels are complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from generation.avatars.render import SIZE, changed_pixels, draw
from generation.avatars.space import StyleSpec

SEEN = 1 / 3
DRAGGED = 0.2
# Half the size shows the same couplings in a third of the time.
AUDIT_SIZE = SIZE // 2
# A colour covers what it paints, more or less of it as the shape is: seen in at least this many
# pixels is enough, and reaching further is no coupling.
PAINTS = {("hair colour", "top"), ("skin", "top"), ("skin", "outfit")}
SEEN_PAINTED = 75


@dataclass(frozen=True)
class Drawing:
    """One way to draw one value of a group."""

    group: str
    name: str | None
    number: int

    def __str__(self) -> str:
        return f"{self.group}: {self.name or 'none'} ({self.number})"


@dataclass(frozen=True)
class Finding:
    """``edit`` is hidden or dragged along by ``under``; shares of the plain edit's pixels."""

    edit: Drawing
    under: Drawing
    seen: float
    dragged: float

    def __str__(self) -> str:
        return f"{self.edit} under {self.under}: seen {self.seen:.2f}, dragged {self.dragged:.2f}"


class _Canvas:
    """Draws a style's plain avatar with some drawings put in, each only once."""

    def __init__(self, spec: StyleSpec) -> None:
        self._spec = spec
        self._images: dict[frozenset[Drawing], Image.Image] = {}
        self.plain = {each.group: _plain(each.group, each.names) for each in spec.attributes}

    def image(self, *drawings: Drawing) -> Image.Image:
        key = frozenset(drawings)
        if key not in self._images:
            options = dict(self._spec.fixed)
            for nuisance in self._spec.nuisances:
                options.update(nuisance[0])
            for group, name in self.plain.items():
                options.update(self._spec.by_group[group].value(name).drawings[0])
            for each in drawings:
                value = self._spec.by_group[each.group].value(each.name)
                options.update(value.drawings[each.number])
            style, recolour = self._spec.style, self._spec.recolour
            self._images[key] = draw(style, recolour, options, AUDIT_SIZE)
        return self._images[key]

    def edit(self, drawing: Drawing, *under: Drawing) -> np.ndarray:
        """Pixels that putting ``drawing`` in changes: bool (AUDIT_SIZE, AUDIT_SIZE)."""
        return changed_pixels(self.image(*under), self.image(drawing, *under))

    def values(self, *drawings: Drawing) -> dict[str, str | None]:
        return self.plain | {each.group: each.name for each in drawings}


def audit(spec: StyleSpec, groups: Sequence[str] | None = None) -> list[Finding]:
    """Every coupling of a style, or of these groups of it, that its rules do not exclude."""
    canvas = _Canvas(spec)
    drawings = list(_drawings(spec, canvas.plain, groups))
    findings = []
    for edit in drawings:
        alone = canvas.edit(edit)
        for under in drawings:
            if under.group == edit.group or not _labelled(spec, canvas, edit, under):
                continue
            both = canvas.edit(edit, under)
            seen = both.sum() / max(1, alone.sum())
            dragged = (both & ~alone).sum() / max(1, alone.sum())
            if (edit.group, under.group) in PAINTS:
                fault = both.sum() < SEEN_PAINTED
            else:
                fault = seen < SEEN or dragged > DRAGGED
            if fault:
                findings.append(Finding(edit, under, float(seen), float(dragged)))
    return findings


def _plain(group: str, names: Sequence[str | None]) -> str | None:
    # Tan and brown lie between the extremes, so that every other colour stands out from them.
    middle = {"skin": "tan", "hair colour": "violet"}.get(group)
    return None if None in names else middle if middle in names else names[0]


def _drawings(
    spec: StyleSpec, plain: Mapping[str, str | None], groups: Sequence[str] | None
) -> Iterator[Drawing]:
    for attribute in spec.attributes:
        if groups is not None and attribute.group not in groups:
            continue
        for value in attribute.values:
            if value.name != plain[attribute.group]:
                for number in range(len(value.drawings)):
                    yield Drawing(attribute.group, value.name, number)


def _labelled(spec: StyleSpec, canvas: _Canvas, edit: Drawing, under: Drawing) -> bool:
    """Whether the data may hold this edit under ``under``: allowed, and one label changes."""
    before, after = canvas.values(under), canvas.values(edit, under)
    if not (spec.allowed(before) and spec.allowed(after)):
        return False
    base, edited = spec.labels(before), spec.labels(after)
    return len(base - edited) <= 1 and len(edited - base) <= 1 and base != edited
