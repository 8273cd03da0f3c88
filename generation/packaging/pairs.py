"""The pairs of a package: rows with the original bytes of both pictures, and their fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.datasets import Dataset
from benchmark.datasets.fingerprint import PairRow, fingerprint
from benchmark.datasets.layout import PAIR_SPLIT
from benchmark.errors import UserError
from generation.packaging.choose import Chosen
from generation.packaging.columns import REPEATING, arrow_schema
from generation.packaging.shards import SHARD_BYTES, Shards
from generation.work import PlannedEdit, Work, base_bytes

Progress = Callable[[str, int, int], None]
_ENDINGS = {
    b"\x89PNG": "png",
    b"\xff\xd8\xff": "jpg",
    b"RIFF": "webp",
    b"GIF8": "gif",
    b"BM": "bmp",
    b"II": "tif",
    b"MM": "tif",
}
_BETWEEN_GROUPS = " / "


@dataclass(frozen=True)
class Vocabulary:
    """Concepts of a package: those of the source, then the declared ones that its pairs change.

    Attributes:
        names, groups: one each a concept.
        changed: which of them some pair adds or removes.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    changed: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, work: Work, source: Dataset, edits: Sequence[PlannedEdit]) -> Vocabulary:
        """Vocabulary of these edits."""
        changed = frozenset(name for edit in edits for name in edit.changed)
        declared = [each for each in work.plan.declared if each.name in changed]
        return cls(
            (*source.concepts, *(each.name for each in declared)),
            (*source.groups, *(each.group for each in declared)),
            changed,
        )

    def group_of(self, edit: PlannedEdit) -> str:
        """Group of what an edit changes; of two groups both, the removed concept's first."""
        names = [name for name in (edit.removed, edit.added) if name is not None]
        groups = [self.groups[self.names.index(name)] for name in names]
        return _BETWEEN_GROUPS.join(dict.fromkeys(groups))


def base_annotations(
    source: Dataset, edits: Sequence[PlannedEdit], vocabulary: Vocabulary
) -> np.ndarray:
    """bool (P, A): the source's annotations of the base pictures.

    Of a declared concept nothing is known; only where an edit removes it, it must be there.
    """
    present = np.zeros((len(edits), len(vocabulary.names)), dtype=bool)
    known = len(source.concepts)
    for number, edit in enumerate(edits):
        row = source.locate(edit.base)
        if row is None:
            raise UserError(f"dataset {source.name} has no picture {edit.base!r}")
        present[number, :known] = source.annotations[row]
        if edit.removed is not None and edit.removed not in source.concepts:
            present[number, vocabulary.names.index(edit.removed)] = True
    return present


def write_pairs(
    folder: Path,
    work: Work,
    source: Dataset,
    chosen: Chosen,
    vocabulary: Vocabulary,
    present: np.ndarray,
    *,
    shard_bytes: int = SHARD_BYTES,
    progress: Progress | None = None,
) -> str:
    """Write the Parquet files of a package; gives the fingerprint.

    Args:
        folder: of the files.
        work, source: what the pairs were made in and of.
        chosen: the pairs, P of them.
        vocabulary: A concepts.
        present: bool (P, A), see ``base_annotations``.
        shard_bytes: of pictures in a file at most.
        progress: called with (what, done, total).

    Raises:
        UserError: an edited picture that is gone, or not the one that was recorded.
    """
    with Shards(
        folder, PAIR_SPLIT, arrow_schema(vocabulary.names), REPEATING, shard_bytes
    ) as shards:
        rows = _written(shards, work, source, chosen, vocabulary, present, progress)
        return fingerprint(vocabulary.names, (), rows)


def _written(
    shards: Shards,
    work: Work,
    source: Dataset,
    chosen: Chosen,
    vocabulary: Vocabulary,
    present: np.ndarray,
    progress: Progress | None,
) -> Iterator[PairRow]:
    place = {name: index for index, name in enumerate(vocabulary.names)}
    for done, edit in enumerate(chosen.edits, start=1):
        base, edited = base_bytes(source, edit.base), _edited_bytes(work, chosen, edit)
        labels = np.flatnonzero(present[done - 1]).tolist()
        added, removed = (
            None if name is None else place[name] for name in (edit.added, edit.removed)
        )
        row = {
            "id": edit.id,
            "base": _embedded(base, f"{edit.id}-base"),
            "edited": _embedded(edited, f"{edit.id}-edited"),
            "added": added,
            "removed": removed,
            "group": vocabulary.group_of(edit),
            "base_concepts": labels,
            "edited_concepts": sorted(
                index for index in {*labels, added} if index is not None and index != removed
            ),
        }
        shards.add(row | _making(edit, chosen), len(base) + len(edited))
        yield PairRow(edit.id, base, edited, added, removed, labels)
        if progress is not None:
            progress("writing pairs", done, len(chosen.edits))


def _making(edit: PlannedEdit, chosen: Chosen) -> dict[str, Any]:
    record, verdict = chosen.records[edit.id], chosen.verdicts.get(edit.id)
    checks = () if verdict is None else verdict.checks
    judged = {check.concept for check in checks} == set(edit.changed)
    return {
        "source": edit.base,
        "class": edit.class_name,
        "attribute_kind": edit.attribute_kind,
        "prompt": edit.prompt,
        "references": list(edit.references),
        "model": record.model,
        "model_revision": record.model_revision,
        "seed": record.seed,
        "steps": record.steps,
        "guidance": record.guidance,
        "outside_change": None if verdict is None else verdict.outside_change,
        "classifier_agrees": all(check.right for check in checks) if judged else None,
        "accepted_by": chosen.reviews.accepted_by[edit.id],
    }


def _edited_bytes(work: Work, chosen: Chosen, edit: PlannedEdit) -> bytes:
    path, wanted = work.image(edit.id), chosen.records[edit.id].sha256
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    if hashlib.sha256(data).hexdigest() != wanted:
        raise UserError(
            f"{path}: not the picture that was made (SHA-256 {str(wanted)[:12]}…, as "
            f"{work.edit_log.path} says); delete it and run: assay generate edit {work.root}"
        )
    return data


def _embedded(data: bytes, name: str) -> dict[str, Any]:
    ending = next((end for start, end in _ENDINGS.items() if data.startswith(start)), "bin")
    return {"bytes": data, "path": f"{name}.{ending}"}
