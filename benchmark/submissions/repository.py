"""Rules over all submissions at once: the root, ids alike, weights handed in twice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.submissions.documents import DOCUMENT, KINDS, Result, named
from benchmark.submissions.folders import entries, odd_entries
from benchmark.submissions.ids import skeleton
from benchmark.submissions.problems import Problem, problem, visible

_OTHER_ID = "choose an id that differs more"


@dataclass(frozen=True)
class Subject:
    """One folder under examination.

    Attributes:
        kind: "saes" or "generators".
        folder: where it is.
        document: its content, without the parts that break the schema.
        results: its sound results.
        faults: what reading them found.
    """

    kind: str
    folder: Path
    document: Mapping[str, Any] = field(repr=False)
    results: tuple[Result, ...] = field(default=(), repr=False)
    faults: tuple[Problem, ...] = field(default=(), repr=False)


def root_problems(root: Path) -> Iterator[Problem]:
    """Things in the folder of all submissions that are no kind of submission."""
    found = entries(root)
    yield from odd_entries(found)
    for entry in found:
        if entry.path.name.startswith("."):
            continue
        if entry.is_file and entry.path.name != "README.md":
            yield problem(entry.path.name, "", "a file", f"only {', '.join(KINDS)}", "delete it")
        if entry.is_folder and entry.path.name not in KINDS:
            yield problem(entry.path.name, "", "a folder", f"only {', '.join(KINDS)}", "delete it")


def alike_problems(subjects: Sequence[Subject]) -> Iterator[Problem]:
    """Ids that look like another one's, over both kinds of submission."""
    first: dict[str, Subject] = {}
    for subject in subjects:
        other = first.setdefault(skeleton(subject.folder.name), subject)
        if other is subject:
            continue
        theirs = visible(other.folder.name)
        yield problem(
            named(subject.folder / DOCUMENT),
            "$.id",
            subject.folder.name,
            f"an id that cannot be taken for {theirs}",
            _OTHER_ID,
        )


def twice_problems(subjects: Sequence[Subject]) -> Iterator[Problem]:
    """Weights or images that another submission has handed in already."""
    first: dict[str, Subject] = {}
    for subject in subjects:
        for key in sorted(set(_identity(subject))):
            other = first.setdefault(key, subject)
            if other is subject:
                continue
            yield problem(
                named(subject.folder / DOCUMENT),
                "",
                f"the same content as {other.folder.name} ({key[:16]})",
                "weights or images that nobody has handed in",
                "one content is one submission: change that one instead",
            )
            break


def _identity(subject: Subject) -> Iterable[str]:
    if subject.kind == "saes":
        files = subject.document.get("sae", {}).get("files", ())
        yield from (each["sha256"] for each in files if each["path"].endswith(".safetensors"))
        for result in subject.results:
            yield f"sae:{result.document['submission'].get('weights_sha256')}"
        return
    files = subject.document.get("generator", {}).get("files", ())
    yield from (each["sha256"] for each in files)
    for result in subject.results:
        yield f"images:{result.document['submission'].get('images_sha256')}"
