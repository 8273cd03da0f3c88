"""What coalitions do between the two images of each pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from benchmark.metrics.arrays import (
    BoolArray,
    Codes,
    FloatArray,
    InputError,
    IntArray,
    whole_number,
)
from benchmark.metrics.matching import Coalition


@dataclass(frozen=True)
class Pairs:
    """What each pair changes: concept indices (P,), −1 where it adds or removes nothing."""

    added: IntArray
    removed: IntArray

    @property
    def kind(self) -> IntArray:
        """Kind of each pair, (P,): 0 changes nothing, 1 adds, 2 removes, 3 swaps."""
        return (self.added >= 0) + 2 * (self.removed >= 0).astype(np.int64)


def check_pairs(
    added: Sequence[int | None], removed: Sequence[int | None], n_pairs: int, n_concepts: int
) -> Pairs:
    """Checked changes of the pairs, or one ``InputError`` that names the pair at fault."""
    columns = [
        _check_column(name, column, n_pairs, n_concepts)
        for name, column in (("added", added), ("removed", removed))
    ]
    same = np.flatnonzero((columns[0] == columns[1]) & (columns[0] >= 0))
    if same.size:
        raise InputError(
            f"pair {same[0]}: added and removed are both concept {columns[0][same[0]]}; "
            "a pair changes a concept or swaps two"
        )
    return Pairs(columns[0], columns[1])


def _check_column(
    name: str, column: Sequence[int | None], n_pairs: int, n_concepts: int
) -> IntArray:
    if len(column) != n_pairs:
        raise InputError(f"{name}: {len(column)} entries for {n_pairs} pairs")
    checked = np.full(n_pairs, -1, np.int64)
    for row, concept in enumerate(column):
        if concept is None:
            continue
        index = whole_number(concept)
        if index is None or not 0 <= index < n_concepts:
            raise InputError(
                f"{name}: pair {row} names concept {concept!r}; "
                f"expected None or a whole number from 0 to {n_concepts - 1}"
            )
        checked[row] = index
    return checked


class PairStates:
    """Coalitions before and after the edits.

    A latent's state is 0 or 1 (active), or with ``scale`` its code over its scale, clipped to
    [0, 1]; a coalition's state is the largest of its latents', 0 where it has none.

    Attributes:
        change: state after minus before, float64 (P, A).
        sizes: latents of each coalition, (A,).
    """

    def __init__(
        self,
        before: Codes,
        after: Codes,
        coalitions: Sequence[Coalition],
        scale: FloatArray | None,
    ) -> None:
        used = np.array(sorted({j for c in coalitions for j in c or ()}), np.int64)
        place = {int(latent): position for position, latent in enumerate(used)}
        self._members = [frozenset(place[j] for j in c or ()) for c in coalitions]
        self._states = tuple(_states(values, used, scale) for values in (before, after))
        self.sizes = np.array([len(members) for members in self._members], np.int64)
        self._n_pairs = before.shape[0]
        changes = [self._change(members) for members in self._members]
        self.change = np.array(changes).reshape(len(changes), self._n_pairs).T

    def _change(self, members: frozenset[int]) -> FloatArray:
        if not members:
            return np.zeros(self._n_pairs)
        latents = np.fromiter(members, np.int64)
        before, after = (states[latents].max(axis=0) for states in self._states)
        return after - before

    def deltas(self, pairs: Pairs) -> tuple[FloatArray, FloatArray, BoolArray, BoolArray]:
        """δ_add and δ_rem (P,), NaN where a pair has no such side; and where they have no latents.

        Latents in both coalitions of a pair are taken out of both.
        """
        deltas = np.full((2, len(pairs.added)), np.nan)
        empty = np.zeros((2, len(pairs.added)), bool)
        columns = (pairs.added, pairs.removed)
        for side, column in enumerate(columns):
            rows = np.flatnonzero(column >= 0)
            deltas[side, rows] = self.change[rows, column[rows]]
            empty[side, rows] = self.sizes[column[rows]] == 0
        swaps = np.unique(np.stack(columns, axis=1)[pairs.kind == 3], axis=0)
        for swap in swaps:
            members = [self._members[concept] for concept in swap]
            if not members[0] & members[1]:
                continue
            rows = np.flatnonzero((pairs.added == swap[0]) & (pairs.removed == swap[1]))
            for side, own in enumerate((members[0] - members[1], members[1] - members[0])):
                deltas[side, rows] = self._change(own)[rows]
                empty[side, rows] = not own
        return deltas[0], deltas[1], empty[0], empty[1]


def _states(values: Codes, used: IntArray, scale: FloatArray | None) -> FloatArray:
    """States of the used latents, float64 (used, P): one contiguous row a latent."""
    part = values[:, used].T
    dense = np.asarray(part.toarray() if sp.issparse(part) else part, np.float64, order="C")
    if scale is None:
        return (dense > 0).astype(np.float64)
    own = np.asarray(scale, np.float64)[used][:, None]
    return np.clip(np.divide(dense, own, out=np.zeros_like(dense), where=own > 0), 0.0, 1.0)
