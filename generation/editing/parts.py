"""What a pipeline's folder must hold, looked at before anything in it is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

PIPELINES = ("Flux2KleinPipeline", "Flux2Pipeline")
READERS = ("text_encoder", "tokenizer")
"""Parts that read prompts; a folder may do without them."""

PARTS = ("scheduler", *READERS, "transformer", "vae")
NOTHING = [None, None]
"""How an index says that a part is not there."""

_CLASSES = {"transformer": "Flux2Transformer2DModel", "vae": "AutoencoderKLFlux2"}
_LIBRARIES = ("diffusers", "transformers")
_INDEX = "model_index.json"


def read_index(folder: Path) -> dict[str, Any]:
    """``model_index.json``; only the two pipelines, made of known libraries' classes, pass.

    Every part is in it, ``NOTHING`` for those that are not there.

    Raises:
        UserError: no index, or one of something else; the part is named.
    """
    path = folder / _INDEX
    index = _object(path, "a pipeline's folder")
    kind = index.get("_class_name")
    if kind not in PIPELINES:
        raise UserError(f"{path}: is a {kind!r}; expected one of {', '.join(PIPELINES)}")
    if not isinstance(index.get("is_distilled", False), bool):
        raise UserError(
            f"{path}: is_distilled is {index['is_distilled']!r}; expected true or false"
        )
    index = {**dict.fromkeys(PARTS, NOTHING), **index}
    for part, entry in index.items():
        if (part in PARTS or isinstance(entry, list)) and not _is_entry(entry):
            raise UserError(
                f"{path}: {part} is {entry!r}; expected a class of diffusers or transformers"
            )
    if index["scheduler"] == NOTHING:
        raise UserError(f"{path}: there is no scheduler; expected a class of diffusers")
    for part, name in _CLASSES.items():
        if index[part] != ["diffusers", name]:
            raise UserError(f"{path}: {part} is {index[part]!r}; expected {name} of diffusers")
    return index


def _is_entry(entry: Any) -> bool:
    """Whether this is a library and a class, or says that there is none."""
    if entry == NOTHING:
        return True
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and entry[0] in _LIBRARIES
        and isinstance(entry[1], str)
    )


def check_parts(folder: Path, parts: Iterable[str]) -> None:
    """Check that parts are in their folders, with settings and weights that can be read.

    Raises:
        UserError: a folder that is not there, or a file that is damaged; it is named.
    """
    for part in parts:
        if not (folder / part).is_dir():
            raise UserError(f"{folder}: the folder {part} is missing; fetch the model again")
        for path in sorted((folder / part).glob("*config.json")):
            _object(path, "a part's settings")
        for path in sorted((folder / part).glob("*.safetensors")):
            _check_weights(path)


def _object(path: Path, expected: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror or error}; expected {expected}"
        ) from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not JSON; expected {expected}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: no JSON object; expected {expected}")
    return document


def _check_weights(path: Path) -> None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt"):
            pass
    except (OSError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UserError(f"{path}: damaged ({reason}); fetch the model again") from None
