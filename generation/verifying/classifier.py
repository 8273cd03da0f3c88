"""The trained classifier on disk: ``classifier.safetensors`` and ``classifier.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing, write_json
from generation.verifying.network import ARCHITECTURE, build
from generation.verifying.recipe import Recipe
from schemas import SchemaError, validate

if TYPE_CHECKING:
    from torch import nn

WEIGHTS = "classifier.safetensors"
RECORD = "classifier.json"


@dataclass(frozen=True, eq=False)
class Classifier:
    """A trained network and what is known of it.

    Attributes:
        network: on the processor, in evaluation mode.
        record: the document of ``classifier.json``.
    """

    network: nn.Module = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)

    @cached_property
    def recipe(self) -> Recipe:
        """How it was trained."""
        return Recipe(**self.record["recipe"])

    @cached_property
    def columns(self) -> Mapping[str, int]:
        """Output of each concept."""
        return {row["concept"]: number for number, row in enumerate(self.record["concepts"])}

    def threshold(self, concept: str) -> float | None:
        """Validated threshold of a concept; None where there is none or it is not known at all."""
        column = self.columns.get(concept)
        if column is None:
            return None
        threshold: float | None = self.record["concepts"][column]["threshold"]
        return threshold

    def why_not(self, concept: str) -> str:
        """Why a concept has no validated threshold."""
        column = self.columns.get(concept)
        if column is None:
            return "the source has no annotations of it"
        return str(self.record["concepts"][column]["reason"])


def save(folder: Path, network: nn.Module, record: Mapping[str, Any]) -> Classifier:
    """Write a classifier; the record comes last, so that it is there when all of it is.

    Args:
        record: all of ``classifier.json`` but the hash of the weights.
    """
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)
    network = network.cpu().eval()
    values = {name: value.detach().contiguous() for name, value in network.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(values, temporary, metadata={"key": record["key"]})
    complete = {**record, "weights_sha256": file_sha256(folder / WEIGHTS)}
    validate("classifier", complete)
    write_json(folder / RECORD, complete)
    return Classifier(network, complete)


def read_record(folder: Path) -> dict[str, Any] | None:
    """The document of ``classifier.json``; None where there is none.

    Raises:
        UserError: it breaks the schema ``classifier``.
    """
    path = folder / RECORD
    try:
        document = json.loads(path.read_bytes())
        validate("classifier", document)
    except FileNotFoundError:
        return None
    except SchemaError as error:
        raise UserError(f"{path}: {error.problems[0]}; delete it to train again") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not JSON; delete it to train again") from None
    found: dict[str, Any] = document
    return found


def load(folder: Path, key: str) -> Classifier | None:
    """The classifier of a folder if it was trained for ``key``; None where it was not.

    Raises:
        UserError: its files are damaged or do not belong together.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    record = read_record(folder)
    if record is None or record["key"] != key:
        return None
    path = folder / WEIGHTS
    if not path.is_file():
        return None
    if file_sha256(path) != record["weights_sha256"]:
        raise UserError(f"{path}: not the file that {RECORD} names; delete both to train again")
    network = build(len(record["concepts"]))
    try:
        network.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0][:120]
        raise UserError(f"{path}: no {ARCHITECTURE} ({reason}); delete it to train again") from None
    return Classifier(network.eval(), record)


def validated(record: Mapping[str, Any]) -> np.ndarray:
    """bool (A,): which concepts have a validated threshold."""
    return np.array([row["threshold"] is not None for row in record["concepts"]], dtype=bool)
