"""Which inputs explain a latent and which test the explanation, metrics §4.

Everything happens in the order of the ids, so that the order of the rows cannot matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark.judges.protocol import JudgeProtocol
from benchmark.metrics import InputError
from benchmark.metrics.arrays import codes_float32

REASONS = (
    "too few examples to explain",
    "too few strong examples",
    "too few middling examples",
    "too few inactive or weak examples",
    "strong and middling examples tie",
    "middling and weak examples tie",
)
"""Why an alive latent cannot be judged, in the order in which it is looked for."""

_ELIGIBLE = -1


@dataclass(frozen=True)
class Trial:
    """Three inputs to put in order.

    Attributes:
        rows: (3,) rows of the codes in the order shown.
        truth: positions in ``rows``, strongest activation first.
    """

    rows: tuple[int, int, int]
    truth: tuple[int, int, int]


@dataclass(frozen=True)
class Selection:
    """What a judge is shown of one latent.

    Attributes:
        explain: rows of the strongest inputs, strongest first.
        trials: the trials, none of whose inputs is among ``explain`` or the same as one there.
        activation: row → the latent's activation, of every row shown.
        weak: the third input of each trial is weakly active, too few being inactive.
    """

    explain: tuple[int, ...]
    trials: tuple[Trial, ...]
    activation: dict[int, float] = field(repr=False)
    weak: bool


@dataclass(frozen=True)
class _Column:
    """The active groups of one latent, strongest first: their row (by place), number, value."""

    places: np.ndarray
    groups: np.ndarray
    values: np.ndarray


class Examples:
    """Selects inputs for every latent of one set of codes.

    Args:
        codes: (N, d) of the rows that are judged.
        ids: N names, each once; rows are taken in their order.
        groups: int (N,): rows of one group show the same input and count once, by their largest
            activation (ties: the first id). None where all rows differ.
        protocol: how many inputs, and the seed.

    Raises:
        InputError: ids or groups that do not fit the codes, an id twice.
    """

    def __init__(
        self,
        codes: Any,
        ids: Sequence[str],
        groups: np.ndarray | None = None,
        protocol: JudgeProtocol | None = None,
    ) -> None:
        self.protocol = protocol or JudgeProtocol()
        values = sp.csr_array(codes_float32(codes, "codes"))
        rows = values.shape[0]
        if len(ids) != rows or (groups is not None and np.shape(groups) != (rows,)):
            raise InputError(f"codes have {rows} rows; expected an id and a group for each")
        by_id = np.array(sorted(range(rows), key=ids.__getitem__), np.int64)
        for first, second in zip(by_id[:-1].tolist(), by_id[1:].tolist(), strict=True):
            if ids[first] == ids[second]:
                raise InputError(f"id {ids[first]!r} stands for two rows; expected each once")
        group = _numbered(np.arange(rows) if groups is None else np.asarray(groups)[by_id])
        # rows of one group beside each other, groups by their first id
        order = np.argsort(group, kind="stable")
        self._place = order
        self._row = by_id[order]
        self._starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        self._sizes = np.diff(self._starts, append=rows)
        columns = values[self._row].tocsc()
        columns.sort_indices()
        self._reduce(columns, group[order])

    def _reduce(self, columns: Any, group: np.ndarray) -> None:
        """Keep the strongest row of each group in each column; the first of equal ones."""
        owner = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
        own = group[columns.indices]
        new = np.ones(len(own), bool)
        new[1:] = (own[1:] != own[:-1]) | (owner[1:] != owner[:-1])
        begin = np.flatnonzero(new)
        entry = begin
        if len(begin) < len(own):
            number = np.cumsum(new) - 1
            best = np.maximum.reduceat(columns.data, begin)
            hits = np.flatnonzero(columns.data == best[number])
            entry = hits[np.flatnonzero(np.diff(number[hits], prepend=-1))]
        self._index = columns.indices[entry].astype(np.int64)
        self._group, self._value = own[entry], columns.data[entry]
        counts = np.bincount(owner[entry], minlength=columns.shape[1])
        self._indptr = np.concatenate([[0], np.cumsum(counts)])

    @property
    def active(self) -> np.ndarray:
        """Distinct inputs on which each latent is active, int (d,)."""
        return np.asarray(np.diff(self._indptr))

    @cached_property
    def reason(self) -> np.ndarray:
        """Index in ``REASONS`` of what makes each latent ineligible, int (d,); -1 for none."""
        protocol, rest = self.protocol, self.active - self.protocol.explain
        weak = len(self._starts) - self.active < protocol.trials
        third = np.where(weak, rest // 10, len(self._starts) - self.active)
        middling = rest * 3 // 5 - -(-rest * 2 // 5) + 1
        found = np.full(len(rest), _ELIGIBLE)
        least = protocol.least
        for number, few in reversed(
            list(enumerate((rest < 0, rest // 5 < least, middling < least, third < least)))
        ):
            found[few] = number
        for latent in np.flatnonzero(found == _ELIGIBLE):
            found[latent] = self._tied(int(latent), bool(weak[latent]))
        return found

    def _tied(self, latent: int, weak: bool) -> int:
        values = self._value[self._indptr[latent] : self._indptr[latent + 1]]
        rest = np.sort(values)[::-1][self.protocol.explain :]
        strong, middling, last = _bins(len(rest))
        if not rest[strong][-1] > rest[middling][0]:
            return 4
        return 5 if weak and not rest[middling][-1] > rest[last][0] else _ELIGIBLE

    @property
    def eligible(self) -> np.ndarray:
        """Latents with enough inputs of every kind, bool (d,)."""
        return np.asarray(self.reason == _ELIGIBLE)

    def select(self, latent: int) -> Selection:
        """Inputs of one eligible latent; drawn with (seed, latent)."""
        if self.reason[latent] != _ELIGIBLE:
            raise InputError(f"latent {latent} cannot be judged: {REASONS[self.reason[latent]]}")
        protocol, column = self.protocol, self._column(latent)
        draw = np.random.default_rng([protocol.seed, latent])
        rest = slice(protocol.explain, None)
        places = column.places[rest]
        strong, middling, last = _bins(len(places))
        inactive = np.setdiff1d(np.arange(len(self._starts)), column.groups, assume_unique=True)
        weak = len(inactive) < protocol.trials
        chosen = [
            places[strong][_draws(len(places[strong]), protocol.trials, draw)],
            places[middling][_draws(len(places[middling]), protocol.trials, draw)],
        ]
        if weak:
            chosen.append(places[last][_draws(len(places[last]), protocol.trials, draw)])
        else:
            groups = inactive[_draws(len(inactive), protocol.trials, draw)]
            chosen.append(self._starts[groups] + draw.integers(0, self._sizes[groups]))
        table = self._row[np.stack(chosen, axis=1)]
        trials = tuple(_shuffled(three, draw.permutation(3)) for three in table)
        active = dict(zip(self._row[column.places].tolist(), column.values.tolist(), strict=True))
        explain = tuple(self._row[column.places[: protocol.explain]].tolist())
        shown = {*explain, *table.ravel().tolist()}
        return Selection(explain, trials, {row: active.get(row, 0.0) for row in shown}, weak)

    def _column(self, latent: int) -> _Column:
        part = slice(self._indptr[latent], self._indptr[latent + 1])
        places, values = self._index[part], self._value[part]
        order = np.lexsort((self._place[places], -values))
        return _Column(places[order], self._group[part][order], values[order])


def _numbered(groups: np.ndarray) -> np.ndarray:
    """Groups renumbered by where each comes first."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])


def _bins(count: int) -> tuple[slice, slice, slice]:
    """Top 20 %, 40th to 60th percentile and bottom 10 % of ``count`` sorted inputs."""
    middling = slice(-(-count * 2 // 5), count * 3 // 5 + 1)
    return slice(0, count // 5), middling, slice(count - count // 10, count)


def _draws(size: int, wanted: int, draw: np.random.Generator) -> np.ndarray:
    """``wanted`` of ``size`` things: none twice before all were drawn."""
    parts: list[np.ndarray] = []
    while wanted > 0:
        parts.append(draw.choice(size, min(size, wanted), replace=False))
        wanted -= size
    return np.concatenate(parts)


def _shuffled(three: np.ndarray, order: np.ndarray) -> Trial:
    """A trial showing ``three`` (strongest first) in ``order``."""
    rows, truth = three[order].tolist(), np.argsort(order).tolist()
    return Trial((rows[0], rows[1], rows[2]), (truth[0], truth[1], truth[2]))


def sample_latents(
    eligible: np.ndarray, quartile: np.ndarray, protocol: JudgeProtocol
) -> dict[int, list[int]]:
    """Quartile → the latents to judge, ascending; drawn with (seed, quartile).

    Args:
        eligible: bool (d,).
        quartile: int (d,), 1 to 4, 0 for dead latents.
        protocol: how many, and the seed.
    """
    found = {}
    for number in (1, 2, 3, 4):
        pool = np.flatnonzero(eligible & (quartile == number))
        draw = np.random.default_rng([protocol.seed, number])
        chosen = draw.choice(pool, min(len(pool), protocol.per_quartile), replace=False)
        found[number] = sorted(chosen.tolist())
    return found
