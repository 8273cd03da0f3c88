"""Submissions as the repository holds them: a document a folder, with its results."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.names import ID
from benchmark.submissions.ids import PLACE
from benchmark.submissions.problems import Problem, problem, refuse
from benchmark.submissions.reading import MAX_DOCUMENT, MAX_RESULT, JsonProblem, read_object
from benchmark.submissions.texts import document_problems
from benchmark.submissions.versions import upgraded

KINDS = ("saes", "generators")
"""Kinds of submission, as their folders are called."""
DOCUMENT = "submission.json"
RESULTS = "results"
WEIGHTS = ".safetensors"
"""How the file with an SAE's tensors ends."""
SCHEMAS = {
    "saes": ("submission-sae", "result-sae"),
    "generators": ("submission-generator", "result-generator"),
}
"""Kind → schema of the document, schema of its results."""

_VERSION = re.compile(r"([1-9][0-9]{0,5})\.json")


@dataclass(frozen=True)
class Result:
    """One measurement of a submission.

    Attributes:
        place: what it was measured on, "synavatars" or "cub+syncub".
        version: 1 for the first there; a newer one never replaces an older file.
        file: the record.
        document: its content.
    """

    place: str
    version: int
    file: Path
    document: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Submission:
    """One folder of the repository.

    Attributes:
        kind: "saes" or "generators".
        folder: where it lies.
        document: content of ``submission.json`` in the newest version of its schema.
        results: all measurements, by place and version.
    """

    kind: str
    folder: Path
    document: Mapping[str, Any] = field(repr=False)
    results: tuple[Result, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """Its name in file names and addresses."""
        return str(self.document["id"])

    @property
    def name(self) -> str:
        """Its name on the board."""
        return str(self.document["name"])

    @property
    def authors(self) -> list[dict[str, Any]]:
        """Each with ``name`` and perhaps ``orcid`` and ``url``."""
        return [dict(author) for author in self.document["authors"]]

    @property
    def licence(self) -> str:
        """SPDX expression."""
        return str(self.document["licence"])

    @property
    def withdrawn(self) -> Mapping[str, Any] | None:
        """``date`` and ``reason`` where the entry was taken back."""
        return self.document.get("withdrawn")

    @property
    def claimed(self) -> Mapping[str, Any]:
        """The submitter's own numbers by results folder; never a measurement."""
        return self.document.get("claimed", {})

    def newest(self) -> dict[str, Result]:
        """The measurement that counts of every place."""
        return {result.place: result for result in self.results}


def load_submission(folder: Path, *, kind: str) -> Submission:
    """The submission in ``folder``: its document and results, checked one by one.

    The files of the SAE or generator are not opened; ``assay submit validate`` does that.

    Raises:
        UserError: naming every problem of every document.
    """
    submission, problems = read_submission(Path(folder), kind)
    refuse(problems)
    if submission is None:
        raise UserError(f"{folder}: no submission; expected a folder with {DOCUMENT}")
    return submission


def load_submissions(root: Path, *, kind: str) -> tuple[Submission, ...]:
    """Every submission of one kind under ``root``, sorted by id; () where there is no folder.

    Raises:
        UserError: naming every problem of every document.
    """
    found, problems = [], []
    for folder in submission_folders(Path(root), kind):
        submission, faults = read_submission(folder, kind)
        problems += faults
        if submission is not None:
            found.append(submission)
    refuse(problems)
    return tuple(sorted(found, key=lambda submission: submission.id))


def submission_folders(root: Path, kind: str) -> list[Path]:
    """What lies in ``root/kind``, sorted by name; files count too, so that a rule sees them."""
    place = root / kind
    return sorted(place.iterdir()) if place.is_dir() else []


def read_submission(folder: Path, kind: str) -> tuple[Submission | None, list[Problem]]:
    """What can be read of a folder, and every fault of its documents.

    The submission is None where its document has a fault; a faulty result is left out.
    """
    document, problems = read_document(folder, kind)
    sound = not problems
    results, faults = read_results(folder, kind)
    problems += faults
    return (Submission(kind, folder, document, results) if sound else None), problems


def read_document(folder: Path, kind: str) -> tuple[dict[str, Any], list[Problem]]:
    """The document of a folder, and every fault of it.

    Where it has faults, the document holds those of its top-level parts that have none under the
    schema.
    """
    read = read_parts(folder, kind)
    return read.document, list(read.problems)


@dataclass(frozen=True)
class Read:
    """What could be read of a ``submission.json``.

    Attributes:
        document: its content; where it has faults, its top-level parts that have none under the
            schema.
        parts: its content, None in place of every value that breaks the schema; keys may be
            missing.
        problems: every fault of the document by itself.
    """

    document: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_parts(folder: Path, kind: str) -> Read:
    """The document of a folder as far as it can be read."""
    if folder.is_symlink() or not folder.is_dir():
        fault = problem(
            named(folder), "", "no folder", "a folder <id>", f"put {DOCUMENT} in a folder"
        )
        return Read(problems=(fault,))
    problems = []
    if not ID.fullmatch(folder.name):
        expected = "lower-case letters, digits and dashes, at most 63"
        problems.append(problem(named(folder), "", folder.name, expected, "rename the folder"))
    where = named(folder / DOCUMENT)
    try:
        document = upgraded(read_object(folder / DOCUMENT, MAX_DOCUMENT))
    except JsonProblem as error:
        fix = f"write it again, see {_page(SCHEMAS[kind][0])}"
        fault = problem(where, "", error.found, error.expected, fix)
        return Read(problems=(*problems, fault))
    except UserError as error:
        fault = problem(where, "$.schema_version", error, "a known version", "update the suite")
        return Read(problems=(*problems, fault))
    read = examined(document, kind, folder.name, where)
    return replace(read, problems=(*problems, *read.problems))


def examined(document: dict[str, Any], kind: str, folder: str, where: str) -> Read:
    """A document under its schema and the rules for its words.

    Args:
        document: in the newest version.
        kind: of submission.
        folder: name of the folder that holds it.
        where: how to name its file.
    """
    schema = SCHEMAS[kind][0]
    whole = parts = document
    faults = _schema_problems(schema, document, where)
    if faults:
        from schemas import sound

        whole, parts = _sound_parts(schema, document, faults), sound(schema, document)
    faults += document_problems(parts, folder, where)
    return Read(whole, parts, tuple(faults))


def read_results(folder: Path, kind: str) -> tuple[tuple[Result, ...], list[Problem]]:
    """The sound results of a folder, and every fault of the others."""
    results, problems = [], []
    for place, version, file in result_files(folder):
        where = named(file)
        try:
            document = read_object(file, MAX_RESULT)
        except JsonProblem as error:
            fault = problem(where, "", error.found, error.expected, "measure again")
            problems.append(fault)
            continue
        faults = _schema_problems(SCHEMAS[kind][1], document, where) or _time_problems(
            document["timing"]["measured_at"], where
        )
        problems += faults
        if not faults:
            results.append(Result(place, version, file, document))
    return tuple(results), problems


def _time_problems(text: str, where: str) -> list[Problem]:
    """The fault of a time that has the form of one and is none, or none that a clock can show."""
    try:
        if 2000 <= datetime.fromisoformat(text).year < 3000:
            return []
    except ValueError:
        pass
    expected = "a time of this millennium, such as 2026-12-01T00:00:00Z"
    return [problem(where, "$.timing.measured_at", text, expected, "measure again")]


def _schema_problems(schema: str, document: dict[str, Any], where: str) -> list[Problem]:
    from schemas import SchemaError, validate

    try:
        validate(schema, document)
    except SchemaError as error:
        return [
            problem(where, each.path, each.found, each.expected, f"see {_page(schema)}")
            for each in error.problems
        ]
    return []


def _page(schema: str) -> str:
    """Where a schema is described, in the repository."""
    return f"docs/schemas/{schema}.md"


def _sound_parts(
    schema: str, document: dict[str, Any], problems: Iterable[Problem]
) -> dict[str, Any]:
    from schemas import load

    faulty = {re.split(r"[.\[]", each.path.removeprefix("$."))[0] for each in problems}
    known = load(schema)["properties"]
    return {key: document[key] for key in known if key in document and key not in faulty}


def result_files(folder: Path) -> Iterator[tuple[str, int, Path]]:
    """Place, version and file of every result of a folder, by place and version.

    Names that are no place and no version are passed over; a rule names them.
    """
    root = folder / RESULTS
    if root.is_symlink() or not root.is_dir():
        return
    for place in sorted(root.iterdir()):
        if place.is_symlink() or not place.is_dir() or not PLACE.fullmatch(place.name):
            continue
        versions = {
            int(match[1]): file
            for file in place.iterdir()
            if (match := _VERSION.fullmatch(file.name))
        }
        for version in sorted(versions):
            yield place.name, version, versions[version]


def named(file: Path) -> str:
    """A file by its last names, from the kind of submission on."""
    parts = file.parts
    places = [place for place, part in enumerate(parts) if part in KINDS]
    return "/".join(parts[places[-1] :]) if places else file.as_posix()
