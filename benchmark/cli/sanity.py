"""``assay sanity``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.cli.options import DatasetName, EncoderName

if TYPE_CHECKING:
    from benchmark.sanity import Plan

app = typer.Typer(add_completion=False)


@app.command()
def sanity(
    dataset: DatasetName = "synavatars",
    encoder: EncoderName = None,
    saes: Annotated[
        Path | None,
        typer.Option(help="Folder of SAE folders (a demo's saes/, say) to take; else some train."),
    ] = None,
    arch: Annotated[
        list[str] | None,
        typer.Option(help="Architecture to train; repeat for more. By default the paper's four."),
    ] = None,
    dict_size: Annotated[
        list[int] | None,
        typer.Option(help="Dictionary size to train; repeat for more. By default 128, 256, 512."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result here as JSON.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; one a core by default. Results do not change.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check every metric: trained SAEs must beat untrained twins and random codes.

    Fails where one of the suite's own metrics does not; the baselines FMS, MS and CKNNA may.
    """
    from benchmark.cli.show import print_json
    from benchmark.errors import CheckFailed, UserError
    from benchmark.files import write_json
    from benchmark.sanity import Plan

    if saes is not None and (arch or dict_size):
        raise UserError("--saes takes the SAEs that are there: give no --arch and no --dict-size")
    chosen: dict[str, Any] = {}
    if arch:
        chosen["architectures"] = tuple(dict.fromkeys(arch))
    if dict_size:
        chosen["sizes"] = tuple(dict.fromkeys(dict_size))
    document = run_sanity(dataset, encoder, Plan(**chosen), saes=saes, workers=workers)
    if out is not None:
        write_json(out, document)
    if json_:
        print_json(document)
    else:
        _report(document)
    if not document["passed"]:
        failed = [row["metric"] for row in document["rows"] if row["own"] and not row["passed"]]
        raise CheckFailed(f"the sanity check failed for {', '.join(failed)}")


def run_sanity(
    dataset: str,
    encoder: str | None,
    plan: "Plan",
    *,
    saes: Path | None = None,
    workers: int | None = None,
) -> dict[str, Any]:
    """The check with its progress shown; returns its document."""
    from benchmark import sanity as check
    from benchmark.cli.embed import shown_progress
    from benchmark.cli.show import progress_bar
    from benchmark.datasets import load_dataset
    from benchmark.encoders import load_encoder
    from benchmark.runs import DEFAULT_ENCODER, prepare

    name = encoder or DEFAULT_ENCODER
    configurations = (
        check.given_configurations(saes)
        if saes is not None
        else check.trained_configurations(dataset, name, plan)
    )
    with shown_progress("embedding") as update:
        prepare(load_dataset(dataset), load_encoder(name), progress=update)
    with progress_bar("checking metrics") as update:
        return check.run(
            configurations,
            dataset=dataset,
            encoder=name,
            plan=plan,
            workers=workers,
            progress=update,
        )


def _report(document: dict[str, Any]) -> None:
    from benchmark.cli.show import CHECKED, cell, plain_table, wide_console

    found, dataset = document["configurations"], document["dataset"]
    table = plain_table(
        f"Sanity check on {dataset['name']} {dataset['revision']}: "
        f"mean of {len(found)} configurations [95 % interval]",
        ["metric", "trained", "untrained twin", "random codes", "check"],
    )
    for row in document["rows"]:
        table.add_row(
            CHECKED[row["metric"]] + ("" if row["own"] else " (baseline)"),
            *(cell(row[kind]) for kind in ("trained", "untrained", "random_codes")),
            "pass" if row["passed"] else "FAIL",
        )
    console = wide_console()
    console.print(table)
    configurations = ", ".join(f"{one['architecture']} {one['d_sae']}" for one in found)
    console.print(f"configurations: {configurations}")
