"""``assay embed``: features of a dataset's pictures, into the cache."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from benchmark.datasets import Dataset
    from benchmark.encoders import Encoder
    from benchmark.features import Features, Progress

app = typer.Typer(add_completion=False)


@app.command()
def embed(
    dataset: Annotated[str, typer.Option(help="Name of a dataset, or its folder.")],
    pairs: Annotated[
        str | None, typer.Option(help="Dataset of the edit pairs, where it is another one.")
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            help="Name of an encoder; NAME:token=mean,layer=9,dtype=bf16,batch=64 chooses more."
        ),
    ] = "efficientnet-lite0",
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
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Encode on Ray: a cluster's address, auto, or local. The bytes do not change.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Put the features of a dataset's pictures into the cache; a stopped run goes on."""
    import time
    from functools import partial

    from benchmark import features
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.datasets import join, load_dataset
    from benchmark.datasets.folder import FolderDataset
    from benchmark.encoders import load_encoder

    pictures = load_dataset(dataset, root=root, revision=revision)
    edits_of = None if pairs is None else join(pictures, load_dataset(pairs)).pairs_dataset
    loaded = load_encoder(encoder)
    if (hint := advice(loaded, workers)) is not None:
        typer.echo(hint, err=True)
    start = time.monotonic()
    for each in (pictures, edits_of):
        if isinstance(each, FolderDataset):  # the first time, every byte of it is hashed
            with progress_bar(f"hashing {each.name}") as update:
                each.hashed(update)
    edits = None
    with _embedder(encoder, loaded, workers, ray) as one:
        made = one(pictures, partial(load_dataset, dataset, root=root, revision=revision))
        if edits_of is not None and pairs is not None:
            edits = (edits_of, one(edits_of, partial(load_dataset, pairs)))
    if out is not None:
        features.write_features(out, pictures, made, pairs=edits)
    shown = made if edits is None else edits[1]
    document = {
        "dataset": {
            "name": pictures.name,
            "revision": pictures.revision,
            "fingerprint": made.fingerprint,
        },
        "encoder": made.encoder.as_dict(),
        "rows": {
            "images": len(made.images),
            "base": len(shown.base),
            "edited": len(shown.edited),
        },
        "folder": str(made.folder),
        "file": None if out is None else str(out),
        "seconds": round(time.monotonic() - start, 3),
    }
    if as_json:
        print_json(document)
        return
    typer.echo(
        f"{pictures.name} by {encoder}: {len(made.images):,} pictures and {len(shown.base):,} "
        f"pairs, {made.encoder.dim} numbers each, in {document['seconds']:.1f} s\n{made.folder}"
    )
    if out is not None:
        typer.echo(out)


@contextmanager
def _embedder(
    encoder: str, model: "Encoder", workers: int | None, ray: str | None
) -> "Iterator[Callable[[Dataset, Callable[[], Dataset]], Features]]":
    """Embeds a dataset, by threads here or on Ray, where a node opens it by the second argument."""
    from contextlib import ExitStack

    from benchmark import features

    with ExitStack() as stack:
        actors = 0
        if ray is not None:
            from benchmark.ray_cluster import connected

            found = stack.enter_context(connected(ray, workers))
            actors = workers or found

        def one(dataset: "Dataset", opened: "Callable[[], Dataset]") -> "Features":
            elsewhere = None
            if actors:
                from benchmark.ray_embed import blocks_on_ray

                elsewhere = blocks_on_ray(opened, encoder, model, actors)
            with shown_progress(f"embedding {dataset.name}") as progress:
                return features.embed(
                    dataset, model, progress=progress, workers=workers, elsewhere=elsewhere
                )

        yield one


def advice(encoder: "Encoder", workers: int | None) -> str | None:
    """What to say of the batch shape, once: a larger one that memory seems to allow."""
    from benchmark.encoders.vision import VisionEncoder

    if not isinstance(encoder, VisionEncoder):
        return None
    fits = encoder.suggested_batch(workers or os.cpu_count() or 1)
    if fits <= encoder.batch_size:
        return None
    return (
        f"every forward pass takes {encoder.batch_size} pictures, as recorded; memory would allow "
        f"about {fits}, which option batch={fits} gives: other features, kept apart"
    )


def _rate(per_second: float) -> str:
    return f"{per_second:.0f} images/s" if per_second >= 10 else f"{per_second:.2g} images/s"


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


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
            speed = "" if left is None else f"{_rate(progress.per_second)}, {_time(left)} left"
            bar.update(
                task, completed=progress.done, total=progress.total, speed=speed, visible=True
            )

        yield show
