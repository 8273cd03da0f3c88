"""``assay generate verify``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generation.verifying import Report


def verify(
    work: Annotated[Path, typer.Argument(help="Work folder with a plan and edited pictures.")],
    weights: Annotated[
        str,
        typer.Option(
            help="What the ResNet-50 begins with: imagenet (torchvision's), none, or a file "
            "(.safetensors or .pth)."
        ),
    ] = "imagenet",
    root: Annotated[
        Path | None, typer.Option(help="Where the source lies, if it moved since the plan.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training pictures.")] = 10,
    size: Annotated[int, typer.Option(help="Side that pictures are squashed to, in pixels.")] = 224,
    batch_size: Annotated[int, typer.Option(help="Pictures in a step.")] = 32,
    least: Annotated[
        int,
        typer.Option(help="Validation pictures with and without a concept that validate it."),
    ] = 5,
    seed: Annotated[
        int | None, typer.Option(help="Of the training; the plan's if not given.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, or cuda:N.")] = "auto",
    train_on_bases: Annotated[
        bool,
        typer.Option("--train-on-bases", help="Learn from the plan's base pictures too (stated)."),
    ] = False,
    max_outside: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Keep no pair that changed more than this outside the edited region."
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Train a classifier on the source's annotations and keep the pairs it predicts right.

    A killed run goes on after its last epoch, and judges only pairs that have no verdict.
    """
    from benchmark.cli.show import print_json, progress_bar
    from generation.devices import find_device
    from generation.verifying import Options, Recipe
    from generation.verifying import verify as run
    from generation.work import Work, open_source

    place = Work(work)
    recipe = Recipe(
        seed=place.plan.seed if seed is None else seed,
        size=size,
        epochs=epochs,
        batch_size=batch_size,
        least=least,
    )
    options = Options(recipe, weights, device, train_on_bases)
    find_device(device)  # before the source is read, which takes long
    with progress_bar("reading the source") as update:
        source = open_source(place, root, progress=update)
    with progress_bar("verifying") as update:
        report = run(place, source, options, max_outside=max_outside, progress=update)
    if json_:
        print_json(report.as_dict())
    else:
        _show(report)


def _show(report: "Report") -> None:
    from benchmark.cli.show import plain_table, wide_console

    console = wide_console()
    record = report.record
    validated = sum(row["threshold"] is not None for row in record["concepts"])
    console.print(
        f"classifier: {record['architecture']} from {record['first_weights']}; validation mAP "
        f"{record['validation_map']:.3f} (epoch {record['best_epoch']} of "
        f"{len(record['history'])}); {validated} of {len(record['concepts'])} concepts validated",
        soft_wrap=True,
        markup=False,
        highlight=False,
    )
    table = plain_table("what fell out", ["reason", "stage", "edits"])
    for stage, reason, count in report.table:
        table.add_row(reason, stage, f"{count:,}")
    table.add_row("kept", "", f"{report.kept:,}")
    table.add_row("planned", "", f"{report.planned:,}")
    console.print(table)
    if not report.filtered:
        table = plain_table("opinions only, as the plan says: nothing is dropped", ["", "pairs"])
        for kind, count in report.opinions.items():
            table.add_row(kind, f"{count:,}")
        console.print(table)
    if report.outside is not None:
        console.print(
            f"outside change: median {report.outside['median']:.3f}, 90 % below "
            f"{report.outside['p90']:.3f}; {report.outside['repainted']:,} of "
            f"{report.outside['pairs']:,} pairs repaint more than the edited region",
            soft_wrap=True,
            highlight=False,
        )
