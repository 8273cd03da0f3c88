"""Which decisions stand: one rule for the file, the server's memory and the package."""

from __future__ import annotations

from collections.abc import Iterable

from generation.work.formats import Decision


def take(standing: list[Decision], line: Decision) -> None:
    """Bring ``standing`` (oldest first) up to date with the next line.

    An undo takes the latest decision away that the same reviewer made on the same edit; where
    there is none, it does nothing.
    """
    if line.decision != "undo":
        standing.append(line)
        return
    for place in reversed(range(len(standing))):
        if (standing[place].id, standing[place].reviewer) == (line.id, line.reviewer):
            del standing[place]
            return


def standing(lines: Iterable[Decision]) -> list[Decision]:
    """What stands after all lines, oldest first; of an edit, the last one counts."""
    found: list[Decision] = []
    for line in lines:
        take(found, line)
    return found
