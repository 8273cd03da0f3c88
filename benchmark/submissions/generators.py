"""Rules for submissions of generators, beside those for every submission."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.submissions.documents import DOCUMENT, named, read_results
from benchmark.submissions.folders import MAX_FOLDER
from benchmark.submissions.generators_known import PIPELINES, REAL_SETS, prompts_of
from benchmark.submissions.generators_results import generator_result_problems
from benchmark.submissions.problems import Problem, problem


def validate_generator(folder: Path, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Faults of a generator's document, images and results; no model is loaded.

    Args:
        folder: of the submission.
        document: its ``submission.json``, valid under its schema.
    """
    where = named(folder / DOCUMENT)
    if document["real"] not in REAL_SETS:
        yield problem(
            where,
            "$.real",
            document["real"],
            f"one of {', '.join(sorted(REAL_SETS))}",
            "name the real set to compare with",
        )
    generator, content = document["generator"], None
    if generator["kind"] == "diffusers":
        yield from _model(generator, where)
    elif "hub" not in generator:
        faults, content = _images(folder, generator["files"])
        yield from faults
    results, _ = read_results(folder, "generators")
    yield from generator_result_problems(results, document, folder, content)


def _model(generator: Mapping[str, Any], where: str) -> Iterator[Problem]:
    if "pipeline" in generator and generator["pipeline"] not in PIPELINES:
        yield problem(
            where,
            "$.generator.pipeline",
            generator["pipeline"],
            f"one of {', '.join(PIPELINES)}",
            "name the class that draws from a prompt alone",
        )
    try:
        prompts_of(generator)
    except UserError as error:
        yield problem(where, "$.generator.prompts", error, "a number in range", "change the counts")


def _images(folder: Path, files: Sequence[Mapping[str, Any]]) -> tuple[list[Problem], str | None]:
    """Faults of the files in the folder, at most one a file; if there are none, their hash."""
    from benchmark.submissions.generators_images import (
        ImageFile,
        ImagesFault,
        ParquetSet,
        check_readable,
    )

    faults, sound = [], []
    for entry in files:
        path = folder / entry["path"]
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FOLDER:
            return [], None  # said by the rules for every folder
        label = named(path)
        try:
            file = ImageFile.of(path, label)
            for row, data in enumerate(file.encoded()):
                check_readable(data, f"{label} row {row}")
            sound.append(file)
        except ImagesFault as error:
            place = error.where.removeprefix(label).strip()
            fix = "write the file again"
            faults.append(problem(label, place, error.found, error.expected, fix))
    if faults:
        return faults, None
    try:
        return [], ParquetSet(named(folder), sound).content_sha256()
    except ImagesFault as error:
        where = named(folder / DOCUMENT)
        fault = problem(where, "$.generator.files", error.found, error.expected, "add images")
        return [fault], None
