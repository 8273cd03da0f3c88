"""``assay generate plan``: which edits to make of which pictures."""

from pathlib import Path
from typing import Annotated

import typer


def plan(
    dataset: Annotated[str, typer.Option(help="Source of the base pictures: cub, coco, a folder.")],
    work: Annotated[Path, typer.Option(help="Work folder to put the plan in.")],
    kind: Annotated[
        str,
        typer.Option(
            help="syncub (exchange an attribute), syncoco (remove an object), or custom (only the "
            "rules of --request)."
        ),
    ],
    root: Annotated[
        Path | None, typer.Option(help="Folder that holds the dataset, if not the usual one.")
    ] = None,
    request: Annotated[
        Path | None,
        typer.Option(
            help="What to plan beyond the defaults, TOML or JSON (schema plan-request): classes, "
            "concepts, prompt, and rules that add objects or change material, lighting, viewpoint."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset to make; the kind if not given.")
    ] = None,
    edits: Annotated[
        int | None,
        typer.Option(min=1, help="Edits to plan; 3,063 for syncub, 9,000 for syncoco."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Split of the base pictures: match, score or any. syncub takes score, syncoco "
            "match (train2017) if not given."
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(help="filter drops pairs that the classifier rejects; report_only does not."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of all chance; 0.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Plan edits: base picture, change, reference picture and prompt of each.

    Writes into the work folder: plan.json, the same as a table (planned.csv), why each other
    picture is left out (left_out.csv), and where the source lies (source.json). The same source,
    request and seed give the same plan. Example:

    assay generate plan --dataset cub --kind syncub --work syncub-work
    """
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.datasets import load_dataset
    from benchmark.datasets.folder import FolderDataset
    from benchmark.errors import UserError
    from generation.planning import make_plan, make_request
    from generation.work import write_plan

    if kind not in ("syncub", "syncoco", "custom"):
        raise UserError(f"--kind is {kind!r}; expected syncub, syncoco or custom")
    asked = make_request(
        kind,  # type: ignore[arg-type]
        request,
        name=name,
        edits=edits,
        split=split,
        verify=verify,
        seed=seed,
    )
    source = load_dataset(dataset, root=root)
    if isinstance(source, FolderDataset):  # the first time, every byte of it is hashed
        with progress_bar(f"hashing {source.name}") as update:
            source.hashed(update)
    with progress_bar("planning") as update:
        planned = make_plan(source, asked, update)
    is_folder = root is None and Path(dataset).is_dir()
    write_plan(
        work,
        planned.plan,
        planned.left_out,
        Path(dataset) if is_folder else root,
        None if is_folder else dataset,
    )
    summary = planned.summary()
    if as_json:
        print_json({**summary, "work": str(work)})
        return
    targets = summary["targets"]
    fewer = "" if summary["edits"] == summary["wanted"] else f" of {summary['wanted']:,} asked for"
    typer.echo(
        f"{work}: {summary['edits']:,} edits{fewer} of {summary['bases']:,} pictures; "
        f"{summary['concepts']} concepts, {summary['classes']} classes; each of "
        f"{targets['concepts']} targets {targets['least']:,} to {targets['most']:,} times"
    )
    for reason, count in summary["left_out"].items():
        typer.echo(f"  {count:7,} pictures left out: {reason}")
    typer.echo(f"next: assay generate edit {work}")
