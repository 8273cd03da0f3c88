"""Ids of the submissions to measure here, one a line. Arguments: ids; none for all that need it.

A submission needs it if it is not withdrawn and its newest result on synAvatars, if any, is of
other data than those drawn here. What this machine is too small for is measured by hand; so are
other datasets. An id that is given is not asked about: whoever gave it knows.
"""

import os
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
MAX_IMAGES = 10_000
"""Of a generator that brings its images in its folder, where a byte may be many of them."""
MAX_BYTES = 2 * 2**30
"""Of files on the Hub: several such submissions fit on the disk."""


def pending(submissions: list[Submission], fingerprint: str) -> list[str]:
    """Ids without a result on the data with this fingerprint, in the order given."""
    return [each.id for each in submissions if _needs(each, fingerprint) and _is_small(each)]


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
    found = [result for result in submission.results if result.place == PLACE]
    return not found or _measured_on(max(found, key=lambda each: each.version).document) != (
        fingerprint
    )


def _measured_on(document: Mapping[str, Any]) -> str:
    return str(document.get("dataset", document.get("real", {})).get("fingerprint"))


def _is_small(submission: Submission) -> bool:
    """Whether it is measured here; if not, standard error says why."""
    reason = _too_much(submission)
    if reason is not None:
        print(f"{submission.id}: {reason}; measure it by hand", file=sys.stderr)
    return reason is None


def _too_much(submission: Submission) -> str | None:
    is_generator = submission.kind == "generators"
    block = submission.document["generator" if is_generator else "sae"]
    if is_generator and submission.document["real"] != PLACE:
        return "compared with other data"
    if is_generator and block["kind"] == "diffusers":
        return "a model that draws its images"
    if "hub" in block:
        size = size_on_hub(block, "dataset" if is_generator else "model")
        if size is None:
            return "the Hub does not say how large it is"
        return f"{size:,} bytes on the Hub" if size > MAX_BYTES else None
    return _too_many(submission.folder, block) if is_generator else None


def size_on_hub(block: Mapping[str, Any], kind: str) -> int | None:
    """Bytes of a submission's files on the Hub; None where it does not name each of them."""
    from huggingface_hub import HfApi

    hub = block["hub"]
    inside = f"{hub['folder']}/" if hub.get("folder") else ""
    names = {inside + file["path"] for file in block["files"]}
    try:
        found = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).get_paths_info(
            hub["repo"], sorted(names), revision=hub["revision"], repo_type=kind
        )
        sizes = {each.path: each.size for each in found if each.path in names}
    except Exception:  # the client lets errors of its transport through
        return None
    return sum(sizes.values()) if set(sizes) == names else None


def _too_many(folder: Path, block: Mapping[str, Any]) -> str | None:
    from benchmark.submissions.generators_images import ImageFile

    try:
        count = sum(ImageFile.of(folder / file["path"]).rows for file in block["files"])
    except UserError as error:
        return str(error)
    return f"{count:,} images" if count > MAX_IMAGES else None


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
