"""``assay generate``: build datasets."""

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.generate_edit import edit
from benchmark.cli.generate_package import package
from benchmark.cli.generate_plan import plan
from benchmark.cli.generate_publish import publish
from benchmark.cli.generate_review import review
from benchmark.cli.generate_verify import verify

app = typer.Typer(help="Build datasets.")
app.command()(plan)
app.command()(edit)
app.command()(verify)
app.command()(review)
app.command()(package)
app.command()(publish)


@app.callback()
def _group() -> None:
    """Build datasets."""


@app.command()
def avatars(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to build in; the one where synavatars is looked for if not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 0,
    match: Annotated[int, typer.Option(help="Pictures in the split match.")] = 1600,
    score: Annotated[int, typer.Option(help="Pictures in the split score.")] = 800,
    pairs: Annotated[int, typer.Option(help="Edit pairs.")] = 1200,
    workers: Annotated[
        int | None, typer.Option(help="Processes; one per processor if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Draw synAvatars: the same seed and versions give the same data with any workers."""
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.datasets.synavatars import default_folder
    from benchmark.errors import UserError

    try:
        from generation.avatars import build
    except ImportError as error:
        raise UserError(
            f"building avatars needs {error.name}; pip install 'concept-assay[generation]'"
        ) from error
    with progress_bar("drawing synAvatars") as update:
        report = build(
            out or default_folder(),
            seed=seed,
            match=match,
            score=score,
            pairs=pairs,
            workers=workers,
            progress=update,
        )
    if as_json:
        print_json(report.as_dict())
        return
    typer.echo(
        f"{report.folder}: {report.match:,} match, {report.score:,} score, {report.pairs:,} pairs; "
        f"raw pixels reach F1 {report.probes['raw_pixels_f1']:.3f}\n"
        f"fingerprint {report.fingerprint}"
    )
