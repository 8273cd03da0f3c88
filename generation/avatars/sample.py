"""Drawing avatars and edits by chance: the same seed gives the same ones, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from generation.avatars.space import CONCEPTS, STYLE_GROUP, VOCABULARY, Options, StyleSpec
from generation.avatars.styles import STYLES

KINDS = ("add", "remove", "swap", "swap")
_MAX_DRAWS = 2000


@dataclass(frozen=True)
class Identity:
    """Everything about an avatar that an edit leaves alone: how each value would be drawn."""

    label: str
    drawings: Mapping[tuple[str, str | None], Options]
    nuisances: tuple[Options, ...]

    @property
    def spec(self) -> StyleSpec:
        return STYLES[self.label]

    def options(self, values: Mapping[str, str | None]) -> dict[str, str | int | float]:
        """Options of DiceBear for this identity with these values."""
        merged = dict(self.spec.fixed)
        for options in self.nuisances:
            merged.update(options)
        for group, name in values.items():
            merged.update(self.drawings[group, name])
        return merged


@dataclass(frozen=True)
class Base:
    """One avatar to draw, with the ids of the concepts seen in it."""

    identity: Identity
    values: Mapping[str, str | None]

    @property
    def labels(self) -> frozenset[int]:
        return self.identity.spec.labels(self.values)

    @property
    def options(self) -> dict[str, str | int | float]:
        return self.identity.options(self.values)


@dataclass(frozen=True)
class Edit:
    """Two avatars of one identity that differ in the value of one group."""

    group: str
    base: Base
    edited: Base

    @property
    def added(self) -> int | None:
        return next(iter(self.edited.labels - self.base.labels), None)

    @property
    def removed(self) -> int | None:
        return next(iter(self.base.labels - self.edited.labels), None)


def draw_base(seed: int, split: str, index: int, attempt: int = 0) -> Base:
    """Image ``index`` of a split.

    Each image is drawn around one concept, taken in turn, so that rare concepts are not too rare;
    the rest is independent chance.
    """
    group, name = CONCEPTS[index % len(CONCEPTS)].split(": ")
    random = Random(f"{seed}/{split}/{index}/{attempt}")
    spec = random.choice([each for each in STYLES.values() if _draws(each, group, name)])
    fixed = {} if group == STYLE_GROUP else {group: name}
    return Base(_identity(spec, random), _values(spec, random, fixed, fixed))


def draw_edit(seed: int, index: int, attempt: int = 0) -> Edit:
    """Pair ``index``: kinds in turn (add, remove, swap, swap), within a kind concepts in turn.

    A swap brings its concept in one round and takes it away in the next, so that every concept
    is added and removed about equally often.
    """
    kind = KINDS[index % len(KINDS)]
    rounds, place = divmod(index, len(KINDS))
    turn = rounds * KINDS.count(kind) + KINDS[:place].count(kind)
    choices = edits_of(kind)
    (group, name), labels = choices[turn % len(choices)]
    leaves = kind == "remove" or (kind == "swap" and turn // len(choices) % 2 == 1)
    random = Random(f"{seed}/pairs/{index}/{attempt}")
    spec = STYLES[random.choice(labels)]
    identity = _identity(spec, random)
    for _ in range(_MAX_DRAWS):
        other = random.choice(_others(spec, group, name, swap=kind == "swap"))
        before, after = (name, other) if leaves else (other, name)
        values = _values(spec, random, {group: before}, {group: after})
        edit = Edit(group, Base(identity, values), Base(identity, {**values, group: after}))
        if _is_one_edit(edit, before, after):
            return edit
    raise ValueError(f"{spec.label}: no {kind} edit of {group} {name}")


@cache
def edits_of(kind: str) -> list[tuple[tuple[str, str], list[str]]]:
    """Concepts that edits of this kind can target, as (group, value), with the styles to do it."""
    found = []
    for group, names in VOCABULARY.items():
        for name in names:
            labels = [
                spec.label
                for spec in STYLES.values()
                if group in spec.by_group
                and spec.has(group, name)
                and _others(spec, group, name, swap=kind == "swap")
            ]
            if labels:
                found.append(((group, name), labels))
    return found


def _draws(spec: StyleSpec, group: str, name: str) -> bool:
    return spec.label == name if group == STYLE_GROUP else spec.has(group, name)


def _others(spec: StyleSpec, group: str, name: str, *, swap: bool) -> list[str | None]:
    names = spec.by_group[group].names
    if not swap:
        return [None] if None in names else []
    return [other for other in names if other not in (None, name)]


def _is_one_edit(edit: Edit, before: str | None, after: str | None) -> bool:
    base, edited = edit.base.labels, edit.edited.labels
    expected = (int(before is not None), int(after is not None))
    return (len(base - edited), len(edited - base)) == expected


def _identity(spec: StyleSpec, random: Random) -> Identity:
    drawings = {
        (attribute.group, value.name): random.choice(value.drawings)
        for attribute in spec.attributes
        for value in attribute.values
    }
    return Identity(spec.label, drawings, tuple(map(random.choice, spec.nuisances)))


def _values(
    spec: StyleSpec,
    random: Random,
    fixed: Mapping[str, str | None],
    also: Mapping[str, str | None],
) -> dict[str, str | None]:
    """Values of every group, with ``fixed`` given, allowed with ``fixed`` and with ``also``."""
    for _ in range(_MAX_DRAWS):
        values = {
            attribute.group: random.choices(
                attribute.names, [value.weight for value in attribute.values]
            )[0]
            for attribute in spec.attributes
        } | dict(fixed)
        if spec.allowed(values) and spec.allowed({**values, **also}) and _seen(spec, values, fixed):
            return values
    raise ValueError(f"{spec.label}: no allowed avatar with {dict(fixed)} and {dict(also)}")


def _seen(
    spec: StyleSpec, values: Mapping[str, str | None], fixed: Mapping[str, str | None]
) -> bool:
    return not any(rule.group in fixed and values[rule.under] in rule.names for rule in spec.hidden)
