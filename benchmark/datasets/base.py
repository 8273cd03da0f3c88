"""What a dataset is, whatever folder or archive it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, Protocol, TypeVar

import numpy as np
from PIL import Image

from benchmark.datasets.fingerprint import ImageRow, PairRow, fingerprint
from benchmark.errors import UserError

Row = TypeVar("Row", ImageRow, PairRow)


class ImageSequence(Protocol):
    """Pictures by row number, read when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Image.Image:
        """Row ``index`` decoded to RGB."""

    def __iter__(self) -> Iterator[Image.Image]: ...

    def encoded(self, index: int) -> bytes:
        """Row ``index`` as the bytes that the dataset holds."""


@dataclass(frozen=True)
class Pair:
    """A picture and its edit; ``present`` is bool (A,): the concepts seen in ``base``."""

    id: str
    base: Image.Image
    edited: Image.Image
    added: int | None
    removed: int | None
    present: np.ndarray


@dataclass(frozen=True, eq=False)
class PairSequence(Sequence[Pair]):
    """P edit pairs; the columns are at hand without decoding a picture.

    Attributes:
        ids: P names.
        base, edited: P pictures each.
        added, removed: P concept indices, None where the edit adds or removes nothing.
        present: bool (P, A), the concepts seen in the base pictures.
        sources: P names of the pictures that the base pictures were made from, as ``locate`` of
            the dataset they come from understands them; empty where nothing is known.
    """

    ids: tuple[str, ...]
    base: ImageSequence
    edited: ImageSequence
    added: tuple[int | None, ...]
    removed: tuple[int | None, ...]
    present: np.ndarray = field(repr=False)
    sources: tuple[str | None, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> Pair:  # type: ignore[override]
        row = range(len(self))[index]
        return Pair(
            self.ids[row],
            self.base[row],
            self.edited[row],
            self.added[row],
            self.removed[row],
            self.present[row],
        )


@dataclass(frozen=True, eq=False)
class Activations:
    """What a dataset of activations holds in place of pictures.

    Attributes:
        images: float32 (N, D), row i annotated by ``annotations[i]``.
        base, edited: float32 (P, D), both sides of the pairs.
        encoder: what a record says of the model they are from; None where there is none.
    """

    images: np.ndarray
    base: np.ndarray
    edited: np.ndarray
    encoder: Mapping[str, Any] | None = None


class TokenContexts(Protocol):
    """Where the rows of a dataset of text activations stand."""

    @property
    def groups(self) -> np.ndarray:
        """int64 (N,): number of the context of every row."""
        ...

    def marked(self, row: int) -> str:
        """The context of a row as text, the row's token in ``«…»``."""
        ...


@dataclass(frozen=True, eq=False)
class Dataset:
    """N annotated pictures with A concepts, their splits, and edit pairs where there are any.

    A dataset that holds pairs only has no pictures of its own (N = 0) and no splits.

    Attributes:
        name, revision: which dataset and which version of it.
        concepts: A names, for instance ``"glasses: clear"``.
        groups: A names of the attribute that each concept is a value of.
        ids: N names.
        annotations: bool (N, A).
        images: N pictures, row i annotated by ``annotations[i]``.
        splits: rows of each split, int64.
        pairs: P edit pairs, or None.
        activations: for a dataset of activations, which needs no encoder and has no pictures.
        contexts: for a dataset of text activations, whose rows are tokens.
        notes: what was found and decided while it was read, one sentence each.
    """

    name: str
    revision: str
    concepts: tuple[str, ...]
    groups: tuple[str, ...]
    ids: Sequence[str] = field(repr=False)
    annotations: np.ndarray = field(repr=False)
    images: ImageSequence = field(repr=False)
    splits: Mapping[str, np.ndarray] = field(repr=False)
    pairs: PairSequence | None = field(default=None, repr=False)
    activations: Activations | None = field(default=None, repr=False)
    contexts: TokenContexts | None = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def split(self, name: str) -> np.ndarray:
        """Row numbers of a split (int64), ``"match"`` or ``"score"``; ``UserError`` if unknown."""
        if not self.splits:
            raise UserError(
                f"dataset {self.name} holds edit pairs only; use it beside the dataset of its "
                f"pictures: --dataset NAME --pairs {self.name}"
            )
        if name not in self.splits:
            known = ", ".join(sorted(self.splits))
            raise UserError(f"dataset {self.name} has no split {name!r}; known: {known}")
        return self.splits[name]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the full content (``benchmark.datasets.fingerprint``), worked out once."""
        return self.hash_content()

    def hash_content(self, progress: Callable[[int, int], None] | None = None) -> str:
        """The fingerprint, worked out from every byte now; ``progress`` gets rows done and all."""
        total = sum(map(len, self.splits.values())) + len(self.pairs or ())
        done = count(1)

        def counted(rows: Iterator[Row]) -> Iterator[Row]:
            for row in rows:
                if progress is not None:
                    progress(next(done), total)
                yield row

        return fingerprint(self.concepts, counted(self._image_rows()), counted(self._pair_rows()))

    def locate(self, source: str) -> int | None:
        """Row of the picture that a pair names as its source, None if it is not here."""
        return self._rows_by_id.get(source)

    @cached_property
    def _rows_by_id(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.ids)}

    def _image_rows(self) -> Iterator[ImageRow]:
        for split in sorted(self.splits):
            for row in self.splits[split].tolist():
                labels = np.flatnonzero(self.annotations[row]).tolist()
                yield ImageRow(split, self.ids[row], self.images.encoded(row), labels)

    def _pair_rows(self) -> Iterator[PairRow]:
        pairs = self.pairs
        for row in range(0 if pairs is None else len(pairs)):
            assert pairs is not None
            yield PairRow(
                pairs.ids[row],
                pairs.base.encoded(row),
                pairs.edited.encoded(row),
                pairs.added[row],
                pairs.removed[row],
                np.flatnonzero(pairs.present[row]).tolist(),
            )
