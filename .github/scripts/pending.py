"""Ids of the submissions to measure here, one a line. Arguments: ids; none for all that need it.

A submission needs it if it is not withdrawn and its newest result on synAvatars, if any, is of
other data than those drawn here. Other datasets are measured by hand.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.names import ID
from benchmark.submissions import KINDS, Submission, load_submissions

PLACE = "synavatars"
ROOT = Path("submissions")


def pending(submissions: list[Submission], fingerprint: str) -> list[str]:
    """Ids without a result on the data with this fingerprint, in the order given."""
    return [each.id for each in submissions if _needs(each, fingerprint)]


def chosen(submissions: list[Submission], wanted: list[str]) -> list[str]:
    """``wanted``, each known and not withdrawn; a ``UserError`` names the first that is not."""
    known = {each.id for each in submissions if each.withdrawn is None}
    for name in wanted:
        if not ID.fullmatch(name) or name not in known:
            raise UserError(f"no submission {name[:80]!a} that is not withdrawn")
    return list(dict.fromkeys(wanted))


def _needs(submission: Submission, fingerprint: str) -> bool:
    if submission.withdrawn is not None:
        return False
    if submission.kind == "generators" and submission.document["real"] != PLACE:
        print(f"{submission.id}: compared with other data; measure it by hand", file=sys.stderr)
        return False
    found = [result for result in submission.results if result.place == PLACE]
    return not found or _measured_on(max(found, key=lambda each: each.version).document) != (
        fingerprint
    )


def _measured_on(document: Mapping[str, Any]) -> str:
    return str(document.get("dataset", document.get("real", {})).get("fingerprint"))


def main(wanted: list[str]) -> None:
    """Print the ids."""
    submissions = [each for kind in KINDS for each in load_submissions(ROOT, kind=kind)]
    ids = chosen(submissions, wanted)
    for name in ids or pending(submissions, load_dataset(PLACE).fingerprint):
        print(name)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(f"error: {error}")
