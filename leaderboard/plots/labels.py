"""Placing direct labels so that they neither touch each other nor hide a mark."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Box:
    """An axis-parallel rectangle in px."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def inside(self, other: "Box") -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass
class Placer:
    """Takes the first free place around a point; ``taken`` grows with every placed label.

    ``lines`` are covered only where there is no other place.
    """

    frame: Box
    taken: list[Box] = field(default_factory=list)
    lines: list[Box] = field(default_factory=list)

    def block(self, x: float, y: float, reach: float) -> None:
        """Keep labels off a mark."""
        self.taken.append(Box(x - reach, y - reach, x + reach, y + reach))

    def avoid(self, left: float, top: float, right: float, bottom: float) -> None:
        """Keep labels off a line where they have another place."""
        self.lines.append(Box(left - 1, top - 1, right + 1, bottom + 1))

    def place(self, x: float, y: float, width: float, height: float) -> Box | None:
        """A free box of that size near (x, y), or None."""
        for hidden in ([*self.taken, *self.lines], self.taken):
            if box := self._free(x, y, width, height, hidden):
                self.taken.append(box)
                return box
        return None

    def _free(
        self, x: float, y: float, width: float, height: float, hidden: Sequence[Box]
    ) -> Box | None:
        for distance in (7.0, 14.0, 24.0, 38.0):
            for dx, dy in _DIRECTIONS:
                left = x + dx * distance - (width if dx < 0 else width / 2 if dx == 0 else 0)
                top = y + dy * distance - (height if dy < 0 else height / 2 if dy == 0 else 0)
                box = Box(left, top, left + width, top + height)
                if box.inside(self.frame) and not any(box.touches(other) for other in hidden):
                    return box
        return None


_DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))


def spread_out(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions moved apart to at least ``gap``, in the same order, as near as that allows.

    They stay within ``low`` and ``high`` where there is room for all.
    """
    order = sorted(range(len(positions)), key=lambda index: (positions[index], index))
    placed: list[float] = []
    for index in order:
        wanted = max(positions[index], low)
        placed.append(max(wanted, placed[-1] + gap) if placed else wanted)
    for k in range(len(placed) - 1, -1, -1):
        limit = high if k == len(placed) - 1 else placed[k + 1] - gap
        placed[k] = min(placed[k], limit)
    result = [0.0] * len(positions)
    for index, position in zip(order, placed, strict=True):
        result[index] = position
    return result
