"""The stage as a whole: from a work folder to a dataset folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from PIL import Image

from benchmark import files
from benchmark.datasets import Dataset, check_folder, source_of_name
from benchmark.datasets.layout import CARD, MANIFEST
from benchmark.datasets.manifest import raw_manifest
from benchmark.errors import UserError
from benchmark.images import read_image
from generation.packaging.card import CONFIG, LICENCE_FILE, card, title_of
from generation.packaging.choose import Chosen, choose
from generation.packaging.croissant import FILE as CROISSANT
from generation.packaging.croissant import croissant
from generation.packaging.licences import Licences, licence_file
from generation.packaging.manifest import write_manifest
from generation.packaging.pairs import Progress, Vocabulary, base_annotations, write_pairs
from generation.packaging.shards import SHARD_BYTES
from generation.packaging.sheet import FILE as SHEET
from generation.packaging.sheet import contact_sheet, shown
from generation.packaging.statistics import statistics, write_statistics
from generation.work import PlannedEdit, Work, base_bytes, open_source

SCHEMA_VERSION = 1
NUMBER = re.compile(r"(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})")
"""A version: the tag of the Hub without its ``v``."""

LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
"""A licence as the Hub spells it."""

_MOST = 1000
_PACKAGES = ("concept-assay", "numpy", "pillow", "pyarrow")
_SHOWN_PROBLEMS = 3


@dataclass(frozen=True)
class Options:
    """How to package.

    Attributes:
        version: of the package, for instance ``"1.0"``.
        unfinished, unreviewed: see ``packaging.choose``.
        photographs_licence, annotations_licence: where the source does not say, or says less.
        licence: of the whole, as the Hub spells it.
        shard_bytes: of pictures in a Parquet file at most.
    """

    version: str = "1.0"
    unfinished: bool = False
    unreviewed: bool = False
    photographs_licence: str | None = None
    annotations_licence: str | None = None
    licence: str = "other"
    shard_bytes: int = SHARD_BYTES


@dataclass(frozen=True)
class Report:
    """What was packaged."""

    folder: Path
    manifest: Mapping[str, Any] = field(repr=False)
    selection: list[tuple[str, str, int]]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        names = ("stage", "reason", "edits")
        return {
            "folder": str(self.folder),
            **{key: self.manifest[key] for key in ("name", "version", "fingerprint", "counts")},
            **{key: self.manifest[key] for key in ("review", "licences")},
            "verify": self.manifest["generation"]["verify"],
            "left_out": [dict(zip(names, row, strict=True)) for row in self.selection],
        }


def package(
    work: Work,
    out: Path,
    options: Options | None = None,
    *,
    source_root: Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make a dataset folder of the pairs that passed every stage; the same input, the same bytes.

    Args:
        work: folder with plan, edits, verdicts and reviews.
        out: folder to make. One that is there is replaced if it is a package of this name; it
            stays as it is until the new one is whole and sound.
        options: how.
        source_root: where the source lies, if not where it lay when the plan was made.
        progress: called with (what, done, total).

    Raises:
        UserError: work left to do in an earlier stage, files that do not belong together, an
            ``out`` that holds something else, or pairs that break an invariant of a dataset folder.
    """
    options = options or Options()
    _check_options(options)
    _check_out(work, out)
    with work.locked("package"):
        chosen = choose(work, unfinished=options.unfinished, unreviewed=options.unreviewed)
        source = open_source(work, source_root)
        with files.replacing_dir(out) as folder:
            manifest = _fill(folder, work, source, chosen, options, progress)
            _check_sound(folder, progress)
    return Report(out, manifest, list(chosen.table))


def _check_options(options: Options) -> None:
    if not NUMBER.fullmatch(options.version):
        raise UserError(f"version {options.version[:40]!r}; expected two numbers such as 1.0")
    if not LICENCE.fullmatch(options.licence):
        raise UserError(
            f"--licence is {options.licence[:80]!r}; expected it as the Hub spells it, in at most "
            "63 lower-case letters, digits, dots and dashes, such as mit, cc-by-4.0 or other"
        )
    for what in ("photographs", "annotations"):
        text = getattr(options, f"{what}_licence")
        if text is not None and not (text.strip() and len(text) <= _MOST):
            raise UserError(
                f"--{what}-licence is {text[:80]!r} ({len(text):,} characters); expected 1 to "
                f"{_MOST:,}"
            )


def _check_out(work: Work, out: Path) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is no ordinary folder; choose another --out")
    if not out.is_dir() or not any(out.iterdir()):
        return
    held = raw_manifest(out) if (out / MANIFEST).is_file() else {}
    if "seal" not in held or held.get("name") != work.plan.name:
        raise UserError(
            f"{out} holds something else than a package of {work.plan.name}; choose another --out"
        )


def _fill(
    folder: Path,
    work: Work,
    source: Dataset,
    chosen: Chosen,
    options: Options,
    progress: Progress | None,
) -> dict[str, Any]:
    vocabulary = Vocabulary.of(work, source, chosen.edits)
    present = base_annotations(source, chosen.edits, vocabulary)
    fingerprint = write_pairs(
        folder / CONFIG,
        work,
        source,
        chosen,
        vocabulary,
        present,
        shard_bytes=options.shard_bytes,
        progress=progress,
    )
    numbers = statistics(work.plan, chosen, vocabulary, present)
    write_statistics(folder, numbers)
    document = _manifest(work, chosen, vocabulary, options, fingerprint)
    known = source_of_name(source.name)
    citation = None if known is None else known.citation

    def pictures(edit: PlannedEdit) -> tuple[Image.Image, Image.Image]:
        name = f"picture {edit.base} of {source.name}"
        base = read_image(base_bytes(source, edit.base), name=name)
        return base, read_image(work.image(edit.id))

    files.write_bytes(folder / SHEET, contact_sheet(shown(chosen.edits), pictures))
    files.write_bytes(folder / CARD, card(document, numbers, citation).encode())
    terms = licence_file(document["licences"], source.name, title_of(document["name"]))
    files.write_bytes(folder / LICENCE_FILE, terms.encode())
    files.write_json(folder / CROISSANT, croissant(document, date=_date(work), citation=citation))
    return write_manifest(folder, document)


def _manifest(
    work: Work, chosen: Chosen, vocabulary: Vocabulary, options: Options, fingerprint: str
) -> dict[str, Any]:
    plan, edits = work.plan, chosen.edits
    records = [chosen.records[edit.id] for edit in edits]
    licences = Licences.of(
        plan,
        records,
        photographs=options.photographs_licence,
        annotations=options.annotations_licence,
        package=options.licence,
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "version": options.version,
        "fingerprint": fingerprint,
        "seed": plan.seed,
        "concepts": [
            {"name": name, "group": group, "editable": name in vocabulary.changed}
            for name, group in zip(vocabulary.names, vocabulary.groups, strict=True)
        ],
        "counts": {
            "match": 0,
            "score": 0,
            "pairs": len(edits),
            "concepts": len(vocabulary.names),
            "pairs_add": sum(edit.removed is None for edit in edits),
            "pairs_remove": sum(edit.added is None for edit in edits),
            "pairs_swap": sum(len(edit.changed) == 2 for edit in edits),
        },
        "generation": {
            "plan_hash": plan.hash,
            "kind": plan.kind,
            "verify": plan.verify,
            "planned": len(plan.edits),
            "source": asdict(plan.source),
            "declared": [name for name in vocabulary.names if name not in plan.concepts],
            "models": _models(chosen, licences),
        },
        "review": chosen.reviews.as_dict(),
        "licences": licences.as_dict(),
        "packages": _versions(),
    }


def _models(chosen: Chosen, licences: Licences) -> list[dict[str, Any]]:
    """Every model and setting that made pictures of the package, the most used first."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for edit in chosen.edits:
        record = chosen.records[edit.id]
        counts[
            record.model,
            record.model_revision,
            record.scheduler,
            record.precision,
            record.steps,
            record.guidance,
        ] += 1
    names = ("model", "model_revision", "scheduler", "precision", "steps", "guidance")
    ordered = sorted(counts.items(), key=lambda item: (-item[1], repr(item[0])))
    return [
        {
            **dict(zip(names, setting, strict=True)),
            "licence": licences.models[setting[0]],
            "pairs": count,
        }
        for setting, count in ordered
    ]


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _date(work: Work) -> str | None:
    """Day of the latest decision of a reviewer: the same whenever the package is made."""
    days = [
        decision.at[:10]
        for standing in (*work.reviews().values(), work.adjudications())
        for decision in standing.values()
    ]
    return max(days, default=None)


def _check_sound(folder: Path, progress: Progress | None) -> None:
    if progress is not None:
        progress("checking", 0, 1)
    report = check_folder(folder)
    if report.problems:
        shown_ = "; ".join(report.problems[:_SHOWN_PROBLEMS])
        more = len(report.problems) - _SHOWN_PROBLEMS
        rest = f" (and {more:,} more)" if more > 0 else ""
        raise UserError(f"the package would not be sound: {shown_}{rest}; nothing was written")
