"""``assay data``: which datasets there are, what is in them, whether a folder is sound."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.datasets import Dataset
    from benchmark.datasets.source import Source

app = typer.Typer(help="Datasets: list them, look at one, get one, check a folder.")

Root = Annotated[
    Path | None, typer.Option(help="Folder that holds the dataset, if not the usual one.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """Name every dataset known here."""
    from benchmark.cli.show import print_json
    from benchmark.datasets import DATASETS

    sources = [DATASETS.load(name) for name in DATASETS.names()]
    if as_json:
        print_json([_described(source) for source in sources])
        return
    for source in sources:
        typer.echo(f"{source.name}: {source.summary} ({source.licence})")


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="Name of a dataset, or its folder.")],
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Counts, how common each concept is, licence, and how to cite."""
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.datasets import load_dataset, source_of_name
    from benchmark.datasets.folder import FolderDataset

    dataset = load_dataset(name, root=root)
    if isinstance(dataset, FolderDataset):  # the first time, every byte of it is hashed
        with progress_bar(f"hashing {dataset.name}") as update:
            dataset.hashed(update)
    document = _info(dataset, source_of_name(dataset.name))
    if as_json:
        print_json(document)
    else:
        _print_info(document)


@app.command()
def fetch(name: Annotated[str, typer.Argument(help="Name of a dataset.")]) -> None:
    """Get a dataset to its usual place, or say how."""
    from benchmark.datasets import DATASETS

    typer.echo(DATASETS.load(name).fetch())


@app.command()
def check(
    folder: Annotated[Path, typer.Argument(help="A dataset folder.")], as_json: AsJson = False
) -> None:
    """Prove a folder's invariants; every problem is printed, and any makes the exit code 1.

    The folder may be in our layout, in that of CUB-200-2011 or COCO 2017, or in that of the paper's
    pairs; what is only worth knowing in data of others is printed as a note.
    """
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.datasets import check_folder
    from benchmark.errors import CheckFailed, UserError

    if not folder.is_dir():
        raise UserError(f"no folder {folder}; expected a dataset folder")
    with progress_bar("checking") as update:
        report = check_folder(folder, update)
    if as_json:
        print_json(
            {
                "name": report.name,
                "counts": report.counts,
                "fingerprint": report.fingerprint,
                "problems": report.problems,
                "notes": report.notes,
            }
        )
    else:
        for note in report.notes:
            typer.echo(f"note: {note}")
        for problem in report.problems:
            typer.echo(problem)
    if report.problems:
        count = len(report.problems)
        raise CheckFailed(f"{folder}: {count} problem{'s' if count > 1 else ''}")
    if not as_json:
        counts = ", ".join(f"{number:,} {key}" for key, number in report.counts.items())
        typer.echo(f"{report.name} is sound: {counts}; fingerprint {report.fingerprint}")


def _described(source: "Source") -> dict[str, str]:
    return {
        "name": source.name,
        "summary": source.summary,
        "licence": source.licence,
        "citation": source.citation,
    }


def _info(dataset: "Dataset", source: "Source | None") -> dict[str, Any]:
    splits = {name: dataset.annotations[rows] for name, rows in dataset.splits.items()}
    pairs = dataset.pairs
    # without pictures of its own, the base pictures of the pairs
    labels = dataset.annotations if len(dataset.annotations) or pairs is None else pairs.present
    concepts = [
        {
            "concept": concept,
            "group": dataset.groups[index],
            "positives": {name: int(rows[:, index].sum()) for name, rows in splits.items()},
            "prevalence": round(float(labels[:, index].mean()), 4),
            "pairs_adding": pairs.added.count(index) if pairs else 0,
            "pairs_removing": pairs.removed.count(index) if pairs else 0,
        }
        for index, concept in enumerate(dataset.concepts)
    ]
    return {
        "name": dataset.name,
        "revision": dataset.revision,
        "fingerprint": dataset.fingerprint,
        "licence": source.licence if source else None,
        "citation": source.citation if source else None,
        "counts": {name: len(rows) for name, rows in splits.items()}
        | {
            "pairs": len(pairs) if pairs else 0,
            "concepts": len(concepts),
            "groups": len(set(dataset.groups)),
        },
        "concepts": concepts,
        "notes": list(dataset.notes),
    }


def _print_info(document: dict[str, Any]) -> None:
    from rich.table import Table

    from benchmark.cli.show import wide_console

    counts = ", ".join(f"{number:,} {key}" for key, number in document["counts"].items())
    typer.echo(f"{document['name']} {document['revision']}: {counts}")
    typer.echo(f"licence: {document['licence'] or 'see the folder’s README.md'}")
    typer.echo(f"fingerprint: {document['fingerprint']}")
    typer.echo(f"cite: {document['citation'] or 'see the folder’s README.md'}")
    for note in document["notes"]:
        typer.echo(f"note: {note}")
    if not document["concepts"]:
        return
    splits = list(document["concepts"][0]["positives"])
    table = Table()
    table.add_column("concept", no_wrap=True)
    for column in (*splits, "prevalence", "pairs adding", "pairs removing"):
        table.add_column(column, justify="right")
    for row in document["concepts"]:
        table.add_row(
            row["concept"],
            *(str(row["positives"][split]) for split in splits),
            f"{row['prevalence']:.3f}",
            str(row["pairs_adding"]),
            str(row["pairs_removing"]),
        )
    wide_console().print(table)
