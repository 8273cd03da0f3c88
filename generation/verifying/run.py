"""The stage as a whole: a classifier, a verdict on every edited picture, and what fell out."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing, write_json
from benchmark.images import read_image
from generation.devices import find_device, out_of_memory
from generation.verifying import outside
from generation.verifying.classifier import Classifier
from generation.verifying.lesson import Options, classifier_for
from generation.verifying.train import Progress, predict
from generation.verifying.verdicts import Seen, by_concept, verdict
from generation.work import EditRecord, PlannedEdit, Verdict, Work, base_bytes, select

SETTINGS = "verdicts.json"
REASONS = "reasons.csv"
_PAIRS_AT_ONCE = 16
"""Pairs between two writes; what a kill loses at most."""


@dataclass(frozen=True)
class Report:
    """What became of the edits.

    Attributes:
        planned, kept: edits; kept by this stage and those before.
        table: stage, reason, edits that fell out there.
        opinions: kinds of reasons over all verdicts, also of pairs that a ``report_only`` plan
            keeps; a pair may count for several.
        concepts: changed concept, ``"added"`` or ``"removed"``, pairs judged, pairs kept.
        outside: median and 90th percentile of the outside change, and how many pairs reach
            ``outside.REPAINTED``; None where it was measured on none.
        record: of the classifier.
    """

    planned: int
    kept: int
    filtered: bool
    table: Sequence[tuple[str, str, int]]
    opinions: Mapping[str, int]
    concepts: Sequence[tuple[str, str, int, int]]
    outside: Mapping[str, float] | None
    record: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        names = ("concept", "change", "judged", "kept")
        return {
            "planned": self.planned,
            "kept": self.kept,
            "verify": "filter" if self.filtered else "report_only",
            "reasons": [{"stage": s, "reason": r, "edits": n} for s, r, n in self.table],
            "opinions": dict(self.opinions),
            "concepts": [dict(zip(names, row, strict=True)) for row in self.concepts],
            "outside_change": None if self.outside is None else dict(self.outside),
            "classifier": {
                key: self.record[key]
                for key in ("validation_map", "best_epoch", "first_weights", "pictures")
            },
        }


def verify(
    work: Work,
    source: Dataset,
    options: Options,
    *,
    max_outside: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Train or read the classifier, judge every edited picture that has no verdict, and report.

    Args:
        work: folder with a plan and edited pictures.
        source: the dataset that was planned on.
        options: how to get the classifier.
        max_outside: outside change above which a pair is not kept; None only records it.
        progress: called with (what, done, total).

    Raises:
        UserError: no edited picture, one that is not what the log says, no classifier, or not
            enough memory.
    """
    records = {name: each for name, each in work.edits().items() if each.status == "ok"}
    if not records:
        raise UserError(f"{work.root} has no edited pictures; make them: assay generate edit")
    with work.locked("verify"), _told_of_memory(options):
        classifier = classifier_for(work, source, options, progress)
        _same_settings(work, classifier, max_outside)
        known = work.verdicts()
        missing = [
            edit
            for edit in work.plan.edits
            if edit.id in records
            and (edit.id not in known or known[edit.id].image_sha256 != records[edit.id].sha256)
        ]
        judge = _Judge(work, source, classifier, options.device, max_outside)
        for start in range(0, len(missing), _PAIRS_AT_ONCE):
            chunk = missing[start : start + _PAIRS_AT_ONCE]
            work.verdict_log.append(*judge([(edit, records[edit.id]) for edit in chunk]))
            if progress:
                progress("judging pairs", start + len(chunk), len(missing))
        report = report_on(work, classifier.record)
        _write_reasons(work, report)
    return report


@contextmanager
def _told_of_memory(options: Options) -> Iterator[None]:
    """Where memory runs out, ``UserError`` that says what would need less of it."""
    recipe = options.recipe
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        raise UserError(
            f"not enough memory for {recipe.batch_size} pictures of {recipe.size} x {recipe.size} "
            "pixels at a time; give a smaller --batch-size or --size, or --device cpu"
        ) from None


def _same_settings(work: Work, classifier: Classifier, max_outside: float | None) -> None:
    """Put verdicts of another classifier or rule away, so that none is mixed with the new ones."""
    path = work.verify / SETTINGS
    settings = {
        "schema_version": 1,
        "plan_hash": work.plan.hash,
        "classifier_sha256": classifier.record["weights_sha256"],
        "max_outside": max_outside,
        "outside_version": outside.VERSION,
    }
    try:
        same = json.loads(path.read_bytes()) == settings
    except (OSError, ValueError):
        same = False
    if not same:
        work.verdict_log.path.unlink(missing_ok=True)
        write_json(path, settings)


class _Judge:
    """Looks at pairs, a few at a time."""

    def __init__(
        self,
        work: Work,
        source: Dataset,
        classifier: Classifier,
        device: str,
        max_outside: float | None,
    ) -> None:
        self._work = work
        self._source = source
        self._classifier = classifier
        self._device = find_device(device)
        self._max_outside = max_outside
        classifier.network.to(self._device)

    def __call__(self, pairs: Sequence[tuple[PlannedEdit, EditRecord]]) -> list[Verdict]:
        pictures: list[Image.Image] = []
        for edit, record in pairs:
            pictures += [self._base(edit), edited_picture(self._work, record)]
        rows = np.arange(len(pictures))
        recipe = self._classifier.recipe
        said = predict(self._classifier.network, pictures.__getitem__, rows, recipe, self._device)
        found = []
        for place, (edit, record) in enumerate(pairs):
            base, edited = pictures[2 * place : 2 * place + 2]
            change = outside.change(base, edited, edit.attribute_kind)
            seen = Seen(str(record.sha256), said[2 * place], said[2 * place + 1], change)
            found.append(verdict(self._work.plan, edit, seen, self._classifier, self._max_outside))
        return found

    def _base(self, edit: PlannedEdit) -> Image.Image:
        name = f"picture {edit.base} of {self._source.name}"
        return read_image(base_bytes(self._source, edit.base), name=name)


def edited_picture(work: Work, record: EditRecord) -> Image.Image:
    """The edited picture that a record is of.

    Raises:
        UserError: it is not there, or not the file that the record names.
    """
    path = work.image(record.id)
    if not path.is_file():
        raise UserError(f"{path} is missing; make it again: assay generate edit {work.root}")
    if file_sha256(path) != record.sha256:
        raise UserError(
            f"{path}: not the picture that {work.edit_log.path.name} names (SHA-256 "
            f"{str(record.sha256)[:12]}…); delete it and make it again: assay generate edit"
        )
    return read_image(path)


def report_on(work: Work, record: Mapping[str, Any]) -> Report:
    """What became of the edits so far, from the verdicts in the work folder."""
    edits = work.edits()
    verdicts = {
        name: each
        for name, each in work.verdicts().items()
        if name in edits and edits[name].sha256 == each.image_sha256
    }
    selection = select(work.plan, edits, verdicts, {})
    opinions = Counter(
        reason.partition(":")[0] for each in verdicts.values() for reason in each.reasons
    )
    return Report(
        planned=len(work.plan.edits),
        kept=len(selection.kept),
        filtered=work.plan.verify == "filter",
        table=selection.table,
        opinions=dict(sorted(opinions.items())),
        concepts=by_concept(work.plan, verdicts),
        outside=_outside(verdicts),
        record=record,
    )


def _outside(verdicts: Mapping[str, Verdict]) -> dict[str, float] | None:
    found = np.array(
        [each.outside_change for each in verdicts.values() if each.outside_change is not None]
    )
    if not len(found):
        return None
    return {
        "pairs": len(found),
        "median": float(np.median(found)),
        "p90": float(np.quantile(found, 0.9)),
        "repainted": int((found >= outside.REPAINTED).sum()),
    }


def _write_reasons(work: Work, report: Report) -> None:
    with (
        replacing(work.verify / REASONS) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("stage", "reason", "edits"))
        writer.writerows(report.table)
