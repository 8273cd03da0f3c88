"""All rules together: every problem of some folders, or of a change to all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.names import ID
from benchmark.submissions.change import change_notes, change_problems
from benchmark.submissions.documents import (
    DOCUMENT,
    KINDS,
    Submission,
    named,
    read_parts,
    read_results,
    submission_folders,
)
from benchmark.submissions.exposure import unclear_names
from benchmark.submissions.folders import folder_problems
from benchmark.submissions.ids import PLACE
from benchmark.submissions.measured import (
    current_fingerprints,
    layout_problems,
    older_data,
    result_problems,
)
from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.repository import (
    Subject,
    alike_problems,
    root_problems,
    twice_problems,
)
from benchmark.submissions.texts import is_day
from benchmark.submissions.weights import file_problems, sae_problems

MAX_PROBLEMS = 1000
"""Problems that a report names; the rest is counted."""

Rule = Callable[[Subject], Iterable[Problem]]


@dataclass(frozen=True)
class Report:
    """What the rules found.

    Attributes:
        checked: folders looked at.
        problems: faults, sorted; any one refuses the submission.
        notes: what is no fault but should be known.
    """

    checked: int
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON; foreign text in it is short and visible."""
        shown = [each.as_dict() for each in self.problems[:MAX_PROBLEMS]]
        if len(self.problems) > MAX_PROBLEMS:
            left = len(self.problems) - MAX_PROBLEMS
            more = problem("", "", f"{left} more problems", "none", "mend these first")
            shown.append(more.as_dict())
        return {
            "schema_version": 1,
            "checked": self.checked,
            "problems": shown,
            "notes": [each.as_dict() for each in self.notes[:MAX_PROBLEMS]],
        }


def check(root: Path, folders: Sequence[Path] | None = None, *, base: Path | None = None) -> Report:
    """Every problem of the submissions under ``root``.

    Args:
        root: folder with ``saes`` and ``generators``.
        folders: only these are examined, though against all others; None for all.
        base: checkout whose ``submissions`` are what ``root`` would replace.

    Raises:
        UserError: a root or folder that is not there, or is a link.
    """
    everything = read_all(_checked_root(root))
    before = [] if base is None else read_all(base / "submissions")
    notes = [*_older(everything), *_unclear(everything)]
    found = [*root_problems(root), *_between(everything, before)]
    if base is not None:
        found += change_problems(before, everything)
        notes += change_notes(before, everything)
    chosen = everything
    if folders is not None:
        wanted = {_known(folder, everything) for folder in folders}
        chosen = [each for each in everything if each.folder.resolve() in wanted]
        names = tuple(f"{named(each.folder)}/" for each in chosen)
        found = [fault for fault in found if fault.file.startswith(names)]
        notes = [note for note in notes if note.file.startswith(names)]
    found += [fault for each in chosen for fault in subject_problems(each)]
    return Report(len(chosen), tuple(sorted(set(found))), tuple(sorted(set(notes))))


def _checked_root(root: Path) -> Path:
    for place in (root, *(root / kind for kind in KINDS)):
        if place.is_symlink():
            raise UserError(f"{place}: is a link; expected a folder of submissions")
    if not root.is_dir():
        raise UserError(f"{root}: no such folder; expected submissions, choose it with --root")
    return root


def _between(everything: Iterable[Subject], before: Iterable[Subject]) -> Iterator[Problem]:
    """Faults of one submission beside another; the one that was there first has none."""
    there = {(each.kind, each.folder.name) for each in before}

    def seniority(subject: Subject) -> tuple[bool, bool, bool, str]:
        name = subject.folder.name
        known = (subject.kind, name) in there
        return not known, not subject.results, ID.fullmatch(name) is None, name

    ranked = sorted(everything, key=seniority)
    yield from alike_problems(ranked)
    yield from twice_problems(ranked)


def read_all(root: Path) -> list[Subject]:
    """Every folder of both kinds, read as far as it can be."""
    return [
        read_subject(folder, kind) for kind in KINDS for folder in submission_folders(root, kind)
    ]


def read_subject(folder: Path, kind: str) -> Subject:
    """One folder, read as far as it can be."""
    read = read_parts(folder, kind)
    results, faults = read_results(folder, kind)
    found = (*read.problems, *faults)
    return Subject(kind, folder, read.document, read.parts, results, found)


def _known(folder: Path, everything: Iterable[Subject]) -> Path:
    place = folder.resolve()
    if all(each.folder.resolve() != place for each in everything):
        raise UserError(
            f"{folder}: no submission; expected a folder saes/ID or generators/ID below the root, "
            "which --root names"
        )
    return place


def subject_problems(subject: Subject) -> list[Problem]:
    """Every problem of one folder by itself."""
    return [*subject.faults, *(fault for rule in RULES for fault in rule(subject))]


def _folder(subject: Subject) -> Iterator[Problem]:
    yield from folder_problems(subject.folder, _declared(_block(subject) or {}))


def _declared(block: Mapping[str, Any]) -> list[str] | None:
    """Names of the files that a document lists; None where that is unclear."""
    if block.get("kind") == "diffusers":
        return []
    files = block.get("files") or ()
    names = [each["path"] for each in files if each and each.get("path")]
    return names if files and len(names) == len(files) else None


def _files(subject: Subject) -> Iterator[Problem]:
    block = _block(subject)
    if block is not None:
        yield from file_problems(subject.folder, block, _key(subject))


def _sae(subject: Subject) -> Iterator[Problem]:
    if subject.kind == "saes":
        yield from sae_problems(subject.folder, subject.parts)


def _generator(subject: Subject) -> Iterator[Problem]:
    if subject.kind == "generators":
        from benchmark.submissions.generators import validate_generator

        whole = {"generator", "real"} <= set(subject.document)
        yield from validate_generator(subject.folder, subject.parts, whole=whole)


def _claimed(subject: Subject) -> Iterator[Problem]:
    places = subject.parts.get("claimed")
    if not places:
        return
    from benchmark.datasets.registry import DATASETS

    for place in places:
        if PLACE.fullmatch(place) and not set(place.split("+")) <= set(DATASETS.entries):
            yield problem(
                named(subject.folder / DOCUMENT),
                f"$.claimed.{place}",
                place,
                f"a dataset, or two joined by +: {', '.join(sorted(DATASETS.entries))}",
                "name the results folder that the numbers belong to",
            )


def _withdrawn(subject: Subject) -> Iterator[Problem]:
    day = (subject.parts.get("withdrawn") or {}).get("date") or ""
    # somewhere it is tomorrow already
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    if is_day(day) and day > tomorrow:
        yield problem(
            named(subject.folder / DOCUMENT),
            "$.withdrawn.date",
            day,
            "a day that has come",
            "write the day of the withdrawal",
        )


def _layout(subject: Subject) -> Iterator[Problem]:
    yield from layout_problems(subject.folder)


def _results(subject: Subject) -> Iterator[Problem]:
    yield from result_problems(subject.results, subject.document, subject.folder, subject.kind)


RULES: tuple[Rule, ...] = (
    _folder,
    _files,
    _sae,
    _generator,
    _claimed,
    _withdrawn,
    _layout,
    _results,
)
"""Rules over one folder; one over several is called by ``check``."""


def _key(subject: Subject) -> str:
    return "sae" if subject.kind == "saes" else "generator"


def _block(subject: Subject) -> Mapping[str, Any] | None:
    block: Mapping[str, Any] | None = subject.parts.get(_key(subject))
    return block


def _unclear(subjects: Iterable[Subject]) -> Iterator[Problem]:
    for subject in subjects:
        for place, name, known in unclear_names(subject.document):
            yield problem(
                named(subject.folder / DOCUMENT),
                f"$.training_data[{place}].dataset",
                name,
                f"{known}, or a dataset that has nothing to do with it",
                f"write {known} if it is meant, so that the board marks what the training saw",
            )


def _older(subjects: Iterable[Subject]) -> Iterator[Problem]:
    submissions = [
        Submission(each.kind, each.folder, each.document, each.results) for each in subjects
    ]
    current = current_fingerprints(submissions)
    for submission in submissions:
        for result in older_data(submission, current):
            yield problem(
                named(result.file),
                "$.dataset.fingerprint",
                result.document.get("dataset", result.document.get("real"))["fingerprint"],
                f"{current[submission.kind, result.place][0]}, the newest data version",
                "measure it again; until then it stands as older data version",
            )
