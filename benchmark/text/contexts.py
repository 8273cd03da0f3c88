"""Showing a token where it stands: whole contexts with the token in ``«…»``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmark.errors import UserError
from benchmark.judges.base import Example
from benchmark.text.tokens import Context

if TYPE_CHECKING:
    from benchmark.datasets import Dataset

WINDOW = 40
"""Tokens shown on either side of the marked one, at most."""

OPEN, CLOSE = "«", "»"
_OWN_MARKS = str.maketrans({OPEN: "‹", CLOSE: "›"})
_GAP = re.compile(r"\n\s*\n")
_SPACES = re.compile(r"[ \t]{2,}")
_SEEN = {"\n": "⏎", "\t": "⇥", "\r": "⏎"}


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts behind the rows of a dataset: rows follow contexts, then tokens."""

    contexts: Sequence[Context]

    @cached_property
    def first(self) -> np.ndarray:
        """int64 (C + 1,): first row of every context, and the number of rows."""
        sizes = [0, *(len(context.places) for context in self.contexts)]
        return np.cumsum(np.array(sizes, np.int64))

    @cached_property
    def groups(self) -> np.ndarray:
        """int64 (N,): number of the context of every row."""
        return np.repeat(np.arange(len(self.contexts)), np.diff(self.first))

    def find(self, row: int) -> tuple[int, int]:
        """Number of the context of a row, and which of its tokens it is."""
        row = range(int(self.first[-1]))[row]
        context = int(np.searchsorted(self.first, row, side="right")) - 1
        return context, row - int(self.first[context])

    def marked(self, row: int) -> str:
        """The context of a row as text, the row's token in ``«…»``.

        At most ``WINDOW`` tokens stand on either side, with an ellipsis where more was cut.
        Space before the token stays outside the marks; a token of white space alone is shown by
        a sign. Marks of the text itself become ``‹›``.
        """
        number, token = self.find(row)
        context = self.contexts[number]
        starts, stops = context.spans[:, 0], context.spans[:, 1]
        low, high = token - WINDOW, token + WINDOW
        begin = int(starts[low]) if low > 0 else 0
        end = int(stops[high]) if high < len(stops) - 1 else len(context.text)
        start, stop = int(starts[token]), int(stops[token])
        inner = context.text[start:stop]
        space = inner[: len(inner) - len(inner.lstrip())] if inner.strip() else ""
        before = _readable(context.text[begin:start] + space).lstrip()
        after = _readable(context.text[stop:end]).rstrip()
        shown = inner[len(space) :].translate(_OWN_MARKS)
        shown = "".join(_SEEN.get(sign, sign) for sign in shown)
        head, tail = "…" if low > 0 else "", "…" if high < len(stops) - 1 else ""
        return f"{head}{before}{OPEN}{shown}{CLOSE}{after}{tail}"


def _readable(text: str) -> str:
    text = _GAP.sub("\n", text.translate(_OWN_MARKS).replace("\r", ""))
    return _SPACES.sub(" ", text)


class TokenIds(Sequence[str]):
    """Names of the rows, ``document/context/position``, made when they are asked for."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    def __len__(self) -> int:
        return int(self._contexts.first[-1])

    def __getitem__(self, index: int) -> str:  # type: ignore[override]
        number, token = self._contexts.find(index)
        context = self._contexts.contexts[number]
        return f"{context.document}/{number}/{int(context.places[token])}"


class ContextExamples:
    """Rows of a text dataset as a judge is shown them; rows of one context are one group."""

    def __init__(self, dataset: Dataset, rows: np.ndarray) -> None:
        if dataset.contexts is None:
            raise UserError(f"dataset {dataset.name} holds no token contexts")
        self._contexts = dataset.contexts
        self._rows = np.asarray(rows, np.int64)
        self.ids: Sequence[str] = [dataset.ids[row] for row in self._rows.tolist()]
        self.groups: np.ndarray = np.asarray(dataset.contexts.groups)[self._rows]

    def example(self, row: int) -> Example:
        """Row ``row`` of the rows given, its token marked in its context."""
        return Example(self.ids[row], text=self._contexts.marked(int(self._rows[row])))
