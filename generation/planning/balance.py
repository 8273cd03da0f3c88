"""Choosing edits so that concepts, pictures and classes all have their share."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from generation.planning.pictures import draw


@dataclass(frozen=True)
class Candidate:
    """An edit that could be planned.

    Attributes:
        base: id of the base picture.
        class_name: its class.
        group: what the concepts are values of; a picture has one edit of each group at most.
    """

    base: str
    class_name: str | None
    removed: str | None
    added: str | None
    group: str

    @property
    def target(self) -> str:
        """The concept that the choice is balanced over: the added one, else the removed one."""
        target = self.added if self.added is not None else self.removed
        assert target is not None
        return target


@dataclass
class Shares:
    """How often each thing was chosen so far."""

    bases: Counter[str] = field(default_factory=Counter)
    classes: Counter[str | None] = field(default_factory=Counter)
    removed: Counter[str | None] = field(default_factory=Counter)
    taken: set[tuple[str, str]] = field(default_factory=set)

    def of(self, candidate: Candidate) -> tuple[int, int, int]:
        """What a candidate's things have had; the least goes first. Never falls."""
        return (
            self.bases[candidate.base],
            self.classes[candidate.class_name],
            self.removed[candidate.removed],
        )

    def add(self, candidate: Candidate) -> None:
        """Count a chosen candidate."""
        self.bases[candidate.base] += 1
        self.classes[candidate.class_name] += 1
        self.removed[candidate.removed] += 1
        self.taken.add((candidate.base, candidate.group))


def choose(
    candidates: Iterable[Candidate], count: int, seed: int, shares: Shares | None = None
) -> list[Candidate]:
    """Up to ``count`` candidates; the first ``n`` of them are what ``count=n`` would give.

    In turn, the concept chosen least often so far takes of its candidates the one whose picture,
    class and removed concept were chosen least often, in this order; ties are drawn by seed. The
    order of the candidates does not matter.

    Args:
        shares: what was chosen before, and is added to.
    """
    shares = Shares() if shares is None else shares
    heaps: dict[str, list[tuple[tuple[int, int, int], str, Candidate]]] = {}
    for each in candidates:
        key = draw(seed, each.base, each.removed or "", each.added or "")
        heaps.setdefault(each.target, []).append((shares.of(each), key, each))
    for heap in heaps.values():
        heapq.heapify(heap)
    turns = [(0, draw(seed, target), target) for target in heaps]
    heapq.heapify(turns)
    chosen: list[Candidate] = []
    while turns and len(chosen) < count:
        times, key, target = heapq.heappop(turns)
        best = _take(heaps[target], shares)
        if best is not None:
            chosen.append(best)
            shares.add(best)
            heapq.heappush(turns, (times + 1, key, target))
    return chosen


def _take(
    heap: list[tuple[tuple[int, int, int], str, Candidate]], shares: Shares
) -> Candidate | None:
    """The best candidate, taken out. Shares only grow, so an entry that is up to date is best."""
    while heap:
        share, key, candidate = heapq.heappop(heap)
        if (candidate.base, candidate.group) in shares.taken:
            continue
        if shares.of(candidate) == share:
            return candidate
        heapq.heappush(heap, (shares.of(candidate), key, candidate))
    return None
