"""``assay site``."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

    from benchmark.datasets import Dataset
    from leaderboard.building.content import Sources

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Build the leaderboard, freeze it, and look at it.",
)

LOOPBACK = "127.0.0.1"

Results = Annotated[
    Path | None,
    typer.Option(help="Folder of result records (*.json); results/ by default, where it is."),
]
Submissions = Annotated[
    Path | None,
    typer.Option(help="Folder of submissions; submissions/ by default, where it is."),
]
Releases = Annotated[Path, typer.Option(help="Folder of frozen releases.")]
Pictures = Annotated[
    str | None,
    typer.Option("--dataset", help="Dataset (name or folder) whose edit pairs the pages may show."),
]
GateFile = Annotated[
    Path | None, typer.Option(help="Gate file; gate.json beside the results folder by default.")
]
SanityFile = Annotated[
    Path | None,
    typer.Option(help="Sanity file; sanity.json beside the results folder by default."),
]
Judgements = Annotated[
    Path | None,
    typer.Option(help="Folder of judgements; judgements/ beside the results folder by default."),
]
SweepFile = Annotated[
    Path | None,
    typer.Option(help="Tables of a sweep; sweep.json beside the results folder by default."),
]
Images = Annotated[
    Path | None,
    typer.Option(
        help="Folder of a comparison of images; images/ beside the results folder by default."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(help="Address the site will have: whole addresses, a sitemap and a feed."),
]
Repository = Annotated[
    str | None, typer.Option(help="Address of the project, which pages lead to.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes; one a core by default. Pages do not change.")
]
RELEASES, SUBMISSIONS = Path("leaderboard/releases"), Path("submissions")


def _taken(what: str) -> Any:
    """An option of a release: local files are frozen only where they are named."""
    return typer.Option(help=f"{what}; none is taken unless named here.")


TakenResults = Annotated[Path | None, _taken("Folder of result records (*.json)")]
TakenGate = Annotated[Path | None, _taken("Gate file")]
TakenSanity = Annotated[Path | None, _taken("Sanity file")]
TakenJudgements = Annotated[Path | None, _taken("Folder of judgements")]
TakenSweep = Annotated[Path | None, _taken("Tables of a sweep")]
TakenImages = Annotated[Path | None, _taken("Folder of a comparison of images")]


@app.command()
def build(
    results: Results = None,
    submissions: Submissions = None,
    releases: Releases = RELEASES,
    out: Annotated[
        Path, typer.Option(help="Folder of the site; an earlier site there is replaced.")
    ] = Path("site"),
    dataset: Pictures = None,
    gate: GateFile = None,
    sanity: SanityFile = None,
    judgements: Judgements = None,
    sweep: SweepFile = None,
    images: Images = None,
    base_url: BaseUrl = None,
    repository: Repository = None,
    workers: Workers = None,
) -> None:
    """Render the leaderboard from submissions, result records and releases.

    What an earlier build made of the same files is used again, from $ASSAY_HOME/site-cache.
    """
    from benchmark.files import home
    from leaderboard import build_site
    from leaderboard.building.content import Sources

    sources = _found(Sources(results, submissions, gate, sanity, judgements, sweep, images))
    data = _dataset(dataset)
    index = build_site(
        sources.results,
        out,
        submissions=sources.submissions,
        releases=releases,
        dataset=data,
        gate=sources.gate,
        sanity=sources.sanity,
        judgements=sources.judgements,
        sweep=sources.sweep,
        images=sources.images,
        base_url=base_url,
        repository=repository,
        cache=home() / "site-cache",
        workers=workers,
        tell=_tell,
    )
    if data is None:
        _tell("no --dataset given: the pages show numbers without pictures")
    if base_url is None:
        _tell("no --base-url given: no sitemap.xml and no feed.xml")
    typer.echo(str(index))


@app.command()
def release(
    name: Annotated[str, typer.Argument(help="Year and number, for instance 2026.1.")],
    results: TakenResults = None,
    submissions: Submissions = None,
    releases: Releases = RELEASES,
    dataset: Pictures = None,
    gate: TakenGate = None,
    sanity: TakenSanity = None,
    judgements: TakenJudgements = None,
    sweep: TakenSweep = None,
    images: TakenImages = None,
    base_url: BaseUrl = None,
    repository: Repository = None,
    workers: Workers = None,
) -> None:
    """Freeze the boards for good: records, pages and citations, under RELEASES/NAME.

    It takes the submissions, and of other files only what an option names. Commit the
    new folder. `assay site build` then holds its pages under r/NAME/, byte for byte,
    and says what changed since.
    """
    from dataclasses import asdict
    from datetime import UTC, datetime

    from benchmark.errors import UserError
    from benchmark.files import home
    from leaderboard.building.content import Sources
    from leaderboard.building.site import release_site

    if submissions is None and any(SUBMISSIONS.glob("**/*.json")):
        submissions = SUBMISSIONS
    if submissions is None and results is None:
        raise UserError(
            f"nothing to freeze: no submissions in {SUBMISSIONS}; name a folder with --submissions"
        )
    sources = Sources(results, submissions, gate, sanity, judgements, sweep, images)
    for taken, path in asdict(sources).items():
        if path is not None:
            _tell(f"takes {taken} from {path}")
    folder = release_site(
        name,
        releases,
        sources,
        date=datetime.now(UTC).date().isoformat(),
        base_url=base_url,
        repository=repository,
        dataset=_dataset(dataset),
        cache=home() / "site-cache",
        workers=workers,
        tell=_tell,
    )
    if base_url is None:
        _tell("no --base-url given: citations in this release have paths instead of addresses")
    typer.echo(str(folder))


def _found(given: "Sources") -> "Sources":
    """The files that are named, and those that lie where they are looked for."""
    from leaderboard.building.content import Sources

    results, submissions = given.results, given.submissions
    if results is None and submissions is None:
        results, submissions = (
            folder if any(folder.glob("**/*.json")) else None
            for folder in (Path("results"), SUBMISSIONS)
        )
        results = Path("results") if submissions is None else results
    beside = (results or Path("results")).resolve().parent

    def found(path: Path | None, name: str, holds: str = "") -> Path | None:
        place = beside / name
        there = any(place.glob(holds)) if holds else place.is_file()
        return place if path is None and results is not None and there else path

    return Sources(
        results=results,
        submissions=submissions,
        gate=found(given.gate, "gate.json"),
        sanity=found(given.sanity, "sanity.json"),
        judgements=found(given.judgements, "judgements", "**/*.json"),
        sweep=found(given.sweep, "sweep.json"),
        images=found(given.images, "images", "comparison.json"),
    )


def _dataset(name: str | None) -> "Dataset | None":
    from benchmark.datasets import load_dataset

    return None if name is None else load_dataset(name)


def _tell(line: str) -> None:
    typer.echo(line, err=True)


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
