"""An SAE submission opened as the suite reads it, from its folder or the Hub."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.submissions.documents import DOCUMENT, WEIGHTS, Submission

if TYPE_CHECKING:
    from benchmark.saes import Sae


def open_sae(submission: Submission) -> "Sae":
    """The SAE of a submission, read from exactly the files that its document names.

    Raises:
        UserError: a file that is missing or has another hash, files that are no SAE, or one of
            another architecture or other sizes than the document says.
    """
    from benchmark.saes import load_sae

    block = submission.document["sae"]
    source = _fetched(block) if "hub" in block else submission.folder
    with tempfile.TemporaryDirectory(prefix="assay-") as name:
        folder = Path(name)
        for declared in block["files"]:
            _link(source / declared["path"], folder / declared["path"], declared["sha256"])
        weights = next(each["path"] for each in block["files"] if each["path"].endswith(WEIGHTS))
        try:
            sae = load_sae(folder / weights, k=block.get("k"), architecture=hint(block))
        except UserError as error:
            raise UserError(str(error).replace(str(folder), str(source))) from None
    own = {key: getattr(sae, key) for key in ("architecture", "d_in", "d_sae")}
    if "k" in block and (k := getattr(sae.activation, "k", None)) is not None:
        own["k"] = k
    for key, found in own.items():
        if found != block[key]:
            where = f"{submission.folder / DOCUMENT} $.sae.{key}"
            raise UserError(
                f"{where}: found {block[key]}; expected {found}, what the weights have; correct it"
            )
    return sae


def who(submission: Submission, sae: "Sae", identifier: str | None = None) -> dict[str, Any]:
    """What a record says of a submission: name from its document, the rest from its weights.

    ``identifier`` replaces its id.
    """
    from benchmark.runs import submission_of

    found = submission_of(sae, submission.folder, identifier or submission.id)
    return {**found, "name": submission.name}


def hint(block: Mapping[str, Any]) -> str | None:
    """The architecture of a document's ``sae`` where a file may need to be told."""
    return block["architecture"] if block["architecture"] in ("topk", "relu") else None


def _fetched(block: Mapping[str, Any]) -> Path:
    from benchmark.saes.hub import fetch

    hub = block["hub"]
    inside = f"/{hub['folder']}" if "folder" in hub else ""
    names = [declared["path"] for declared in block["files"]]
    return fetch(f"{hub['repo']}{inside}@{hub['revision']}", names)


def _link(file: Path, target: Path, digest: str) -> None:
    if not file.is_file():
        raise UserError(f"{file}: no such file, though the submission names it; put it there")
    if (found := file_sha256(file)) != digest:
        raise UserError(
            f"{file}: has SHA-256 {found}, but the submission says {digest}; hand in the file that "
            "was meant under another id"
        )
    target.symlink_to(file.resolve())
