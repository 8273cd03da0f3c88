"""The invariants of a dataset folder; every broken one is reported.

Our own layout promises them, so any that is broken is a problem; for the layouts of others see
``check_foreign``.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from benchmark.datasets.base import Dataset, ImageSequence
from benchmark.datasets.check_foreign import CheckReport, Progress, check_foreign, counts_of
from benchmark.datasets.layout import CARD, MANIFEST
from benchmark.datasets.layouts import open_any
from benchmark.datasets.manifest import read_manifest
from benchmark.datasets.parquet import pair_column, read_folder, schema_of
from benchmark.datasets.pictures import ParquetImages
from benchmark.errors import UserError
from benchmark.images import pixel_sha256


def check_folder(folder: Path, progress: Progress | None = None) -> CheckReport:
    """Check a dataset folder of any known layout from its files alone, reading every byte."""
    from benchmark.text.manifest import is_text_folder

    if is_text_folder(folder):
        return _check_text(folder)
    if (folder / MANIFEST).is_file():
        return _check_own(folder)
    try:
        dataset = open_any(folder)
    except UserError as error:
        return CheckReport(str(folder), problems=[str(error)])
    return check_foreign(dataset, progress)


def _check_text(folder: Path) -> CheckReport:
    """A folder of text activations: parts that fit each other, and the fingerprint over them."""
    from benchmark.text.dataset import open_text_folder

    report = CheckReport(str(folder))
    try:
        dataset = open_text_folder(folder)
        report.name, report.counts = dataset.name, counts_of(dataset)
        report.fingerprint = dataset.fingerprint
    except UserError as error:
        report.problems.append(str(error))
    return report


def _check_own(folder: Path) -> CheckReport:
    """Check a dataset folder from its files alone.

    Readable with labels inside the vocabulary; pictures decodable, embedded, without local paths,
    and no two alike anywhere (by the hash of their pixels; a photograph of another dataset may be
    the base of several pairs); annotations of base and edited differ
    exactly in added and removed; every concept with positives and negatives in both splits; counts
    and fingerprint as the manifest says.
    """
    dataset, faults = read_folder(folder)
    if dataset is None:
        return CheckReport(str(folder), problems=faults)
    report = CheckReport(dataset.name)
    report.counts = counts_of(dataset)
    problems = report.problems
    problems += _manifest_problems(folder, report.counts, _kinds_of_pairs(dataset))
    problems += _card_problems(folder)
    problems += _vocabulary_problems(folder, dataset)
    problems += _id_problems(dataset)
    problems += _annotation_problems(dataset)
    problems += _pair_problems(dataset, folder)
    unreadable = _picture_problems(dataset)
    problems += unreadable
    try:
        report.fingerprint = dataset.fingerprint
    except UserError as error:
        if not unreadable:
            problems.append(str(error))
    else:
        stated = read_manifest(folder).fingerprint
        if report.fingerprint != stated:
            problems.append(
                f"fingerprint: the content has {report.fingerprint}, the manifest says {stated}"
            )
    return report


def _manifest_problems(folder: Path, counts: dict[str, int], optional: dict[str, int]) -> list[str]:
    """Counts that differ from the manifest's; those of ``optional`` may be missing there."""
    stated = read_manifest(folder).counts
    wanted = counts | {key: found for key, found in optional.items() if key in stated}
    return [
        f"counts: the data has {found} {key}, the manifest says {stated.get(key)}"
        for key, found in wanted.items()
        if stated.get(key) != found
    ]


def _kinds_of_pairs(dataset: Dataset) -> dict[str, int]:
    pairs = dataset.pairs
    sides = [] if pairs is None else list(zip(pairs.added, pairs.removed, strict=True))
    return {
        "pairs_add": sum(removed is None for _, removed in sides),
        "pairs_remove": sum(added is None for added, _ in sides),
        "pairs_swap": sum(None not in side for side in sides),
    }


def _card_problems(folder: Path) -> list[str]:
    card = folder / CARD
    if not card.is_file() or not card.read_bytes().startswith(b"---\n"):
        return [f"{CARD}: missing, or without the YAML block of a dataset card"]
    return []


def _vocabulary_problems(folder: Path, dataset: Dataset) -> list[str]:
    """The class names inside the files must be the manifest's, or labels change their meaning."""
    problems = []
    for path in sorted(folder.glob("*/*.parquet")):
        metadata = (schema_of(path).metadata or {}).get(b"huggingface")
        try:
            typed = json.loads(metadata or b"")["info"]["features"]
            column = typed.get("concepts") or typed["base_concepts"]
            names = column["feature"]["names"]
        except (ValueError, KeyError, TypeError):
            problems.append(f"{path.name}: no class names in the schema's huggingface metadata")
            continue
        if names != list(dataset.concepts):
            problems.append(f"{path.name}: class names differ from the manifest's concepts")
    return problems


def _id_problems(dataset: Dataset) -> list[str]:
    named = [
        (split, dataset.ids[row])
        for split in dataset.splits
        for row in dataset.split(split).tolist()
    ]
    named += [("pairs", name) for name in (dataset.pairs.ids if dataset.pairs else ())]
    return [
        f"{where}: id {name!r} is a local path"
        for where, name in named
        if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute()
    ]


def _annotation_problems(dataset: Dataset) -> list[str]:
    problems = []
    for split in dataset.splits:
        rows = dataset.annotations[dataset.split(split)]
        for concept, positives in zip(dataset.concepts, rows.sum(axis=0).tolist(), strict=True):
            if positives == 0:
                problems.append(f"{split}: concept {concept!r} has no positives")
            if positives == len(rows):
                problems.append(f"{split}: concept {concept!r} has no negatives")
    return problems


def _pair_problems(dataset: Dataset, folder: Path) -> list[str]:
    pairs = dataset.pairs
    if pairs is None:
        return []
    problems = []
    columns = zip(
        pairs.ids,
        pairs.added,
        pairs.removed,
        pairs.present,
        pair_column(folder, "edited_concepts"),
        pair_column(folder, "group"),
        strict=True,
    )
    for name, added, removed, present, edited, group in columns:
        base = set(np.flatnonzero(present).tolist())
        changed = [label for label in (added, removed) if label is not None]
        if not changed:
            problems.append(f"pair {name}: neither adds nor removes a concept")
        if added is not None and added in base:
            problems.append(f"pair {name}: adds {dataset.concepts[added]!r}, which base has")
        if removed is not None and removed not in base:
            problems.append(f"pair {name}: removes {dataset.concepts[removed]!r}, which base lacks")
        if set(edited) != (base - {removed}) | ({added} - {None}):
            problems.append(f"pair {name}: edited_concepts are not base_concepts - removed + added")
        # an exchange between two groups names both
        if {dataset.groups[label] for label in changed} - {group, *(group or "").split(" / ")}:
            problems.append(f"pair {name}: changes a concept outside its group {group!r}")
    return problems


def _picture_problems(dataset: Dataset) -> list[str]:
    seen: dict[str, str] = {}
    problems = []
    several = dataset.pairs is not None and all(dataset.pairs.sources or [None])
    sources = [(split, dataset.images, rows.tolist()) for split, rows in dataset.splits.items()]
    names = dict.fromkeys(dataset.splits, dataset.ids)
    if dataset.pairs is not None:
        rows = list(range(len(dataset.pairs)))
        sources += [("base", dataset.pairs.base, rows), ("edited", dataset.pairs.edited, rows)]
        names |= {"base": dataset.pairs.ids, "edited": dataset.pairs.ids}
    for where, images, rows in sources:
        for row in rows:
            here = f"{where} {names[where][row]}"
            try:
                digest = pixel_sha256(images[row])
            except UserError as error:
                problems.append(str(error))
                continue
            first = seen.get(digest, "")
            if first and not (several and first.startswith("base ") and where == "base"):
                problems.append(f"{here}: the same picture as {first}")
            seen.setdefault(digest, here)
            problems += _path_problems(images, row, here)
    return problems


def _path_problems(images: ImageSequence, row: int, here: str) -> list[str]:
    path = images.path(row) if isinstance(images, ParquetImages) else None
    if path is None or (PurePosixPath(path).name == path == PureWindowsPath(path).name):
        return []
    return [f"{here}: stores the local path {path!r}; expected a file name or null"]
