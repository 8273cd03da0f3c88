"""``assay generate review``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer


def review(
    work: Annotated[Path, typer.Argument(help="Work folder with a plan and edited pictures.")],
    reviewer: Annotated[
        str | None,
        typer.Option(help="Who reviews: lower-case letters, digits and dashes."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 8321,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Decide where reviewers disagree.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print how far reviewers agree, and end.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Ask anew about pictures made again since they were seen."),
    ] = False,
    root: Annotated[
        Path | None, typer.Option(help="Where the source lies, if it moved since the plan.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the agreement as JSON.")] = False,
) -> None:
    """Look at every pair in a browser on this machine: a accepts, r rejects, u is unsure, z undoes.

    Every decision is on disk before the next pair is shown; the same command goes on.
    """
    from benchmark.errors import UserError
    from generation.work import Work

    place = Work(work)
    if agreement:
        if reviewer is not None or adjudicate:
            raise UserError("give --agreement alone, without --reviewer and --adjudicate")
        _agreement(place, json_)
        return
    if json_:
        raise UserError("--json is for --agreement")
    if reviewer is None:
        raise UserError("say who reviews: --reviewer NAME (or --agreement for the table)")
    _serve(place, reviewer, port, root, adjudicate, again)


def _serve(
    work: Any, reviewer: str, port: int, root: Path | None, adjudicate: bool, again: bool
) -> None:
    from benchmark.cli.show import progress_bar
    from benchmark.errors import UserError

    try:
        from generation.reviewing.server import alone, open_session, serve
    except ImportError as error:
        raise UserError(
            f"reviewing needs {error.name}; pip install 'concept-assay[review]'"
        ) from error

    def tell(address: str) -> None:
        typer.echo(f"{queue.done:,} of {len(queue.ids):,} pairs decided; open {address}")
        typer.echo("end with Ctrl-C; every decision is on disk at once", err=True)

    with alone(work, reviewer, adjudicate):
        with progress_bar("reading the source") as update:
            session = open_session(
                work, reviewer, root=root, adjudicate=adjudicate, again=again, progress=update
            )
        queue = session.queue
        serve(session, port, tell)
    typer.echo(f"{queue.done:,} of {len(queue.ids):,} pairs decided")


def _agreement(work: Any, as_json: bool) -> None:
    from benchmark.cli.show import print_json
    from generation.reviewing import agreement_document, current, reviewable

    items = reviewable(work)
    document = agreement_document(current(work, items), work.adjudications(), len(items))
    if as_json:
        print_json(document)
    else:
        _show(document)


def _show(document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import plain_table, wide_console

    console = wide_console()
    words = ("accept", "reject", "unsure")
    table = plain_table(f"{document['pairs']:,} pairs to review", ["reviewer", *words, "open"])
    for row in document["reviewers"]:
        counts = [row[word] for word in words]
        rest = document["pairs"] - sum(counts)
        table.add_row(row["reviewer"], *(f"{count:,}" for count in (*counts, rest)))
    console.print(table)
    table = plain_table("", ["reviewers", "both decided", "same", "Cohen's kappa"])
    for row in document["agreement"]:
        same = "n/a" if row["same"] is None else f"{row['same']:.3f}"
        kappa = f"n/a: {row['reason']}" if row["kappa"] is None else f"{row['kappa']:.3f}"
        table.add_row(f"{row['one']}, {row['other']}", f"{row['both']:,}", same, kappa)
    if document["agreement"]:
        console.print(table)
    counts = document["disagreements"]
    console.print(
        f"{counts['all']:,} disagreements, {counts['adjudicated']:,} adjudicated",
        highlight=False,
    )
