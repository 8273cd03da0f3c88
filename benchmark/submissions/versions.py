"""Versions of the documents that people write: an old one is brought up when it is read."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmark.errors import UserError
from benchmark.submissions.problems import visible

Step = Callable[[dict[str, Any]], dict[str, Any]]

NEWEST = 1
STEPS: Mapping[int, Step] = {}
"""Version → what makes a document of it one of the next version."""


def upgraded(
    document: dict[str, Any], *, newest: int = NEWEST, steps: Mapping[int, Step] = STEPS
) -> dict[str, Any]:
    """``document`` in the newest version; one without a version is left to the schema.

    Raises:
        UserError: a version that this suite does not know.
    """
    while "schema_version" in document:
        version = document["schema_version"]
        if type(version) is int and version == newest:
            break
        if type(version) is not int or version not in steps:
            known = ", ".join(str(number) for number in sorted({*steps, newest}))
            raise UserError(
                f"schema_version {visible(repr(version))} is not known here; this suite knows "
                f"{known}"
            )
        document = {**steps[version](document), "schema_version": version + 1}
    return document
