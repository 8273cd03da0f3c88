"""A grid of signed differences: where the real images have more, and where the generated ones."""

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.svg import figure, short, tag

SIDE = 132.0
_LEVELS = 10


def region_map(key: str, name: str, cells: Sequence[Sequence[float]], most: float) -> Markup | None:
    """The grid with full colour at ``most``; None where it has no cells.

    Args:
        key: prefix of the ids in the SVG.
        name: of the attribute.
        cells: rows of real minus generated, from the top.
        most: the largest magnitude of all grids beside each other, above 0.
    """
    if not cells or not cells[0] or most <= 0:
        return None
    height, width = SIDE / len(cells), SIDE / len(cells[0])
    paths: dict[str, list[str]] = defaultdict(list)
    for row, values in enumerate(cells):
        for column, value in enumerate(values):
            shade = min(_LEVELS - 1, int(abs(value) / most * _LEVELS))
            sign = "more-real" if value > 0 else "more-generated"
            corner = f"M{column * width:.2f} {row * height:.2f}"
            outline = f"{corner}h{width:.2f}v{height:.2f}h-{width:.2f}z"
            paths[f"cell {sign} f{shade}"].append(outline)
    body = [tag("path", d="".join(found), cls=cls) for cls, found in sorted(paths.items())]
    flat = [value for values in cells for value in values]
    text = (
        f"Grid of {len(cells)} by {len(cells[0])} cells, real minus generated, from "
        f"{rounded(min(flat))} to {rounded(max(flat))}."
    )
    return figure(key, (SIDE, SIDE), f"R-SaD of {short(name, 60)} by place", text, body)
