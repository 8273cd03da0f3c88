"""``assay demo``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.datasets import Dataset
    from benchmark.encoders import Encoder
    from benchmark.runs import Prepared

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    out: Annotated[
        Path,
        typer.Option(help="Folder for saes/, results/, judgements/, images/, gate.json, site/."),
    ] = Path("assay-demo"),
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; one a core by default. Results do not change."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the gate as JSON.")] = False,
) -> None:
    """Run the whole line once: synAvatars, SAEs, scores, a judge, two image sets, the site.

    What is there already is used again; a run that was stopped goes on where it was.
    """
    from benchmark.cli.show import print_json

    gate, index = run_demo(out, workers=workers)
    if json_:
        print_json({**gate, "site": str(index)})
    else:
        _report(out, gate, index)
    if not gate["passed"]:
        from benchmark.errors import CheckFailed

        raise CheckFailed("the gate failed: trained SAEs do not beat their untrained twins")


def run_demo(
    out: Path, *, workers: int | None = None, dataset: str = "synavatars", plan: Any = None
) -> tuple[dict[str, Any], Path]:
    """Every stage of the demo; returns the gate and the path of the site."""
    from benchmark import demo as line
    from benchmark.cli.embed import shown_progress
    from benchmark.encoders import load_encoder
    from benchmark.files import check_target
    from benchmark.measure import Protocol
    from benchmark.probe_bound import probe_bound
    from benchmark.runs import DEFAULT_ENCODER, prepare
    from leaderboard import build_site

    check_target(out / "gate.json")
    encoder = DEFAULT_ENCODER
    data = _dataset(dataset, workers)
    loaded = load_encoder(encoder)
    _say("embedding")
    with shown_progress("embedding") as update:
        ready = prepare(data, loaded, progress=update)
    # once here, before every worker would need it
    probe_bound(ready.source, ready.features, ready.labels, Protocol())
    with _stage("training, scoring and judging SAEs", each=True) as update:
        gate = line.run(
            out,
            dataset=dataset,
            encoder=encoder,
            plan=plan or line.Plan(),
            workers=workers,
            progress=update,
        )
    images = _compare_images(out / "images", ready, loaded)
    _say("building the site")
    index = build_site(
        out / "results",
        out / "site",
        dataset=data,
        gate=out / "gate.json",
        judgements=out / line.JUDGEMENTS,
        images=images,
    )
    return gate, index


def _compare_images(out: Path, ready: "Prepared", encoder: "Encoder") -> Path | None:
    """Compare two sets of avatars, unless that is there already; None for other datasets."""
    from benchmark.cli.images import write_both
    from benchmark.generative import demo as images

    if not images.has_sets(ready.dataset):
        return None
    if (out / "report.html").is_file() and images.still_stands(out / "comparison.json", ready):
        return out
    with _stage("comparing two image sets") as update:
        write_both(out, images.compare_sets(ready, encoder, progress=update))
    return out


def _dataset(name: str, workers: int | None) -> "Dataset":
    from benchmark.datasets import load_dataset
    from benchmark.datasets.synavatars import default_folder
    from generation.avatars import build

    place = default_folder()
    if name == "synavatars" and not place.exists():
        with _stage("drawing synAvatars") as update:
            build(place, workers=workers, progress=update)
    return load_dataset(name)


@contextmanager
def _stage(title: str, *, each: bool = False) -> Iterator[Callable[..., None]]:
    """A progress bar; where there is no terminal a line, and one more for ``each`` thing done."""
    from benchmark.cli.show import progress_bar

    _say(title)
    with progress_bar(title) as update:

        def show(*state: Any) -> None:
            update(*state)
            if each:
                _say(f"{title}: {state[-2]} of {state[-1]}")

        yield show


def _say(text: str) -> None:
    """A line on standard error where that is no terminal, and so shows no bar."""
    from rich.console import Console

    if not Console(stderr=True).is_terminal:
        typer.echo(text, err=True)


def _report(out: Path, gate: dict[str, Any], index: Path) -> None:
    import json

    from benchmark.cli.show import cell, plain_table, wide_console

    console = wide_console()
    records = [json.loads(path.read_bytes()) for path in sorted((out / "results").glob("*.json"))]
    records.sort(key=lambda record: -(record["scores"]["delta_match_score"]["value"] or 0))
    table = plain_table(
        "Scores on synAvatars [95 % interval]",
        ["SAE", "ΔMATCHScore", "TAPAScore", "MATCHScore", "Δstay", "L0"],
    )
    for record in records:
        scores = record["scores"]
        table.add_row(
            record["submission"]["name"],
            *(cell(scores.get(name)) for name in ("delta_match_score", "tapa_score")),
            *(cell(scores.get(name), False) for name in ("match_score", "delta_stay", "l0")),
        )
    console.print(table)
    console.print(_gate_table(gate))
    console.print(f"gate: {'passed' if gate['passed'] else 'FAILED'}")
    typer.echo(f"site: {index}")


def _gate_table(gate: dict[str, Any]) -> Any:
    from benchmark.cli.show import cell, plain_table

    table = plain_table(
        f"Gate: mean of seeds [95 % interval] and each seed, {gate['d_sae']} latents",
        ["SAEs", "score", "trained", "seeds", "untrained twins", "seeds", "apart"],
    )
    for row in gate["rows"]:
        table.add_row(
            row["architecture"],
            _GATE_NAMES[row["metric"]],
            cell(row["trained"]),
            _points(row["trained_seeds"]),
            cell(row["untrained"]),
            _points(row["untrained_seeds"]),
            "yes" if row["passed"] else "NO",
        )
    return table


_GATE_NAMES = {"match_score": "MATCHScore", "tapa_score": "TAPAScore"}


def _points(values: list[float]) -> str:
    """The values of several seeds; once where they are one and the same."""
    return " ".join(f"{value:.3f}".lstrip("0") for value in dict.fromkeys(values))
