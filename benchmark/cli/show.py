"""Tables and progress as the terminal shows them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

NAMES = {
    "match_score": "MATCHScore, held-out",
    "match_score_in_sample": "MATCHScore, in-sample",
    "delta_match_score": "ΔMATCHScore",
    "tapa_score": "TAPAScore",
    "delta_tapa_score": "ΔTAPAScore",
    "delta_stay": "Δstay",
    "redundant_fraction": "redundant latents",
    "enrichment_q1": "Q1 enrichment",
    "explained_variance": "explained variance",
    "l0": "L0",
    "dead_fraction": "dead latents",
}
CHECKED = {
    "match_score": "MATCHScore, held-out",
    "match_score_in_sample": "MATCHScore, in-sample",
    "match_score_one_to_one": "MATCHScore, one-to-one",
    "tapa_score": "TAPAScore",
    "fms": "FMS",
    "ms": "MS",
    "cknna": "CKNNA",
}


def print_json(document: Any) -> None:
    """A result as JSON on standard output."""
    from benchmark.files import json_text

    print(json_text(document))


def cell(score: Mapping[str, Any] | None, interval: bool = True) -> str:
    """A score as text: value and interval, or n/a."""
    if score is None or score["value"] is None:
        return "n/a"
    places = 1 if abs(score["value"]) >= 10 else 3
    text = f"{score['value']:.{places}f}"
    if interval and score["ci95"] is not None:
        low, high = score["ci95"]
        text += f" [{low:.{places}f}, {high:.{places}f}]"
    return text


def wide_console() -> Any:
    """Standard output, at least as wide as the tables need: their cells must not be cut."""
    from rich.console import Console

    console = Console(markup=False)
    console.width = max(console.width, 120)
    return console


def plain_table(title: str, columns: Sequence[str]) -> Any:
    """A table without vertical rules, its first column to the left, the others to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def record_table(record: Mapping[str, Any]) -> None:
    """The scores of one record beside its baselines."""
    submission, dataset = record["submission"], record["dataset"]
    title = f"{submission['id']} on {dataset['name']} {dataset['revision']}"
    columns = ["score", "value [95 % interval]", "untrained twin", "random codes", "n"]
    table = plain_table(title, columns)
    untrained, random = (record["baselines"][name] for name in ("untrained", "random_codes"))
    for key, name in NAMES.items():
        score = record["scores"].get(key)
        table.add_row(
            name,
            cell(score),
            cell(untrained.get(key), False),
            cell(random.get(key), False),
            str(score["n"]) if score else "",
        )
    wide_console().print(table)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[..., None]]:
    """A progress bar on standard error; yields ``update(done, total)`` or ``update(what, …)``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    console = Console(stderr=True)
    quiet = not console.is_terminal
    with Progress(*columns, console=console, disable=quiet, transient=True) as bars:
        task = bars.add_task(title, total=None)

        def update(*state: Any) -> None:
            *stage, done, total = state
            bars.update(task, completed=done, total=total, description=": ".join([title, *stage]))

        yield update
