"""``assay site``."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Build the leaderboard, and look at it."
)

LOOPBACK = "127.0.0.1"


@app.command()
def build(
    results: Annotated[Path, typer.Option(help="Folder of result records (*.json).")] = Path(
        "results"
    ),
    out: Annotated[
        Path, typer.Option(help="Folder of the site; an earlier site there is replaced.")
    ] = Path("site"),
    dataset: Annotated[
        str | None,
        typer.Option(help="Dataset (name or folder) whose edit pairs the pages may show."),
    ] = None,
    gate: Annotated[
        Path | None,
        typer.Option(help="Gate file; gate.json beside the results folder by default."),
    ] = None,
    sanity: Annotated[
        Path | None,
        typer.Option(help="Sanity file; sanity.json beside the results folder by default."),
    ] = None,
    judgements: Annotated[
        Path | None,
        typer.Option(
            help="Folder of judgements; judgements/ beside the results folder by default."
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(help="Tables of a sweep; sweep.json beside the results folder by default."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a comparison of images; images/ beside the results folder by default."
        ),
    ] = None,
) -> None:
    """Render the leaderboard from result records."""
    from benchmark.datasets import load_dataset
    from leaderboard import build_site

    beside = results.resolve().parent
    if gate is None and (beside / "gate.json").is_file():
        gate = beside / "gate.json"
    if sanity is None and (beside / "sanity.json").is_file():
        sanity = beside / "sanity.json"
    if judgements is None and any((beside / "judgements").glob("**/*.json")):
        judgements = beside / "judgements"
    if sweep is None and (beside / "sweep.json").is_file():
        sweep = beside / "sweep.json"
    if images is None and (beside / "images" / "comparison.json").is_file():
        images = beside / "images"
    data = load_dataset(dataset) if dataset is not None else None
    index = build_site(
        results,
        out,
        dataset=data,
        gate=gate,
        sanity=sanity,
        judgements=judgements,
        sweep=sweep,
        images=images,
        tell=lambda line: typer.echo(line, err=True),
    )
    if data is None:
        typer.echo("no --dataset given: the pages show numbers without pictures", err=True)
    typer.echo(str(index))


@app.command()
def serve(
    out: Annotated[Path, typer.Option(help="Folder of the site.")] = Path("site"),
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one.")] = 8000,
) -> None:
    """Serve the site to this computer only."""
    server = make_server(out, port)
    typer.echo(f"http://{LOOPBACK}:{server.server_port}/ (stop with Ctrl-C)")
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()


def make_server(out: Path, port: int) -> "ThreadingHTTPServer":
    """A server of the site in ``out``, bound to the loopback interface.

    Raises ``UserError`` where there is no site or the port is taken.
    """
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    from benchmark.errors import UserError

    if not (out / "index.html").is_file():
        raise UserError(f"no site in {out}; build one with: assay site build --out {out}")
    handler = partial(SimpleHTTPRequestHandler, directory=str(out))
    try:
        return ThreadingHTTPServer((LOOPBACK, port), handler)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such port"
        raise UserError(f"port {port} cannot be used ({reason}); give another --port") from error
