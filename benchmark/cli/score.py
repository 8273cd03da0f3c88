"""``assay score``."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def score(
    sae: Annotated[
        str | None,
        typer.Argument(
            help="SAE folder, file, or Hub owner/name@revision; leave it out with --codes."
        ),
    ] = None,
    dataset: Annotated[str, typer.Option(help="Dataset name or folder.")] = "synavatars",
    pairs: Annotated[
        str | None,
        typer.Option(help="Dataset of the edit pairs, where it is another one: cub with syncub."),
    ] = None,
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
    from benchmark.cli.inputs import give_out, read_sae
    from benchmark.cli.show import record_table
    from benchmark.errors import UserError
    from benchmark.files import check_target
    from benchmark.runs import score_codes_file, score_prepared

    if out is not None:
        check_target(out)
    if codes is not None:
        if sae is not None or features is not None:
            raise UserError("--codes stands alone: give no SAE and no --features with it")
        record = score_codes_file(
            codes, dataset=dataset, pairs=pairs, encoder=encoder, identifier=id_
        )
    elif not sae:
        raise UserError("give an SAE folder or file, or --codes FILE")
    else:
        loaded = read_sae(
            sae,
            dataset=dataset,
            encoder=encoder,
            features=features,
            identifier=id_,
            k=k,
            architecture=architecture,
            pairs=pairs,
        )
        record = score_prepared(*loaded)
    give_out("result-sae", record, out, json_, record_table)
