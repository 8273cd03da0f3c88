"""``assay text``: activations of a language model on a text, as a dataset."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.text.dataset import TextDataset

app = typer.Typer(help="Text: collect the activations of a language model.")

_OUTLIER = 10.0


@app.callback()
def _group() -> None:
    """Keeps ``collect`` a sub-command, though it is the only one."""


@app.command()
def collect(
    model: Annotated[
        str, typer.Option(help="Folder of a transformers model, or Hub owner/name@revision.")
    ],
    hook: Annotated[
        str, typer.Option(help="Module whose output is read, such as encoder.layer.3.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    model_name: Annotated[
        str | None, typer.Option(help="What records call the model; its folder's name by default.")
    ] = None,
    corpus: Annotated[
        str,
        typer.Option(
            help="A text file (blank lines between documents), .jsonl or .parquet; or pydoc, "
            "the help topics of Python."
        ),
    ] = "pydoc",
    column: Annotated[
        str, typer.Option(help="Where a .jsonl or .parquet file has its text.")
    ] = "text",
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens to collect; all if not given.")
    ] = None,
    context_length: Annotated[
        int, typer.Option(min=1, help="Tokens of an input, special tokens included.")
    ] = 64,
    batch_size: Annotated[int, typer.Option(min=1, help="Inputs of a forward pass.")] = 16,
    seed: Annotated[int, typer.Option(help="Of the order in which documents are used.")] = 0,
    match_share: Annotated[
        float, typer.Option(help="Share of the tokens in the match split, by whole documents.")
    ] = 0.6,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset; the corpus' by default.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Licence of the corpus (SPDX), if it is a file.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Threads; one per processor if not given.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a folder made with other settings.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Run a language model over a text and keep one module's output for every token.

    Special tokens and padding are left out. A stopped run goes on where it was.
    """
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.text.collect import TextRecipe
    from benchmark.text.collect import collect as run
    from benchmark.text.corpus import read_corpus
    from benchmark.text.model import find_model

    recipe = TextRecipe(hook, tokens, context_length, batch_size, seed, match_share)
    text = read_corpus(corpus, column=column, licence=licence)
    files = find_model(model, model_name)
    with progress_bar(f"reading {text.name}") as update:
        made = run(
            files,
            text,
            recipe,
            out,
            name=name,
            progress=update,
            workers=workers,
            overwrite=overwrite,
        )
    for note in _notes(made.manifest):
        typer.echo(f"note: {note}", err=True)
    if json_:
        print_json(dict(made.manifest))
    else:
        _report(out, made)


def _notes(manifest: Any) -> list[str]:
    notes = []
    wanted, found = manifest["tokens_wanted"], manifest["tokens_found"]
    if wanted is not None and found < wanted:
        notes.append(f"the corpus gives {found:,} tokens, fewer than the {wanted:,} wanted")
    norm = manifest["norm"]
    if norm["max"] > _OUTLIER * norm["median"]:
        notes.append(
            f"some tokens have a norm of up to {norm['max']:.0f}, the median is "
            f"{norm['median']:.0f}: they may own an SAE's strongest latents"
        )
    return notes


def _report(out: Path, made: "TextDataset") -> None:
    counts = made.manifest["counts"]
    typer.echo(
        f"{out}: {counts['tokens']:,} tokens ({counts['match']:,} match, {counts['score']:,} "
        f"score) of {counts['documents']:,} documents, {counts['width']} numbers each; "
        f"fingerprint {made.manifest['fingerprint']}\n"
        f"train on it with: assay train --dataset {out} --out SAE"
    )
