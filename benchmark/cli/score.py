"""``assay score``."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def score(
    sae: Annotated[
        Path | None, typer.Argument(help="SAE folder or file; leave it out with --codes.")
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
    out: Annotated[Path | None, typer.Option(help="Write the result record here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result record.")] = False,
) -> None:
    """Score an SAE: MATCHScore, TAPAScore, redundancy and structure, against its untrained twin."""
    from benchmark.cli.embed import shown_progress
    from benchmark.cli.show import print_json, record_table
    from benchmark.errors import UserError
    from benchmark.files import write_json
    from benchmark.runs import score_codes_file, score_path

    if codes is not None:
        if sae is not None or features is not None:
            raise UserError("--codes stands alone: give no SAE and no --features with it")
        record = score_codes_file(codes, dataset=dataset, encoder=encoder, identifier=id_)
    elif sae is None:
        raise UserError("give an SAE folder or file, or --codes FILE")
    else:
        with shown_progress("embedding") as update:
            record = score_path(
                sae,
                dataset=dataset,
                encoder=encoder,
                features_file=features,
                identifier=id_,
                progress=update,
            )
    if out is not None:
        write_json(out, record)
    if json_:
        print_json(record)
    else:
        record_table(record)
