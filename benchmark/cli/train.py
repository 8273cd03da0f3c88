"""``assay train``."""

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.options import DatasetName, EncoderName

app = typer.Typer(add_completion=False)


@app.command()
def train(
    out: Annotated[Path, typer.Option(help="Folder to write the SAE into.")],
    arch: Annotated[
        str,
        typer.Option(help="topk, batchtopk, matryoshka, jumprelu, relu, gated or p_anneal."),
    ] = "topk",
    dict_size: Annotated[int, typer.Option(help="Dictionary size.")] = 512,
    dataset: DatasetName = "synavatars",
    pairs: Annotated[
        str | None,
        typer.Option(
            help="Dataset of edit pairs whose source pictures are left out: coco with syncoco."
        ),
    ] = None,
    encoder: EncoderName = None,
    k: Annotated[int, typer.Option(help="Active latents per image (TopK family).")] = 32,
    epochs: Annotated[int, typer.Option(help="Passes over the match split.")] = 50,
    batch_size: Annotated[int, typer.Option(help="Images per step.")] = 64,
    lr: Annotated[float, typer.Option(help="Adam's learning rate.")] = 5e-4,
    sparsity: Annotated[
        float | None, typer.Option(help="Weight of the sparsity penalty (not the TopK family).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same file.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an SAE trained with other settings.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Train a reference SAE on the match split, by the paper's recipe."""
    from benchmark.cli.embed import shown_progress
    from benchmark.cli.show import print_json, progress_bar
    from benchmark.runs import prepare_by_name
    from benchmark.saes.training import Recipe
    from benchmark.saes.training.store import train_to_folder

    recipe = Recipe(
        architecture=arch,
        d_sae=dict_size,
        k=k,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=lr,
        sparsity=sparsity,
        seed=seed,
    )
    with shown_progress("embedding") as update:
        prepared = prepare_by_name(dataset, encoder, None, update, pairs=pairs)
    with progress_bar(f"training {arch} {dict_size}") as update:
        train_to_folder(
            out, recipe, prepared.features["match"], prepared.origin, update, overwrite=overwrite
        )
    if json_:
        print_json({"sae": str(out), "recipe": recipe.as_dict()})
    else:
        typer.echo(f"{out}: {arch}, {dict_size} latents; score it with: assay score {out}")
