"""``assay submit`` for image generators: ``init-generator``, and what ``score`` does with one."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.cli.options import (
    Authors,
    Force,
    PrintDocument,
    SubmissionId,
    SubmissionName,
    SubmissionRoot,
    TrainedOn,
)

if TYPE_CHECKING:
    from benchmark.submissions import Submission

_ASKED = {
    "--id": "id (lower-case letters, digits, dashes)",
    "--name": "name on the board",
    "--author": "authors, separated by semicolons",
    "--licence": "licence of the images or the model (SPDX, for instance CC0-1.0)",
    "--trained-on": "training data (DATASET:SPLIT[,SPLIT…]; …)",
}
_SHOWN = {
    "sad": "SaD",
    "pad": "PaD",
    "r_sad": "R-SaD",
    "r_sad_unrefined": "R-SaD, unrefined",
    "r_sad_over_null": "R-SaD / null",
    "fid": "FID",
    "kid": "KID",
    "precision": "precision",
    "recall": "recall",
    "density": "density",
    "coverage": "coverage",
}


def init_generator(
    source: Annotated[
        str,
        typer.Argument(
            help="Folder or Parquet file of pictures, or owner/name@REVISION on the Hub: of a "
            "dataset of pictures, or with --prompts of a diffusers model."
        ),
    ],
    id_: SubmissionId = None,
    name: SubmissionName = None,
    author: Authors = None,
    licence: Annotated[str | None, typer.Option(help="Licence (SPDX).")] = None,
    trained_on: TrainedOn = None,
    real: Annotated[str, typer.Option(help="Real set to compare with.")] = "synavatars",
    prompts: Annotated[
        Path | None, typer.Option(help="Text file, one prompt a line, for a model to draw.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Images a prompt.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the first image; then one more each.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Denoising steps.")] = 30,
    guidance: Annotated[float, typer.Option(min=0, help="Scale of the guidance.")] = 5.0,
    width: Annotated[int, typer.Option(min=8, help="Pixels.")] = 512,
    height: Annotated[int, typer.Option(min=8, help="Pixels.")] = 512,
    pipeline: Annotated[
        str | None, typer.Option(help="Class of diffusers; the model's own by default.")
    ] = None,
    root: SubmissionRoot = Path("submissions"),
    force: Force = False,
    json_: PrintDocument = False,
) -> None:
    """Write submissions/generators/ID from pictures, or from a model and prompts."""
    from benchmark.cli.show import print_json
    from benchmark.submissions.generators_init import Drawing, write_generator

    given = {
        "--id": id_,
        "--name": name,
        "--author": author,
        "--licence": licence,
        "--trained-on": trained_on,
    }
    answers = _complete(given)
    drawing = None
    if prompts is not None:
        drawing = Drawing(prompts, count, seed, steps, guidance, width, height, pipeline)
    folder, document = write_generator(
        source,
        root,
        identifier=answers["--id"],
        name=answers["--name"],
        authors=answers["--author"],
        licence=answers["--licence"],
        trained_on=answers["--trained-on"],
        real=real,
        drawing=drawing,
        force=force,
    )
    if json_:
        print_json(document)
        return
    typer.echo(f"{folder}: {_what(document['generator'])}, against {real}")
    typer.echo(f"next: assay submit validate {folder}; assay submit score {folder}")


def _complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for what is missing, or name every missing option where nobody can answer."""
    from benchmark.errors import UserError

    answers = dict(given)
    missing = [option for option, value in given.items() if not value]
    if missing and not sys.stdin.isatty():
        raise UserError(f"a submission says more than its pictures do; give {', '.join(missing)}")
    for option in missing:
        text = typer.prompt(_ASKED[option]).strip()
        several = [part.strip() for part in text.split(";") if part.strip()]
        answers[option] = several if option in ("--author", "--trained-on") else text
    return answers


def _what(generator: Mapping[str, Any]) -> str:
    if generator["kind"] == "diffusers":
        images = sum(entry["count"] for entry in generator["prompts"])
        return f"{images:,} images of {len(generator['prompts']):,} prompts by {generator['repo']}"
    files, hub = len(generator["files"]), generator.get("hub")
    place = "in the folder" if hub is None else f"of {hub['repo']}"
    return f"{files} file{'' if files == 1 else 's'} of images {place}"


def score_generator(
    submission: "Submission",
    out: Path | None,
    report: Path | None,
    record: bool,
    as_json: bool,
) -> None:
    """Measure a generator: print, write and keep its result as asked; ``report`` is a folder."""
    from benchmark.cli.images import FILES, write_both
    from benchmark.cli.inputs import give_out
    from benchmark.cli.show import progress_bar
    from benchmark.files import check_target
    from benchmark.generative.submitted.measure import score_generator as measure
    from benchmark.submissions.recording import record_result

    for target in [] if report is None else [report / name for name in FILES]:
        check_target(target)
    with progress_bar("measuring") as update:
        found = measure(submission.folder, submission.document, progress=update)
    give_out("result-generator", found.document, out, as_json, _table)
    show_marks(submission, found.document, as_json)
    if report is not None:
        write_both(report, found.comparison)
        typer.echo(f"{report}/report.html", err=True)
    if record:
        file = record_result(submission, found.document)
        said = "nothing changed but time and environment; the newest result stands"
        typer.echo(said if file is None else f"recorded: {file}", err=True)


def show_marks(submission: "Submission", document: Mapping[str, Any], as_json: bool) -> None:
    """Say how the board will mark a result, beside a table or apart from JSON."""
    from benchmark.submissions.exposure import exposure_note

    if (note := exposure_note(submission.document, document)) is not None:
        typer.echo(f"note: {note}", err=as_json)


def _table(document: Mapping[str, Any]) -> None:
    """The scores with their nulls, and the attributes that are furthest off."""
    from benchmark.cli.show import cell, plain_table, wide_console

    who, real = document["submission"], document["real"]
    table = plain_table(
        f"{who['id']} ({who['n']:,} images) against {real['name']} {real['revision']} "
        f"{real['split']} ({real['n']:,} images)",
        ["score", "value [95 % spread]", "null 95 %", "", "n"],
    )
    for key, name in _SHOWN.items():
        score, null = document["scores"][key], document["null"].get(key)
        table.add_row(
            name,
            _kid(score) if key == "kid" else cell(score),
            "" if null is None else f"{null['q95']:.3f}",
            "" if null is None else ("inside" if null["inside"] else "OUTSIDE"),
            str(score["n"]),
        )
    console = wide_console()
    console.print(table)
    rows = [row for row in document["per_attribute"] if row["sad"]["score"]["value"] is not None]
    rows.sort(key=lambda row: -row["sad"]["score"]["value"])
    worst = ", ".join(f"{r['attribute']} {r['sad']['score']['value']:.3f}" for r in rows[:5])
    console.print(f"furthest off in SaD: {worst}")
    for count, what in (
        (who["duplicates"], "images are copies of others"),
        (who["shared_images"], "images are also in the real set"),
        (who.get("black_images", 0), "images are all black, as a safety checker leaves them"),
    ):
        if count:
            console.print(f"note: {count:,} {what}")
    for key in ("fid", "kid", "precision"):
        for reason in document["scores"][key]["not_applicable"]:
            console.print(f"note: {_SHOWN[key]} is not applicable: {reason}")


def _kid(score: Mapping[str, Any]) -> str:
    """KID is small: more decimals than other scores."""
    return "n/a" if score["value"] is None else f"{score['value']:.5f}"
