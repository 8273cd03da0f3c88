"""How far reviewers agree: Cohen's kappa of every two, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from generation.reviewing.queue import WORDS
from generation.work import Decision

Reviews = Mapping[str, Mapping[str, Decision]]


@dataclass(frozen=True)
class Agreement:
    """Two reviewers.

    Attributes:
        one, other: their names.
        both: pairs that both decided on.
        same: share of these with the same decision; None where there are none.
        kappa: Cohen's, of three unordered decisions; None where it is not defined.
        reason: why not.
    """

    one: str
    other: str
    both: int
    same: float | None
    kappa: float | None
    reason: str | None

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        return asdict(self)


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Agreement beyond chance (Cohen, 1960): ``(p_o - p_e) / (1 - p_e)``.

    Args:
        one, other: decisions on the same things, in the same order.

    Returns:
        A number in [-1, 1]; None where there is nothing, or chance alone gives agreement
        (``p_e = 1``: both always said the same one word).
    """
    n = len(one)
    words = sorted({*one, *other})
    # in whole numbers, so that p_e = 1 is met exactly
    chance = sum(one.count(word) * other.count(word) for word in words)
    if n == 0 or chance == n * n:
        return None
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return (same * n - chance) / (n * n - chance)


def agreements(reviews: Reviews) -> list[Agreement]:
    """Every two reviewers, in the order of their names."""
    found = []
    for one, other in combinations(sorted(reviews), 2):
        both = sorted(set(reviews[one]) & set(reviews[other]))
        first, second = ([reviews[name][edit].decision for edit in both] for name in (one, other))
        kappa = cohen_kappa(first, second)
        same = sum(a == b for a, b in zip(first, second, strict=True))
        reason = None
        if kappa is None:
            reason = "both always said the same word" if both else "no pair decided on by both"
        found.append(
            Agreement(one, other, len(both), same / len(both) if both else None, kappa, reason)
        )
    return found


def disagreements(reviews: Reviews) -> dict[str, dict[str, Decision]]:
    """Pairs on which reviewers differ: their decisions, by edit and reviewer."""
    by_edit: dict[str, dict[str, Decision]] = {}
    for name in sorted(reviews):
        for edit, decision in reviews[name].items():
            by_edit.setdefault(edit, {})[name] = decision
    return {
        edit: found
        for edit, found in by_edit.items()
        if len({each.decision for each in found.values()}) > 1
    }


def tallies(reviews: Reviews) -> list[tuple[str, dict[str, int]]]:
    """Decisions of each reviewer by word, in the order of their names."""
    return [
        (
            name,
            {word: sum(each.decision == word for each in found.values()) for word in WORDS},
        )
        for name, found in sorted(reviews.items())
    ]


def agreement_document(
    reviews: Reviews, adjudicated: Mapping[str, Decision], reviewable: int
) -> dict[str, Any]:
    """All of it as JSON holds it."""
    open_, differ = 0, disagreements(reviews)
    open_ = sum(edit not in adjudicated for edit in differ)
    return {
        "pairs": reviewable,
        "reviewers": [{"reviewer": name, **counts} for name, counts in tallies(reviews)],
        "agreement": [each.as_dict() for each in agreements(reviews)],
        "disagreements": {"all": len(differ), "adjudicated": len(differ) - open_, "open": open_},
    }
