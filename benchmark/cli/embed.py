"""``assay embed``: features of a dataset's pictures, into the cache."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from benchmark.features import Progress

app = typer.Typer(add_completion=False)


@app.command()
def embed(
    dataset: Annotated[str, typer.Option(help="Name of a dataset, or its folder.")],
    encoder: Annotated[str, typer.Option(help="Name of an encoder.")] = "efficientnet-lite0",
    root: Annotated[
        Path | None, typer.Option(help="Folder that holds the dataset, if not the usual one.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Revision of the dataset.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write the features to this safetensors file.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads; one per processor if not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Put the features of a dataset's pictures into the cache; a stopped run goes on."""
    import time

    from benchmark import features
    from benchmark.cli.show import print_json
    from benchmark.datasets import load_dataset
    from benchmark.encoders import load_encoder

    pictures = load_dataset(dataset, root=root, revision=revision)
    start = time.monotonic()
    with shown_progress(f"embedding {pictures.name}") as progress:
        made = features.embed(pictures, load_encoder(encoder), progress=progress, workers=workers)
    if out is not None:
        features.write_features(out, pictures, made)
    document = {
        "dataset": {
            "name": pictures.name,
            "revision": pictures.revision,
            "fingerprint": made.fingerprint,
        },
        "encoder": made.encoder.as_dict(),
        "rows": {"images": len(made.images), "base": len(made.base), "edited": len(made.edited)},
        "folder": str(made.folder),
        "file": None if out is None else str(out),
        "seconds": round(time.monotonic() - start, 3),
    }
    if as_json:
        print_json(document)
        return
    typer.echo(
        f"{pictures.name} by {encoder}: {len(made.images):,} pictures and {len(made.base):,} "
        f"pairs, {made.encoder.dim} numbers each, in {document['seconds']:.1f} s\n{made.folder}"
    )
    if out is not None:
        typer.echo(out)


@contextmanager
def shown_progress(title: str) -> Iterator["Callable[[Progress], None]"]:
    """A callback for ``embed`` that draws a bar on stderr; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
    )
    with Bar(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None, speed="", visible=False)

        def show(progress: "Progress") -> None:
            left = progress.seconds_left
            speed = "" if left is None else f"{progress.per_second:.0f}/s, {left:.0f} s left"
            bar.update(
                task, completed=progress.done, total=progress.total, speed=speed, visible=True
            )

        yield show
