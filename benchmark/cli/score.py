"""``assay score``."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def score(
    sae: Annotated[
        str | None,
        typer.Argument(
            help="SAE folder, file, or Hub owner/name@revision; leave it out with --codes."
        ),
    ] = None,
    dataset: Annotated[str, typer.Option(help="Dataset name or folder.")] = "synavatars",
    encoder: Annotated[
        str | None, typer.Option(help="Encoder; the dataset's own by default.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Features made elsewhere (safetensors) instead of encoding.")
    ] = None,
    codes: Annotated[
        Path | None, typer.Option(help="Codes made elsewhere (safetensors); no SAE, so no Δ.")
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", help="Id in the record; the folder's name by default.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="Active latents per image, where the SAE's file is silent.")
    ] = None,
    architecture: Annotated[
        str | None, typer.Option(help="topk or relu, where the SAE's file is silent.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result record here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result record.")] = False,
) -> None:
    """Score an SAE: MATCHScore, TAPAScore, redundancy and structure, against its untrained twin."""
    from benchmark.cli.embed import shown_progress
    from benchmark.cli.show import print_json, record_table
    from benchmark.errors import UserError
    from benchmark.files import check_target, write_json
    from benchmark.runs import score_codes_file, score_path
    from benchmark.saes import load_sae
    from schemas import validate

    if out is not None:
        check_target(out)
    if codes is not None:
        if sae is not None or features is not None:
            raise UserError("--codes stands alone: give no SAE and no --features with it")
        record = score_codes_file(codes, dataset=dataset, encoder=encoder, identifier=id_)
    elif not sae:
        raise UserError("give an SAE folder or file, or --codes FILE")
    else:
        loaded = load_sae(sae, k=k, architecture=architecture)
        for note in loaded.notes:
            typer.echo(f"note: {note}", err=True)
        with shown_progress("embedding") as update:
            record = score_path(
                loaded,
                Path(sae if Path(sae).exists() else sae.partition("@")[0]),
                dataset=dataset,
                encoder=encoder,
                features_file=features,
                identifier=id_,
                progress=update,
            )
    validate("result-sae", record)
    if out is not None:
        write_json(out, record)
    if json_:
        print_json(record)
    else:
        record_table(record)
