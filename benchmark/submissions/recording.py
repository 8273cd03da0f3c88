"""Measurements kept: the next version of a place, never over an old one."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import check_target, write_json
from benchmark.submissions.documents import RESULTS, Submission
from benchmark.submissions.measured import place_of

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
        UserError: a record of another submission, or a version that somebody else wrote meanwhile.
    """
    if document["submission"]["id"] != submission.id:
        raise UserError(
            f"a record of {document['submission']['id']!r} does not belong to {submission.id}"
        )
    place = place_of(document)
    newest = submission.newest().get(place)
    if newest is not None and same_measurement(newest.document, document):
        return None
    version = 1 if newest is None else newest.version + 1
    file = submission.folder / RESULTS / place / f"{version}.json"
    check_target(file)
    fresh = file.with_suffix(".new")
    write_json(fresh, document)
    try:
        os.link(fresh, file)  # unlike a rename, never over a file
    except FileExistsError:
        raise UserError(f"{file}: is there already; run the command again") from None
    finally:
        fresh.unlink()
    return file
