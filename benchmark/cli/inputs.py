"""What ``score``, ``card`` and ``judge`` share: reading an SAE with its data, giving out JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from benchmark.runs import Prepared
    from benchmark.saes import Sae


def read_sae(
    text: str,
    *,
    dataset: str,
    encoder: str | None,
    features: Path | None,
    identifier: str | None,
    k: int | None,
    architecture: str | None,
    pairs: str | None = None,
) -> "tuple[Sae, dict[str, Any], Prepared]":
    """An SAE by path, Hub id or submission id, who it is, and its data; notes are printed."""
    from benchmark.cli.embed import shown_progress
    from benchmark.runs import prepare_by_name, submission_of
    from benchmark.saes import load_sae

    folder = find_submission(text)
    if folder is not None:
        sae, submission, own_encoder = _submitted(folder, identifier)
        encoder = encoder or (own_encoder if features is None else None)
    else:
        sae = load_sae(text, k=k, architecture=architecture)
        path = Path(text if Path(text).exists() else text.partition("@")[0])
        submission = submission_of(sae, path, identifier)
    for note in sae.notes:
        typer.echo(f"note: {note}", err=True)
    with shown_progress("embedding") as update:
        return sae, submission, prepare_by_name(dataset, encoder, features, update, pairs=pairs)


def find_submission(text: str, root: Path = Path("submissions")) -> Path | None:
    """The folder of a submission named by its id below ``root``, or by its path; None if none."""
    from benchmark.names import ID
    from benchmark.submissions.documents import DOCUMENT, KINDS

    if (Path(text) / DOCUMENT).is_file():
        return Path(text)
    if not ID.fullmatch(text) or Path(text).exists():
        return None
    places = (root / kind / text for kind in KINDS)
    return next((place for place in places if (place / DOCUMENT).is_file()), None)


def _submitted(folder: Path, identifier: str | None) -> "tuple[Sae, dict[str, Any], str]":
    """The SAE of a submission, who it is, and its encoder's name."""
    from benchmark.errors import UserError
    from benchmark.submissions import load_submission
    from benchmark.submissions.saes import open_sae, who

    if folder.absolute().parent.name == "generators":
        raise UserError(f"{folder}: submits a generator; score it with: assay submit score")
    found = load_submission(folder, kind="saes")
    sae = open_sae(found)
    return sae, who(found, sae, identifier), str(found.document["encoder"])


def check_out(out: Path | None, read: Mapping[str, Path | None]) -> None:
    """Refuse an ``--out`` that cannot be written, or that is a file which the command needs.

    Args:
        out: where to write; None for nowhere.
        read: option or argument → the file it names, None where it was not given.

    Raises:
        UserError: naming the other option.
    """
    from benchmark.errors import UserError
    from benchmark.files import check_target

    if out is None:
        return
    target = check_target(out).resolve()
    for option, path in read.items():
        if path is not None and path.resolve() == target:
            raise UserError(f"{out}: --out would replace the file of {option}; give another --out")


_MOST_BYTES = 64 * 2**20


def read_document(path: Path, schema: str) -> dict[str, Any]:
    """A JSON document that is valid under a schema.

    Raises:
        UserError: absent, too large, not JSON, or against the schema; naming the file.
    """
    import json

    from benchmark.errors import UserError
    from schemas import validate

    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a document of schema {schema!r}")
    if path.stat().st_size > _MOST_BYTES:
        raise UserError(f"{path}: larger than {_MOST_BYTES >> 20} MiB; expected a smaller file")
    try:
        document: dict[str, Any] = json.loads(path.read_bytes().decode())
        validate(schema, document)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON that can be read ({error}); write it again") from None
    return document


def about(submission: Mapping[str, Any], prepared: "Prepared") -> dict[str, Any]:
    """What every document says of its SAE and data."""
    source = prepared.source
    return {
        "submission": dict(submission),
        "dataset": dict(source.dataset),
        "encoder": dict(source.encoder),
    }


def check_joins(path: Path, document: Mapping[str, Any], judgement: Mapping[str, Any]) -> None:
    """Refuse the file ``path`` where a judgement and a document are not of one SAE and data."""
    from benchmark.errors import UserError
    from benchmark.judges.document import check_same

    try:
        check_same(document, judgement)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def give_out(
    schema: str,
    document: Mapping[str, Any],
    out: Path | None,
    as_json: bool,
    report: Callable[[Mapping[str, Any]], None],
) -> None:
    """Check a document against its schema, write it where asked, print it as JSON or a table."""
    from benchmark.cli.show import print_json
    from benchmark.files import write_json
    from schemas import validate

    validate(schema, document)
    if out is not None:
        write_json(out, document)
    if as_json:
        print_json(document)
    else:
        report(document)
