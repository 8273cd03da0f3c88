"""Rules for submissions of generators, beside those for every submission."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.submissions.documents import DOCUMENT, named, read_results
from benchmark.submissions.folders import MAX_UNPACKED, is_small
from benchmark.submissions.generators_known import PIPELINES, REAL_SETS, check_counts
from benchmark.submissions.generators_results import generator_result_problems
from benchmark.submissions.problems import Problem, problem

if TYPE_CHECKING:
    from benchmark.submissions.generators_images import ImageFile

MAX_PIXELS = 2**28
"""Of all different pictures in a folder together: decoding them takes seconds."""


def validate_generator(
    folder: Path, document: Mapping[str, Any], *, whole: bool = True
) -> Iterator[Problem]:
    """Faults of a generator's document, images and results; no model is loaded.

    Args:
        folder: of the submission.
        document: its ``submission.json``, None where a value breaks the schema.
        whole: whether ``generator`` and ``real`` are sound; results are compared with them.
    """
    where = named(folder / DOCUMENT)
    if document.get("real") is not None and document["real"] not in REAL_SETS:
        yield problem(
            where,
            "$.real",
            document["real"],
            f"one of {', '.join(sorted(REAL_SETS))}",
            "name the real set to compare with",
        )
    generator, content = document.get("generator") or {}, None
    if generator.get("kind") == "diffusers":
        yield from _model(generator, where)
    elif "hub" not in generator:
        faults, content = _images(folder, generator.get("files") or ())
        yield from faults
    if whole:
        results, _ = read_results(folder, "generators")
        yield from generator_result_problems(results, document, folder, content)


def _model(generator: Mapping[str, Any], where: str) -> Iterator[Problem]:
    if generator.get("pipeline") is not None and generator["pipeline"] not in PIPELINES:
        yield problem(
            where,
            "$.generator.pipeline",
            generator["pipeline"],
            f"one of {', '.join(PIPELINES)}",
            "name the class that draws from a prompt alone",
        )
    prompts = generator.get("prompts") or ()
    counts = [each["count"] for each in prompts if each and each.get("count") is not None]
    if not counts or len(counts) < len(prompts):
        return  # said by the schema
    try:
        check_counts(counts)
    except UserError as error:
        yield problem(where, "$.generator.prompts", error, "a number in range", "change the counts")


def _images(folder: Path, files: Sequence[Mapping[str, Any]]) -> tuple[list[Problem], str | None]:
    """Faults of the files in the folder, at most one a file; if there are none, their hash."""
    from benchmark.submissions.generators_images import ImageFile, ImagesFault, ParquetSet

    faults, sound = [], []
    seen = _Seen()
    names = [entry["path"] for entry in files if entry and entry.get("path")]
    if len(names) < len(files) or not all(is_small(folder / name) for name in names):
        return [], None  # said by the schema, or by the rules for every folder
    for name in names:
        path = folder / name
        label = named(path)
        try:
            file = ImageFile.of(path, label, limit=MAX_UNPACKED)
            _decode(file, seen)
            sound.append(file)
        except ImagesFault as error:
            place = error.where.removeprefix(label).strip()
            fix = "write the file again"
            faults.append(problem(label, place, error.found, error.expected, fix))
    if faults or not names:
        return faults, None
    try:
        return [], ParquetSet(named(folder), sound).content_sha256()
    except ImagesFault as error:
        where = named(folder / DOCUMENT)
        fault = problem(where, "$.generator.files", error.found, error.expected, "add images")
        return [fault], None


@dataclass
class _Seen:
    """Pictures that were decoded: their hashes, and how many pixels they have together."""

    hashes: set[bytes] = field(default_factory=set)
    pixels: int = 0


def _decode(file: "ImageFile", seen: _Seen) -> None:
    """Decode every picture of a file that was not seen yet."""
    from benchmark.submissions.generators_images import ImagesFault, check_picture, check_readable

    for row, data in enumerate(file.encoded()):
        digest = hashlib.sha256(data).digest()
        if digest in seen.hashes:
            continue
        where = f"{file.label} row {row}"
        width, height = check_picture(data, where)
        seen.hashes.add(digest)
        seen.pixels += width * height
        if seen.pixels > MAX_PIXELS:
            raise ImagesFault(where, "far too many pixels", f"at most {MAX_PIXELS:,} in all files")
        check_readable(data, where)
