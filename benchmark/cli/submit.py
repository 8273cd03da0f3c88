"""``assay submit``: make, check and score a submission."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.cli.options import (
    ActiveLatents,
    ArchitectureName,
    Authors,
    DatasetName,
    Force,
    PrintDocument,
    SubmissionId,
    SubmissionName,
    SubmissionRoot,
    TrainedOn,
)
from benchmark.cli.submit_generator import init_generator, score_generator, show_marks

if TYPE_CHECKING:
    from benchmark.submissions import Submission
    from benchmark.submissions.check import Report
    from benchmark.submissions.make import Answers

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Make, check and score a submission."
)

_OPTIONS = {
    "id": ("--id", "id (lower-case letters, digits, dashes)"),
    "name": ("--name", "name on the board"),
    "authors": ("--author", "authors, separated by semicolons"),
    "licence": ("--licence", "licence of the weights (SPDX, for instance Apache-2.0)"),
    "encoder": ("--encoder", "encoder whose features it reads"),
    "trained_on": ("--trained-on", "training data (DATASET:SPLIT[,SPLIT…]; …)"),
}


@app.command()
def init(
    sae: Annotated[str, typer.Argument(help="SAE folder, file, or Hub owner/name@revision.")],
    id_: SubmissionId = None,
    name: SubmissionName = None,
    author: Authors = None,
    licence: Annotated[str | None, typer.Option(help="Licence of the weights (SPDX).")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder; what the SAE's file says by default.")
    ] = None,
    trained_on: TrainedOn = None,
    k: ActiveLatents = None,
    architecture: ArchitectureName = None,
    root: SubmissionRoot = Path("submissions"),
    force: Force = False,
    json_: PrintDocument = False,
) -> None:
    """Write submissions/saes/ID from an SAE; asks for what its file does not say."""
    from benchmark.cli.show import print_json
    from benchmark.submissions import load_submission
    from benchmark.submissions.make import Answers, filled_in, make_submission, read_source

    source = read_source(sae, k=k, architecture=architecture)
    given = Answers(id_, name, licence, encoder, tuple(author or ()), tuple(trained_on or ()))
    answers = _complete(filled_in(given, source))
    folder, notes = make_submission(source, answers, root, force=force)
    for note in (*source.sae.notes, *notes):
        typer.echo(f"note: {note}", err=True)
    if json_:
        print_json(load_submission(folder, kind="saes").document)
        return
    typer.echo(f"{folder}: {source.sae.architecture}, {source.sae.d_sae} latents")
    typer.echo(f"next: assay submit validate {folder}; assay submit score {folder}")


def _complete(answers: "Answers") -> "Answers":
    """Ask for what is missing, or name every missing option where nobody can answer."""
    from dataclasses import replace

    from benchmark.errors import UserError

    missing = answers.missing()
    if missing and not sys.stdin.isatty():
        options = ", ".join(_OPTIONS[name][0] for name in missing)
        raise UserError(f"the SAE's file does not say everything; give {options}")
    for name in missing:
        text = typer.prompt(_OPTIONS[name][1]).strip()
        given: Any = text
        if name in ("authors", "trained_on"):
            given = tuple(part.strip() for part in text.split(";") if part.strip())
        answers = replace(answers, **{name: given})
    return answers


app.command("init-generator")(init_generator)


@app.command()
def validate(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders to check; all below the root if none.")
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="Folder with saes/ and generators/; the folder's own by default."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="Checkout whose submissions/ the root would replace: checks the change."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Name every problem of submissions, offline: file, place, found, expected, fix."""
    from benchmark.cli.show import print_json
    from benchmark.submissions.check import check

    report = check(root or _root_of(folders), folders or None, base=base)
    if json_:
        print_json(report.as_dict())
    else:
        _print(report)
    if report.problems:
        raise typer.Exit(1)


def _root_of(folders: Sequence[Path] | None) -> Path:
    """The root that folders lie in, saes/ID below it; the usual one where there are none."""
    from benchmark.errors import UserError

    roots = {folder.absolute().parent.parent for folder in folders or ()}
    if len(roots) > 1:
        raise UserError("the folders lie below different roots; check them one root at a time")
    return roots.pop() if roots else Path("submissions")


def _print(report: "Report") -> None:
    for kind, found in (("problem", report.problems), ("note", report.notes)):
        for each in found:
            place = f"{each.file} {each.path}".rstrip()
            typer.echo(f"{kind}: {place}")
            typer.echo(f"    found     {each.found}")
            typer.echo(f"    expected  {each.expected}")
            typer.echo(f"    fix       {each.fix}")
    count = len(report.problems)
    result = "valid" if not count else f"{count} problem{'s' if count > 1 else ''}"
    typer.echo(f"{report.checked} checked: {result}")


@app.command()
def score(
    submission: Annotated[str, typer.Argument(help="Id of a submission, or its folder.")],
    dataset: DatasetName = "synavatars",
    pairs: Annotated[
        str | None,
        typer.Option(help="Dataset of the edit pairs, where it is another one: cub with syncub."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result record here as JSON.")] = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Maintainers: keep it under results/, as a new version."),
    ] = False,
    page: Annotated[
        Path | None, typer.Option("--report", help="Folder for a generator's report.html.")
    ] = None,
    root: SubmissionRoot = Path("submissions"),
    json_: Annotated[bool, typer.Option("--json", help="Print the result record.")] = False,
) -> None:
    """Measure a valid submission by the suite's own protocol, as the board does.

    A generator's dataset is the real set that its submission names.
    """
    from benchmark.cli.inputs import check_out, find_submission
    from benchmark.errors import CheckFailed, UserError
    from benchmark.submissions import load_submission
    from benchmark.submissions.check import check

    folder = find_submission(submission, root)
    if folder is None:
        raise UserError(
            f"{submission}: no submission; expected an id below {root} or a folder with "
            "submission.json"
        )
    report = check(folder.absolute().parent.parent, [folder])
    if report.problems:
        more = len(report.problems) - 1
        others = f"; see {more} more with: assay submit validate {folder}" if more else ""
        raise CheckFailed(f"{folder} is not valid: {report.problems[0]}{others}")
    check_out(out, {})
    if out is not None and out.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{out}: lies in the submission; --record alone writes there")
    found = load_submission(folder, kind=folder.absolute().parent.name)
    if found.kind == "generators":
        if pairs is not None or dataset not in ("synavatars", found.document["real"]):
            raise UserError(
                f"{found.id}: is compared with its real set, {found.document['real']}; leave "
                "--dataset and --pairs out"
            )
        score_generator(found, out, page, record, json_)
        return
    if page is not None:
        raise UserError("--report: only generators have one; see assay card for an SAE")
    _score(found, dataset, pairs, out, record, json_)


def _score(
    submission: "Submission",
    dataset: str,
    pairs: str | None,
    out: Path | None,
    record: bool,
    as_json: bool,
) -> None:
    from benchmark.cli.inputs import give_out
    from benchmark.cli.show import record_table
    from benchmark.submissions.recording import record_result

    document = _measure_sae(submission, dataset, pairs)
    give_out("result-sae", document, out, as_json, record_table)
    show_marks(submission, document, as_json)
    if not record:
        return
    file = record_result(submission, document)
    if file is None:
        typer.echo("nothing changed but time and environment; the newest result stands", err=True)
    else:
        typer.echo(f"recorded: {file}", err=True)


def _measure_sae(submission: "Submission", dataset: str, pairs: str | None) -> dict[str, Any]:
    from benchmark.cli.embed import shown_progress
    from benchmark.runs import prepare_by_name, score_prepared
    from benchmark.submissions.saes import open_sae, who

    sae = open_sae(submission)
    for note in sae.notes:
        typer.echo(f"note: {note}", err=True)
    with shown_progress("embedding") as update:
        prepared = prepare_by_name(
            dataset, str(submission.document["encoder"]), None, update, pairs=pairs
        )
    return score_prepared(sae, who(submission, sae), prepared)
