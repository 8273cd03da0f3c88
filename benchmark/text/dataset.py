"""A folder of text activations as a dataset: rows are tokens, there are no concepts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmark.datasets.base import Activations, Dataset
from benchmark.datasets.layout import MANIFEST
from benchmark.errors import UserError
from benchmark.tensors import read_tensors
from benchmark.text.contexts import Contexts, TokenIds
from benchmark.text.manifest import read_manifest
from benchmark.text.table import FILE, contexts_sha256, read_contexts
from benchmark.text.tokens import SPLITS

ACTIVATIONS = "activations.safetensors"
TENSOR = "activations"
_UNHASHED = ("fingerprint", "runtime", "norm", "licence")
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class TokenRows:
    """Stands where a dataset has pictures: rows of numbers, which nothing can decode."""

    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Image.Image:
        raise UserError(f"a dataset of text activations has no pictures; row {index} is a token")

    def __iter__(self) -> Iterator[Image.Image]:
        return (self[index] for index in range(len(self)))

    def encoded(self, index: int) -> bytes:
        """The row's numbers, little-endian float32."""
        return np.ascontiguousarray(self.rows[index], "<f4").tobytes()


@dataclass(frozen=True, eq=False)
class TextDataset(Dataset):
    """A dataset with the folder it is from.

    Attributes:
        folder: where it is.
        manifest: as it stands there.
        tokens: its contexts with what the model reads of them.
    """

    folder: Path = field(default_factory=Path)
    manifest: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Contexts = field(default_factory=lambda: Contexts(()), repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over how it was made, the contexts and all activations, read once.

        Raises:
            UserError: another one than the manifest's, so something was changed or damaged.
        """
        found = self.hash_content()
        if found != self.manifest["fingerprint"]:
            raise UserError(
                f"{self.folder}: its content does not fit the fingerprint in {MANIFEST}; collect "
                "it again"
            )
        return found

    def hash_content(self, progress: Callable[[int, int], None] | None = None) -> str:
        """The fingerprint of what is there now, whatever the manifest says."""
        assert self.activations is not None
        splits = split_of_contexts(self)
        return fingerprint(self.manifest, self.tokens, splits, self.activations.images)


def split_of_contexts(dataset: TextDataset) -> list[str]:
    """The split of every context."""
    names = np.empty(len(dataset.ids), object)
    for name, rows in dataset.splits.items():
        names[rows] = name
    return [str(name) for name in names[dataset.tokens.first[:-1]]]


def fingerprint(
    manifest: Mapping[str, Any], tokens: Contexts, splits: list[str], activations: np.ndarray
) -> str:
    """Hex SHA-256 over recipe, contexts and float32 activations (N, D)."""
    own = {key: value for key, value in manifest.items() if key not in _UNHASHED}
    own["model"] = {key: value for key, value in own["model"].items() if key != "source"}
    digest = hashlib.sha256(b"assay-text-fingerprint-1")
    digest.update(json.dumps(own, sort_keys=True).encode())
    digest.update(contexts_sha256(tokens.contexts, splits).encode())
    for start in range(0, len(activations), _CHUNK):
        digest.update(np.ascontiguousarray(activations[start : start + _CHUNK], "<f4").data)
    return digest.hexdigest()


def open_text_folder(folder: Path) -> TextDataset:
    """Open what ``assay text collect`` wrote; activations are mapped, not read.

    Raises:
        UserError: a file that is missing, broken, or does not fit the others.
    """
    manifest = read_manifest(folder)
    contexts, splits = read_contexts(folder / FILE)
    tokens = Contexts(contexts)
    rows = int(tokens.first[-1])
    values = _activations(folder / ACTIVATIONS, rows, manifest["counts"]["width"])
    names = np.repeat(np.array(splits, object), np.diff(tokens.first))
    return TextDataset(
        name=manifest["name"],
        revision=manifest["revision"],
        concepts=(),
        groups=(),
        ids=TokenIds(tokens),
        annotations=np.zeros((rows, 0), bool),
        images=TokenRows(values),
        splits={name: np.flatnonzero(names == name) for name in SPLITS},
        activations=Activations(values, values[:0], values[:0], encoder=_encoder(manifest)),
        contexts=tokens,
        folder=folder,
        manifest=manifest,
        tokens=tokens,
    )


def _activations(path: Path, rows: int, width: int) -> np.ndarray:
    tensors, _ = read_tensors(path)
    values = tensors.get(TENSOR)
    if values is None or values.shape != (rows, width) or values.dtype != np.float32:
        found = "none" if values is None else f"{values.dtype} {values.shape}"
        raise UserError(f"{path}: {TENSOR} is {found}; expected float32 {(rows, width)}")
    return values


def _encoder(manifest: Mapping[str, Any]) -> dict[str, Any]:
    recipe = manifest["recipe"]
    return {
        "name": f"{manifest['model']['name']}@{manifest['hook']}"[:200],
        "weights_sha256": manifest["model"]["weights_sha256"],
        "preprocessing": f"{recipe['context_length']} tokens, padded right, special tokens left "
        "out; v1",
        "dim": manifest["counts"]["width"],
        "batch_size": recipe["batch_size"],
    }
