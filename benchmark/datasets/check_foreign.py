"""Checks of a dataset in the layout of its makers.

Data of others comes as it is. What cannot be read, or is an edit that changes nothing, is a
problem; what a reader of a score should know (a concept without positives, a picture that is in two
places) is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmark.datasets.base import Dataset, ImageSequence
from benchmark.errors import UserError
from benchmark.images import pixel_sha256

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many rows are done, and how many there are."""


@dataclass
class CheckReport:
    """What was looked at and all that is wrong with it; sound when ``problems`` is empty."""

    name: str
    counts: dict[str, int] = field(default_factory=dict)
    fingerprint: str | None = None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def counts_of(dataset: Dataset) -> dict[str, int]:
    """Rows of each split, pairs and concepts."""
    counts = {split: len(rows) for split, rows in dataset.splits.items()}
    return counts | {"pairs": len(dataset.pairs or ()), "concepts": len(dataset.concepts)}


def check_foreign(dataset: Dataset, progress: Progress | None = None) -> CheckReport:
    """Decode every picture and hash every byte."""
    report = CheckReport(dataset.name, counts_of(dataset))
    report.notes = [*dataset.notes, *_bare_concepts(dataset)]
    alike: Counter[tuple[str, str]] = Counter()
    seen: dict[str, tuple[str, int]] = {}
    tables = _tables(dataset)
    total, done = sum(len(rows) for _, _, rows in tables), 0
    for where, images, rows in tables:
        for row in rows:
            done += 1
            if progress is not None:
                progress("decoding", done, total)
            try:
                digest = pixel_sha256(images[row])
            except UserError as error:
                report.problems.append(str(error))
                continue
            first, place = seen.setdefault(digest, (where, row))
            if (first, place) == (where, row):
                continue
            if (first, where) == ("base", "edited") and place == row:
                assert dataset.pairs is not None
                name = dataset.pairs.ids[row]
                report.problems.append(f"pair {name}: the edited picture is the base picture")
            elif (first, where) != ("base", "base"):  # one photograph may have several edits
                alike[first, where] += 1
    report.notes += [
        f"{count:,} pictures of {where} have the same pixels as another of {first}"
        for (first, where), count in sorted(alike.items())
    ]
    if not report.problems:
        told = None if progress is None else lambda now, all_: progress("hashing", now, all_)
        report.fingerprint = dataset.hash_content(told)
    return report


def _tables(dataset: Dataset) -> list[tuple[str, ImageSequence, list[int]]]:
    tables = [(split, dataset.images, rows.tolist()) for split, rows in dataset.splits.items()]
    if (pairs := dataset.pairs) is not None:
        rows = list(range(len(pairs)))
        tables += [("base", pairs.base, rows), ("edited", pairs.edited, rows)]
    return tables


def _bare_concepts(dataset: Dataset) -> list[str]:
    notes = []
    for split, rows in dataset.splits.items():
        positives = dataset.annotations[rows].sum(axis=0)
        for what, bare in (("positives", positives == 0), ("negatives", positives == len(rows))):
            if bare.any():
                first = dataset.concepts[int(bare.argmax())]
                notes.append(
                    f"{split}: {int(bare.sum()):,} concepts without {what}, the first {first!r}"
                )
    return notes
