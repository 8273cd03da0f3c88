"""What ``score`` and ``card`` share: reading an SAE with its data, and giving a document out."""

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
) -> "tuple[Sae, dict[str, Any], Prepared]":
    """An SAE by path or Hub id, who it is, and the data to measure it on; notes are printed."""
    from benchmark.cli.embed import shown_progress
    from benchmark.runs import prepare_by_name, submission_of
    from benchmark.saes import load_sae

    sae = load_sae(text, k=k, architecture=architecture)
    for note in sae.notes:
        typer.echo(f"note: {note}", err=True)
    path = Path(text if Path(text).exists() else text.partition("@")[0])
    submission = submission_of(sae, path, identifier)
    with shown_progress("embedding") as update:
        return sae, submission, prepare_by_name(dataset, encoder, features, update)


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
