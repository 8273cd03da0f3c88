"""Rules over all submissions at once: the root, ids alike, weights handed in twice."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.submissions.documents import DOCUMENT, KINDS, WEIGHTS, Result, named
from benchmark.submissions.folders import MAX_UNPACKED, entries, is_small, odd_entries
from benchmark.submissions.ids import skeleton
from benchmark.submissions.problems import Problem, problem, visible

_MEASURED = {"saes": ("sae", "weights_sha256"), "generators": ("images", "images_sha256")}
"""Kind → how its content is called among identities, and where a result holds its hash."""
_MAX_README = 64 * 2**10
_OTHER_ID = "choose an id that differs more"


@dataclass(frozen=True)
class Subject:
    """One folder under examination.

    Attributes:
        kind: "saes" or "generators".
        folder: where it is.
        document: its content, without the top-level parts that break the schema.
        parts: its content, None in place of every value that breaks the schema.
        results: its sound results.
        faults: what reading them found.
    """

    kind: str
    folder: Path
    document: Mapping[str, Any] = field(repr=False)
    parts: Mapping[str, Any] = field(repr=False)
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
        elif entry.is_file and entry.size > _MAX_README:
            yield problem(
                entry.path.name,
                "",
                f"{entry.size:,} bytes",
                f"at most {_MAX_README:,} bytes",
                "shorten it",
            )
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
        for key in sorted(set(identity(subject))):
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


def identity(subject: Subject) -> Iterator[str]:
    """What no two submissions may share: hashes of files, and of what is in them."""
    block = subject.parts.get("sae" if subject.kind == "saes" else "generator") or {}
    files = whole_files(block)
    if subject.kind == "saes":
        files = [each for each in files if each["path"].endswith(WEIGHTS)]
    yield from (each["sha256"] for each in files)
    if files and "hub" not in block:
        hashes = _tensors if subject.kind == "saes" else _images
        yield from hashes(subject.folder, [each["path"] for each in files])
    for result in subject.results:
        if (content := measured_content(subject.kind, result.document)) is not None:
            yield content


def whole_files(block: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """The files of a block that have both a sound name and a sound hash."""
    files = [each or {} for each in block.get("files") or ()]
    return [each for each in files if each.get("path") and each.get("sha256")]


def measured_content(kind: str, record: Mapping[str, Any]) -> str | None:
    """What a result says of the content that was measured, as one of ``identity``."""
    name, key = _MEASURED[kind]
    found = record["submission"].get(key)
    return None if found is None else f"{name}:{found}"


def _tensors(folder: Path, names: Sequence[str]) -> Iterator[str]:
    from benchmark.tensors import content_sha256

    for name in names:
        if is_small(folder / name):
            with suppress(UserError):  # the rules for weights say what is wrong
                yield f"tensors:{content_sha256(folder / name)}"


def _images(folder: Path, names: Sequence[str]) -> Iterator[str]:
    from benchmark.submissions.generators_images import ImageFile, ImagesFault, ParquetSet

    if not all(is_small(folder / name) for name in names):
        return
    with suppress(ImagesFault):  # the rules for pictures say what is wrong
        files = [ImageFile.of(folder / name, limit=MAX_UNPACKED) for name in names]
        yield f"images:{ParquetSet(folder.name, files).content_sha256()}"
