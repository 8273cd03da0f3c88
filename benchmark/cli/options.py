"""Options that several commands take."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

SaePath: TypeAlias = Annotated[
    str, typer.Argument(help="SAE folder, file, Hub owner/name@revision, or submission id.")
]
DatasetName: TypeAlias = Annotated[str, typer.Option(help="Dataset name or folder.")]
EncoderName: TypeAlias = Annotated[
    str | None, typer.Option(help="Encoder; the dataset's own by default.")
]
FeaturesFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="Features made elsewhere (safetensors) instead of encoding.")
]
Identifier: TypeAlias = Annotated[
    str | None, typer.Option("--id", help="Id in the document; the folder's name by default.")
]
ActiveLatents: TypeAlias = Annotated[
    int | None, typer.Option("--k", help="Active latents an input, where the SAE's file is silent.")
]
ArchitectureName: TypeAlias = Annotated[
    str | None, typer.Option(help="topk or relu, where the SAE's file is silent.")
]
SubmissionId: TypeAlias = Annotated[
    str | None, typer.Option("--id", help="Its name in addresses; the folder's name.")
]
SubmissionName: TypeAlias = Annotated[str | None, typer.Option(help="Its name on the board.")]
Authors: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help='"NAME", "NAME <https://…>" or "NAME <ORCID>"; give it once an author.'),
]
TrainedOn: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="DATASET:SPLIT[,SPLIT…] of all training data; give it once a dataset."),
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace a submission without results.")
]
PrintDocument: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the document.")]
SubmissionRoot: TypeAlias = Annotated[
    Path, typer.Option("--root", help="Folder with saes/ and generators/.")
]
