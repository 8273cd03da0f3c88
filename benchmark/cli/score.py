"""``assay score``."""

from pathlib import Path
from typing import Annotated

import typer

from benchmark.cli.options import (
    ActiveLatents,
    ArchitectureName,
    DatasetName,
    EncoderName,
    FeaturesFile,
    Identifier,
)

app = typer.Typer(add_completion=False)


@app.command()
def score(
    sae: Annotated[
        str | None,
        typer.Argument(
            help="SAE folder, file, Hub owner/name@revision, or submission id; none with --codes."
        ),
    ] = None,
    dataset: DatasetName = "synavatars",
    pairs: Annotated[
        str | None,
        typer.Option(help="Dataset of the edit pairs, where it is another one: cub with syncub."),
    ] = None,
    encoder: EncoderName = None,
    features: FeaturesFile = None,
    codes: Annotated[
        Path | None, typer.Option(help="Codes made elsewhere (safetensors); no SAE, so no Δ.")
    ] = None,
    id_: Identifier = None,
    k: ActiveLatents = None,
    architecture: ArchitectureName = None,
    out: Annotated[Path | None, typer.Option(help="Write the result record here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result record.")] = False,
) -> None:
    """Score an SAE: MATCHScore, TAPAScore, redundancy and structure, against its untrained twin."""
    from benchmark.cli.inputs import check_out, give_out, read_sae
    from benchmark.cli.show import record_table
    from benchmark.errors import UserError
    from benchmark.runs import score_codes_file, score_prepared

    given = None if sae is None else Path(sae)
    check_out(out, {"SAE": given, "--features": features, "--codes": codes})
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
