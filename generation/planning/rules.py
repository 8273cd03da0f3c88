"""Edits that a request declares: additions, materials, lighting, viewpoints, whatever it names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from benchmark.errors import UserError
from generation.planning.balance import Candidate
from generation.planning.pictures import SURE, Pictures, pick
from generation.planning.request import Rule


def check_rule(pictures: Pictures, rule: Rule, declared: Collection[str], where: str) -> None:
    """Refuse a rule that names what there is not.

    Raises:
        UserError: unknown concepts or classes, or references to show of a concept that no picture
            is annotated with.
    """
    changed = [name for name in (rule.add, rule.remove) if name is not None]
    pictures.places([name for name in changed if name not in declared], where)
    pictures.places([*rule.shown, *rule.absent], where)
    pictures.check_classes(rule.classes, where)
    if rule.references and rule.add is not None:
        if rule.add in declared:
            raise UserError(
                f"{where}: {rule.add!r} is declared, so that no picture is annotated with it; "
                "references must be 0"
            )
        found = int(pictures.sure[:, pictures.places([rule.add], where)[0]].sum())
        if found < rule.references:
            raise UserError(
                f"{where}: {rule.add!r} has {found} reference pictures (annotated as showing it "
                f"with certainty {SURE} or more); expected at least {rule.references}"
            )


def candidates(pictures: Pictures, rule: Rule, declared: Collection[str]) -> Iterator[Candidate]:
    """Every base picture that a rule allows.

    A picture to take a concept from shows it surely, one to bring it to does not show it.
    """
    place = {name: column for column, name in enumerate(pictures.concepts)}
    group = f"{rule.attribute_kind}: {rule.add or ''} / {rule.remove or ''}"
    for row, image in enumerate(pictures.ids):
        if rule.split != "any" and pictures.splits[row] != rule.split:
            continue
        if rule.classes and pictures.classes[row] not in rule.classes:
            continue
        shown = [*rule.shown, *([rule.remove] if rule.remove not in declared else [])]
        absent = [*rule.absent, *([rule.add] if rule.add not in declared else [])]
        if not all(pictures.sure[row, place[name]] for name in shown if name is not None):
            continue
        if any(pictures.present[row, place[name]] for name in absent if name is not None):
            continue
        yield Candidate(image, pictures.classes[row], rule.remove, rule.add, group)


def references(pictures: Pictures, rule: Rule, seed: int) -> Callable[[Candidate], tuple[str, ...]]:
    """Gives an edit ids of pictures that surely show the added concept, drawn by seed."""
    if not rule.references or rule.add is None:
        return lambda each: ()
    shown = np.flatnonzero(pictures.sure[:, pictures.concepts.index(rule.add)]).tolist()

    def of(each: Candidate) -> tuple[str, ...]:
        rows = pick(shown, rule.references, seed, each.base, each.target)  # the base shows it not
        return tuple(pictures.ids[row] for row in rows)

    return of
