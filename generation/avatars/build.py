"""Building synAvatars: draw by chance, reject, write at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmark import files
from benchmark.datasets.layout import CARD, MANIFEST
from benchmark.errors import UserError
from generation.avatars.sample import Base, Edit, draw_base, draw_edit
from generation.avatars.space import CONCEPTS
from generation.avatars.work import Job, Result, Workers
from generation.avatars.write import Content, Picture, PicturePair, write_folder

MIN_CHANGED_PIXELS = 30
MAX_ATTEMPTS = 50
_MAX_IMAGES = 10**6

Progress = Callable[[int, int], None]
Draft = TypeVar("Draft", Base, Edit)


@dataclass(frozen=True)
class BuildReport:
    """What a build left behind; ``rejected`` counts the drawings that were thrown away."""

    folder: Path
    fingerprint: str
    match: int
    score: int
    pairs: int
    rejected: dict[str, int]
    probes: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        return {**asdict(self), "folder": str(self.folder)}


def build(
    out: str | os.PathLike[str],
    *,
    seed: int = 0,
    match: int = 1600,
    score: int = 800,
    pairs: int = 1200,
    workers: int | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Build synAvatars into the folder ``out``, replacing an earlier build there.

    The same seed, sizes and package versions give the same bytes, whatever ``workers`` is.
    A script that calls this with several workers needs the usual ``__main__`` guard.

    Args:
        seed: of all chance.
        match, score: pictures in the two splits.
        pairs: edit pairs; a quarter adds, a quarter removes, half swaps.
        workers: processes to draw with; by default as many as there are processors.
        progress: called with pictures done and their total.

    Raises:
        UserError: sizes out of range, or ``out`` holds something else than a build.
    """
    folder = Path(out)
    _check_arguments(folder, {"match": match, "score": score, "pairs": pairs}, workers)
    tell = progress or (lambda done, total: None)
    rejected = {"duplicate": 0, "too few pixels changed": 0}
    with Workers(workers or os.cpu_count() or 1) as pool:
        drawing = _Drawing(pool, rejected, tell, match + score + 2 * pairs)
        splits = {
            name: drawing.accept(count, partial(draw_base, seed, name))
            for name, count in (("match", match), ("score", score))
        }
        edits = drawing.accept(pairs, partial(draw_edit, seed))
    content = Content(
        seed,
        {name: list(_pictures(name, drafts)) for name, drafts in splits.items()},
        list(_picture_pairs(edits)),
    )
    with files.replacing_dir(folder) as temporary:
        fingerprint, probes = write_folder(temporary, content)
    return BuildReport(folder, fingerprint, match, score, pairs, rejected, probes)


class _Drawing:
    """Draws drafts in rounds: what is rejected in one round is drawn anew in the next."""

    def __init__(
        self, pool: Workers, rejected: dict[str, int], progress: Progress, total: int
    ) -> None:
        self._pool = pool
        self._rejected = rejected
        self._progress = progress
        self._total = total
        self._done = 0
        self._seen: set[str] = set()

    def accept(self, count: int, draft: Callable[[int, int], Draft]) -> list[tuple[Draft, Result]]:
        """``count`` drafts with their pictures, none of them like any other picture so far."""
        accepted: dict[int, tuple[Draft, Result]] = {}
        waiting = list(range(count))
        for attempt in range(MAX_ATTEMPTS):
            if not waiting:
                return [accepted[index] for index in range(count)]
            drafts = [draft(index, attempt) for index in waiting]
            results = self._pool.map([_job(each) for each in drafts])
            again = []
            for index, each, result in zip(waiting, drafts, results, strict=True):
                if self._fault(result):
                    again.append(index)
                else:
                    accepted[index] = (each, result)
                    self._done += len(result.pictures)
                    self._progress(self._done, self._total)
            waiting = again
        raise UserError(
            f"{len(waiting)} of {count} drawings were rejected {MAX_ATTEMPTS} times as duplicates "
            "or invisible edits; ask for fewer"
        )

    def _fault(self, result: Result) -> bool:
        digests = [picture.digest for picture in result.pictures]
        if len(digests) == 2 and result.changed < MIN_CHANGED_PIXELS:
            self._rejected["too few pixels changed"] += 1
            return True
        if len(set(digests)) < len(digests) or not self._seen.isdisjoint(digests):
            self._rejected["duplicate"] += 1
            return True
        self._seen.update(digests)
        return False


def _job(draft: Base | Edit) -> Job:
    if isinstance(draft, Base):
        return Job(draft.identity.label, (draft.options,))
    return Job(draft.base.identity.label, (draft.base.options, draft.edited.options))


def _pictures(split: str, drafts: Sequence[tuple[Base, Result]]) -> Iterator[Picture]:
    for index, (base, result) in enumerate(drafts):
        yield Picture(f"{split}-{index:05d}", result.pictures[0].png, tuple(sorted(base.labels)))


def _picture_pairs(drafts: Sequence[tuple[Edit, Result]]) -> Iterator[PicturePair]:
    for index, (edit, result) in enumerate(drafts):
        base, edited = result.pictures
        yield PicturePair(
            id=f"pair-{index:05d}",
            base=base.png,
            edited=edited.png,
            added=edit.added,
            removed=edit.removed,
            group=edit.group,
            base_concepts=tuple(sorted(edit.base.labels)),
            edited_concepts=tuple(sorted(edit.edited.labels)),
        )


def _check_arguments(folder: Path, counts: dict[str, int], workers: int | None) -> None:
    for name, count in counts.items():
        least = 4 if name == "pairs" else len(CONCEPTS)
        if not least <= count <= _MAX_IMAGES:
            raise UserError(f"{name} is {count}, expected {least}..{_MAX_IMAGES:,}")
    if workers is not None and workers < 1:
        raise UserError(f"workers is {workers}, expected at least 1")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, expected a folder to build in")
    strange = {each.name for each in folder.iterdir()} - {MANIFEST, CARD, "images", "pairs"}
    if strange:
        raise UserError(
            f"{folder} holds {sorted(strange)[0]!r}, which a build would delete; "
            "choose a folder of its own"
        )
