"""``assay generate edit``: make the edits of a plan with FLUX.2."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generation.editing import Settings
    from generation.work import Work


def edit(
    work: Annotated[Path, typer.Argument(help="Work folder with a plan.")],
    model: Annotated[
        str,
        typer.Option(
            help="klein-4b (Apache-2.0), klein-9b or dev (both non-commercial), a folder, or "
            "owner/name@REVISION; without a revision, the commit that main is now."
        ),
    ] = "klein-4b",
    licence: Annotated[
        str | None,
        typer.Option(
            help="Licence of a model that does not state one; it goes into the dataset, and into "
            "the log for edits that are there."
        ),
    ] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder of the source, if it moved since the plan.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Denoising steps; 4 if distilled, else 50."),
    ] = None,
    guidance: Annotated[
        float | None,
        typer.Option(min=0, max=1000, help="Guidance, 4 if not given; not for distilled ones."),
    ] = None,
    dtype: Annotated[
        str, typer.Option(help="auto, bfloat16, float16 or float32; auto is bfloat16 on a card.")
    ] = "auto",
    quantise: Annotated[
        str, typer.Option(help="none, or 4bit: transformer and text encoder in four bits.")
    ] = "none",
    offload: Annotated[
        str,
        typer.Option(
            help="What waits in main memory: none; model (parts not at work); sequential (all but "
            "one layer, slow); auto takes model where the weights do not fit the card."
        ),
    ] = "auto",
    device: Annotated[
        str | None, typer.Option(help="cuda, cuda:1, cpu; a graphics card if there is one.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**53 - 1, help="Seed of the noise; the plan's if not given."),
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, max=100, help="Further attempts at an edit that failed.")
    ] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Make so many edits and stop, for a look.")
    ] = None,
    redo: Annotated[
        bool, typer.Option("--redo", help="Make edits by another model or settings anew.")
    ] = False,
    prompts: Annotated[
        Path | None, typer.Option(help="File of encoded prompts, to do without a text encoder.")
    ] = None,
    write_prompts: Annotated[
        Path | None,
        typer.Option("--write-prompts", help="Only encode the plan's prompts into this file."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Edit on Ray, one process a graphics card: a cluster's address, auto, or local.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make the edits of a plan; a stopped run goes on where it was.

    On one graphics card of 24 GB, with klein 4B (Apache-2.0; about 13 GB by its makers' word):

    \b
      pip install 'concept-assay\\[flux]'
      assay generate edit WORK --limit 10
      assay generate edit WORK

    The second line makes ten edits for a look at WORK/edits/images, the
    third all others. With dev (non-commercial; about 20 GB in four bits),
    once its terms are accepted on its page:

    \b
      hf auth login
      assay generate edit WORK --model dev --quantise 4bit --offload model

    If memory runs out: --offload model; then --quantise 4bit as well; or
    --offload sequential alone. Several cards of this machine: --ray local.
    This project has run its code on processors only: memory and four bits
    are as the makers and the libraries say. All pictures of a work folder
    are by one model with one setting; WORK/edits/log.jsonl says which.
    """
    from functools import partial

    from benchmark.cli.show import print_json, progress_bar
    from benchmark.errors import CheckFailed, UserError
    from generation.editing import Editor, Settings, here, locate, make_edits, when_needed
    from generation.work import Work, open_source

    place = Work(work)
    plan = place.plan
    if ray is not None and device is not None:
        raise UserError("--device is for one process; with --ray every process has its own card")
    # a branch may have moved since the first run: the commit of the edits there is meant
    used = {record.model: record.model_revision for record in place.edits().values()}
    found = locate(model, licence=licence, used={} if redo else used)
    settings = Settings(found, steps, guidance, dtype, quantise, offload, device, prompts)
    settings.check()
    if write_prompts is not None:
        _encode(place, settings, write_prompts)
        return
    with place.locked("edit"):
        with progress_bar(f"hashing {plan.source.name}") as update:
            source = open_source(place, root, progress=update)
        make = partial(
            make_edits, place, settings, seed=seed, retries=retries, limit=limit, redo=redo
        )
        if ray is None:
            run = when_needed(lambda: here(Editor(settings), source))
            with progress_bar("editing") as update:
                report = make(run, progress=update)
        else:
            from benchmark.ray_cluster import connected
            from generation.editing.on_ray import on_ray

            with connected(ray) as actors, progress_bar("editing") as update:
                run = on_ray(settings, partial(open_source, place, root), actors)
                report = make(run, progress=update)
    if as_json:
        print_json({**report.as_dict(), "plan_hash": plan.hash, "model": settings.model.name})
    else:
        typer.echo(
            f"{work}: {report.there:,} of {len(plan.edits):,} edits are there, {report.made:,} of "
            f"them new; by {settings.model.name}, licence {settings.model.licence}"
        )
        if report.relicensed:
            typer.echo(
                f"  {report.relicensed:,} made before had another licence in the log; it is "
                "corrected there"
            )
        for name, error in report.failed:
            typer.echo(f"  {name} failed: {error}")
        if report.missing:
            typer.echo(f"  {report.missing:,} left for the next run")
        if report.there:
            typer.echo(f"next: assay generate verify {work}")
    if not report.there:
        raise CheckFailed(f"{work}: no edit could be made; the reasons are in edits/log.jsonl")


def _encode(place: "Work", settings: "Settings", path: Path) -> None:
    from benchmark.cli.show import progress_bar
    from benchmark.files import check_target
    from generation.editing import Editor
    from generation.editing.prompts import write_prompts
    from generation.editing.run import prompts_of

    check_target(path)
    editor = Editor(settings)
    with progress_bar("encoding prompts") as update:
        count = write_prompts(
            path, prompts_of(place.plan.edits), editor.encode, settings.model.revision, update
        )
    typer.echo(f"{path}: {count:,} prompts")
