"""Measurements kept: the next version of a place, never over an old one."""

import itertools
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import check_target, write_json
from benchmark.submissions.documents import RESULTS, Submission, result_files, submission_folders
from benchmark.submissions.measured import place_of
from benchmark.submissions.reading import MAX_RESULT, JsonProblem, read_object
from benchmark.submissions.repository import measured_content

ACROSS_PROCESSORS = 1e-3
"""How far scores may differ between kinds of processor, whose last bits differ."""

_CHANCE = ("environment", "timing")


def same_measurement(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two result records say the same, but for time and environment.

    On the same kind of processor everything else is equal to the last bit. Where the environments
    name different kinds, or none, what was measured and how is equal and every score lies within
    ``ACROSS_PROCESSORS``; coalitions may differ, as near ties can fall either way.
    """
    kinds = {str(record["environment"].get("processor")) for record in (one, other)}
    if len(kinds) == 1 and kinds != {"None"}:
        return _decisive(one) == _decisive(other)
    keys = ("schema_version", "submission", "dataset", "real", "pairs_dataset", "encoder", "model")
    if any(one.get(key) != other.get(key) for key in keys):
        return False
    parts = ("protocol", "scores", "baselines")
    return all(_near(one.get(part), other.get(part)) for part in parts)


def _decisive(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in _CHANCE}


def _near(one: Any, other: Any) -> bool:
    """Equal in form, numbers with a fraction within the tolerance."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return set(one) == set(other) and all(_near(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.0, abs_tol=ACROSS_PROCESSORS)
    return bool(one == other)


def record_result(submission: Submission, document: Mapping[str, Any]) -> Path | None:
    """Keep a measurement as the next version of its place.

    Returns:
        The file; None where the newest version there says the same already.

    Raises:
        UserError: a record of another submission, content that another one has handed in already,
            or a version that somebody else wrote meanwhile.
    """
    if document["submission"]["id"] != submission.id:
        raise UserError(
            f"a record of {document['submission']['id']!r} does not belong to {submission.id}"
        )
    place = place_of(document)
    newest = submission.newest().get(place)
    if newest is not None and same_measurement(newest.document, document):
        return None
    if (other := _twin(submission, document)) is not None:
        raise UserError(
            f"{submission.id}: its content is that of {other}, though its files differ; one "
            "content is one submission: withdraw or delete one of both"
        )
    version = 1 if newest is None else newest.version + 1
    file = submission.folder / RESULTS / place / f"{version}.json"
    _write_new(file, document, submission.folder.absolute().parents[2])
    return file


def _twin(submission: Submission, document: Mapping[str, Any]) -> str | None:
    """Id of another submission whose results are of the same content."""
    content = measured_content(submission.kind, document)
    own = submission.folder.absolute()
    for folder in submission_folders(own.parents[1], submission.kind):
        if content is None or folder.name == own.name:
            continue
        # all results of one submission are of one content, so that any tells
        for _, _, file in itertools.islice(result_files(folder), 1):
            try:
                if measured_content(submission.kind, read_object(file, MAX_RESULT)) == content:
                    return folder.name
            except (JsonProblem, LookupError, TypeError, AttributeError):
                continue  # no result; the rules say so
    return None


def _write_new(file: Path, document: Mapping[str, Any], beside: Path) -> None:
    """Write ``file`` whole, or not at all where it exists.

    It is made in the folder ``beside`` first: what a stopped run leaves is no submission's.
    """
    check_target(file)
    with tempfile.TemporaryDirectory(prefix=".assay-", dir=beside) as name:
        fresh = Path(name) / file.name
        write_json(fresh, document)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(fresh, file)  # unlike a rename, never over a file
        except FileExistsError:
            raise UserError(f"{file}: is there already; run the command again") from None
