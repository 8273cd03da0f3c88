"""The Pareto front of points of which more is better in both directions."""

from collections.abc import Sequence

Point = tuple[float, float]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """Indices of the points that no other beats in one direction without losing in the other.

    Equal points are on the front together. By falling first coordinate, then by index.
    """
    order = sorted(range(len(points)), key=lambda i: (-points[i][0], -points[i][1], i))
    front: list[int] = []
    best = float("-inf")
    for index in order:
        x, y = points[index]
        if y > best or (front and points[front[-1]] == (x, y)):
            front.append(index)
            best = max(best, y)
    return front


def stairs(points: Sequence[Point], low: Point) -> list[Point]:
    """Corners of the line that bounds what the front ``points`` reach, from edge to edge.

    Args:
        points: the front in data coordinates, in any order.
        low: where the line leaves the plot, at its left and at its bottom.
    """
    ordered = sorted(set(points), key=lambda point: (-point[0], point[1]))
    corners = [(ordered[0][0], low[1])]
    for (x, y), following in zip(ordered, [*ordered[1:], None], strict=True):
        corners.append((x, y))
        corners.append((following[0] if following else low[0], y))
    return corners
