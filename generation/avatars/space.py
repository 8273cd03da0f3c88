"""Attribute space of the avatars: typed, declarative, checked when it is put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Options = Mapping[str, str | int | float]

# Concepts by group, in the order of their ids. Appending is safe; reordering makes a new version.
VOCABULARY: dict[str, tuple[str, ...]] = {
    "style": ("voxel", "pixel", "peeps"),
    "glasses": ("clear", "sunglasses"),
    "facial hair": ("beard", "moustache"),
    "expression": ("smile", "frown", "teeth", "open mouth"),
    "eyes": ("closed", "star"),
    "top": (
        "short",
        "long",
        "bob",
        "curly",
        "mohawk",
        "bun",
        "tails",
        "bald",
        "hat",
        "animal ears",
        "turban",
        "hijab",
    ),
    "hair colour": ("black", "brown", "blond", "red", "violet"),
    "skin": ("light", "tan", "brown", "dark"),
    "clothing": ("red", "orange", "green", "blue", "violet", "gray"),
    "outfit": ("striped", "checked", "tie", "hoodie", "tank top"),
    "earrings": ("earrings",),
    "mask": ("medical", "respirator"),
    "background": ("white", "blue", "pink", "yellow"),
}
STYLE_GROUP = "style"


def concept_name(group: str, value: str) -> str:
    """Name of a concept as the data carries it, for instance ``"glasses: clear"``."""
    return f"{group}: {value}"


CONCEPTS = tuple(
    concept_name(group, value) for group, values in VOCABULARY.items() for value in values
)
GROUPS = tuple(group for group, values in VOCABULARY.items() for _ in values)
CONCEPT_ID = {name: index for index, name in enumerate(CONCEPTS)}


@dataclass(frozen=True)
class Value:
    """One value of an attribute.

    ``name`` is the concept's value, or None where there is nothing to see (no glasses).
    ``drawings`` are the ways to draw it; which one is chance and stays the same on both sides of
    a pair.
    """

    name: str | None
    drawings: tuple[Options, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Attribute:
    """A group of values of which an avatar has exactly one."""

    group: str
    values: tuple[Value, ...]

    def value(self, name: str | None) -> Value:
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"{self.group}: {name}")

    @property
    def names(self) -> tuple[str | None, ...]:
        return tuple(value.name for value in self.values)


@dataclass(frozen=True)
class Conflict:
    """Two sets of values that never meet, because one would hide or move the other."""

    first: tuple[str, frozenset[str]]
    second: tuple[str, frozenset[str]]

    def broken_by(self, values: Mapping[str, str | None]) -> bool:
        return all(values[group] in names for group, names in (self.first, self.second))


@dataclass(frozen=True)
class Hidden:
    """``group`` cannot be seen under these values of ``under`` and is then labelled absent."""

    group: str
    under: str
    names: frozenset[str]


@dataclass(frozen=True)
class Recolour:
    """Give a component a colour of its own in place of one that it shares with another part."""

    component: str
    shared: str
    own: str


@dataclass(frozen=True)
class StyleSpec:
    """What is drawn in one style and with which of its options."""

    style: str
    label: str
    attributes: tuple[Attribute, ...]
    fixed: Options
    nuisances: tuple[tuple[Options, ...], ...] = ()
    recolour: tuple[Recolour, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    hidden: tuple[Hidden, ...] = ()
    by_group: Mapping[str, Attribute] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_group", {each.group: each for each in self.attributes})
        for attribute in self.attributes:
            for value in attribute.values:
                if value.name is not None and value.name not in VOCABULARY[attribute.group]:
                    raise ValueError(f"{self.label}: unknown {attribute.group} {value.name!r}")

    def has(self, group: str, name: str | None) -> bool:
        """Whether this style draws the value."""
        return group in self.by_group and name in self.by_group[group].names

    def allowed(self, values: Mapping[str, str | None]) -> bool:
        """Whether no conflict is broken."""
        return not any(conflict.broken_by(values) for conflict in self.conflicts)

    def labels(self, values: Mapping[str, str | None]) -> frozenset[int]:
        """Ids of the concepts that can be seen."""
        unseen = {rule.group for rule in self.hidden if values[rule.under] in rule.names}
        names = {STYLE_GROUP: self.label} | {
            group: name for group, name in values.items() if group not in unseen
        }
        return frozenset(
            CONCEPT_ID[concept_name(group, name)]
            for group, name in names.items()
            if name is not None
        )


def variants(component: str, *names: str) -> tuple[Options, ...]:
    """Drawings that show ``component`` in each of these variants."""
    return tuple({f"{component}Variant": name, f"{component}Probability": 100} for name in names)


def without(component: str) -> tuple[Options, ...]:
    """The drawing that leaves ``component`` out."""
    return ({f"{component}Probability": 0},)


def colours(component: str, **values: str) -> tuple[Value, ...]:
    """One value per colour, in the order given."""
    return tuple(Value(name, ({f"{component}Color": value},)) for name, value in values.items())


def conflict(first: str, first_names: str, second: str, second_names: str) -> Conflict:
    """``Conflict`` from names separated by ``|``."""
    return Conflict(
        (first, frozenset(first_names.split("|"))), (second, frozenset(second_names.split("|")))
    )


SKIN = {"light": "#ffdbb4", "tan": "#d08b5b", "brown": "#95562f", "dark": "#5a3620"}
CLOTHING = {
    "red": "#e8505b",
    "orange": "#f7a81b",
    "green": "#40b860",
    "blue": "#228be6",
    "violet": "#8e50d8",
    "gray": "#a3abb3",
}
HAIR = {
    "black": "#2c222b",
    "brown": "#7b4a2d",
    "blond": "#e8c872",
    "red": "#c2452d",
    "violet": "#7d6bdf",
}
BACKGROUND = {"white": "#ffffff", "blue": "#b6e3f4", "pink": "#ffc9d6", "yellow": "#fff0a8"}
