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
