"""Points too many for an element and a label each: dots by architecture, and what they mean."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from leaderboard.plots.svg import (
    OTHERS,
    architecture_index,
    architecture_label,
    label,
    mark,
    short,
    tag,
    text_width,
)

_LINE = 18.0


def dots(points: Iterable[tuple[str, float, float]]) -> list[Markup]:
    """One path of dots an architecture: an element each would cost megabytes.

    Args:
        points: architecture and place in px; those that coincide are drawn once.
    """
    paths: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for architecture, x, y in points:
        paths[architecture_index(architecture)].add((f"{x:.1f}", f"{y:.1f}"))
    return [
        tag("path", d="".join(f"M{x} {y}h0" for x, y in sorted(found)), cls=f"dots s{index}")
        for index, found in sorted(paths.items())
    ]


def legend(
    architectures: Sequence[str], left: float, top: float, width: float
) -> tuple[list[Markup], float]:
    """Marks with their names, in as many lines as it takes, and the height of these.

    Architectures without a colour of their own share one entry.
    """
    names = sorted(set(architectures), key=lambda name: (architecture_index(name), name))
    known = [name for name in names if architecture_index(name) < OTHERS]
    entries = [(name, short(architecture_label(name))) for name in known]
    if rest := names[len(known) :]:
        entries.append((rest[0], short(rest[0]) if len(rest) == 1 else "other architectures"))
    body, x, y = [], left, top
    for name, text in entries:
        room = 26 + text_width(text)
        if x > left and x + room > width:
            x, y = left, y + _LINE
        body += [mark(name, x + 5, y - 4), label(x + 14, y, text, "note")]
        x += room
    return body, y - top + _LINE + 2
