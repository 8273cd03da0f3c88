"""``manifest.json`` of a folder of text activations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.datasets.layout import MANIFEST, MAX_MANIFEST_BYTES
from benchmark.errors import UserError

KIND = "text"
VERSION = 1

_TEXTS = ("name", "revision", "hook", "fingerprint", "licence", "runtime")
_HASHED = ("weights_sha256", "tokenizer_sha256")
_COUNTS = ("tokens", "contexts", "documents", "match", "score", "width")


def is_text_folder(folder: Path) -> bool:
    """Whether a folder says that it holds text activations."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            return False
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("kind") == KIND


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, with what the dataset depends on checked; a fault is a ``UserError``."""
    path = folder / MANIFEST
    document = json.loads(path.read_bytes())
    if document.get("schema_version") != VERSION:
        raise UserError(
            f"{path}: schema_version is {document.get('schema_version')!r}, expected {VERSION}"
        )
    _strings(document, _TEXTS, path)
    _strings(_object(document, "model", path), ("name", "source", "revision", *_HASHED), path)
    for key in _COUNTS:
        _whole(_object(document, "counts", path), key, path)
    for key in ("context_length", "batch_size"):
        _whole(_object(document, "recipe", path), key, path)
    norm = _object(document, "norm", path).get("mean")
    if isinstance(norm, bool) or not isinstance(norm, int | float) or not 0 <= norm < 1e30:
        raise UserError(f"{path}: norm.mean is {norm!r}; expected a number of at least 0")
    return dict(document)


def _object(document: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise UserError(f"{path}: {key} must be an object, found {value!r}")
    return value


def _strings(document: Mapping[str, Any], keys: tuple[str, ...], path: Path) -> None:
    for key in keys:
        value = document.get(key)
        if not isinstance(value, str) or not value:
            raise UserError(f"{path}: {key} must be a non-empty string, found {value!r}")


def _whole(document: Mapping[str, Any], key: str, path: Path) -> None:
    value = document.get(key)
    if type(value) is not int or value < 0:
        raise UserError(f"{path}: {key} must be a whole number, found {value!r}")
