"""Records by the board they belong to, whatever the state of the data they were measured on."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from benchmark.states import State, newest_states, state_of

M = TypeVar("M", bound=Any)


def newest_by_place(measured: Iterable[Any]) -> Mapping[str, State]:
    """Place → the state of its data that was measured last, by the submissions' results."""
    return newest_states(
        (each.origin.place, each.record.document)
        for each in measured
        if each.origin.place is not None
    )


def by_board(measured: Sequence[M], key: Callable[[Any, State], str]) -> Mapping[str, list[M]]:
    """Records by the board they belong to; those of older data are marked and stay with the newest.

    Args:
        measured: dataclasses with ``record`` and ``origin``.
        key: names the board of a record, its data taken to be the second argument.
    """
    newest = newest_by_place(measured)
    groups: dict[str, list[M]] = defaultdict(list)
    for each in measured:
        data, place = state_of(each.record.document), each.origin.place
        now = data if place is None else newest[place]
        origin = replace(each.origin, older_data=now != data)
        groups[key(each.record, now)].append(replace(each, origin=origin))
    return groups
