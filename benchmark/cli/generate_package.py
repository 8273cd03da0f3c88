"""``assay generate package``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generation.packaging import Report


def package(
    work: Annotated[Path, typer.Argument(help="Work folder with edits, verdicts and reviews.")],
    out: Annotated[Path, typer.Option(help="Dataset folder to make.")],
    version: Annotated[str, typer.Option(help="Version of the dataset, two numbers.")] = "1.0",
    root: Annotated[
        Path | None, typer.Option(help="Where the source lies, if it moved since the plan.")
    ] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Leave out edits without a picture or a verdict.")
    ] = False,
    unreviewed: Annotated[
        bool,
        typer.Option("--unreviewed", help="Keep pairs that nobody looked at; the card says so."),
    ] = False,
    licence: Annotated[
        str,
        typer.Option(
            help="Licence of the whole, as the Hub spells it: mit, cc-by-4.0; other where the "
            "terms of the parts hold."
        ),
    ] = "other",
    photographs_licence: Annotated[
        str | None, typer.Option(help="Licence of the photographs, if the source does not say.")
    ] = None,
    annotations_licence: Annotated[
        str | None, typer.Option(help="Licence of the annotations, if the source does not say.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Make an ordinary Hub dataset folder of the pairs that passed every stage.

    Parquet with the original bytes, a card, Croissant metadata, statistics and a contact sheet; the
    same work folder gives the same bytes.
    """
    from benchmark.cli.show import print_json, progress_bar
    from generation.packaging import Options
    from generation.packaging import package as run
    from generation.work import Work

    options = Options(
        version=version,
        unfinished=unfinished,
        unreviewed=unreviewed,
        photographs_licence=photographs_licence,
        annotations_licence=annotations_licence,
        licence=licence,
    )
    with progress_bar("packaging") as update:
        report = run(Work(work), out, options, source_root=root, progress=update)
    if json_:
        print_json(report.as_dict())
    else:
        _report(report)


def _report(report: "Report") -> None:
    found = report.as_dict()
    counts = found["counts"]
    typer.echo(
        f"{report.folder}: {found['name']} {found['version']}, {counts['pairs']:,} pairs, "
        f"{counts['concepts']:,} concepts, {found['review']['state']}"
    )
    for row in found["left_out"]:
        typer.echo(f"left out: {row['edits']:,} by {row['stage']}: {row['reason']}")
    typer.echo(f"fingerprint {found['fingerprint']}")
    typer.echo(f"check it with: assay data check {report.folder}")
