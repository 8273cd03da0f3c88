"""What the templates have beside Jinja's own filters."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import jinja2

from leaderboard.numbers import rounded
from leaderboard.plots.scatter import MANY
from leaderboard.text import cut
from leaderboard.views.board import TOP


def register(environment: jinja2.Environment) -> None:
    """Give ``environment`` its filters, and the limits that pages mention."""
    environment.filters["cut"] = cut
    environment.filters["moves"] = moves
    environment.filters["rounded"] = rounded
    environment.globals |= {"top": TOP, "many": MANY}


def moves(changes: Sequence[Any]) -> tuple[list[list[Any]], list[list[Any]]]:
    """Changes of what moved, by entry: those with another score, and those with a rank alone."""
    groups = [list(group) for _, group in groupby(changes, key=lambda change: change.id)]
    scored = [group for group in groups if any(one.old != one.new for one in group)]
    return scored, [group for group in groups if all(one.old == one.new for one in group)]
