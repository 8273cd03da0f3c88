"""``manifest.json`` of a dataset folder: read with limits, believed only after checking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.datasets.layout import MANIFEST, MAX_MANIFEST_BYTES, SCHEMA_VERSION
from benchmark.errors import UserError
from benchmark.files import RepeatedKey, unique_keys

SCHEMA = "dataset-manifest"


@dataclass(frozen=True)
class Manifest:
    """The part of the manifest that reading the data depends on."""

    name: str
    version: str
    fingerprint: str
    concepts: tuple[str, ...]
    groups: tuple[str, ...]
    counts: dict[str, int]


def read_manifest(folder: Path) -> Manifest:
    """Read and check a folder's manifest; every fault is a ``UserError`` naming file and key."""
    path = folder / MANIFEST
    document = raw_manifest(folder)
    manifest = _parse(document, path)
    _check_schema(document, path)
    return manifest


def raw_manifest(folder: Path) -> dict[str, Any]:
    """The manifest as written, known to be a JSON object of this layout's version."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise UserError(f"{path}: larger than {MAX_MANIFEST_BYTES // 2**20} MiB, the limit")
        document = json.loads(path.read_bytes(), object_pairs_hook=unique_keys)
    except FileNotFoundError as error:
        raise UserError(f"{folder} is not a dataset folder: it has no {MANIFEST}") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except RepeatedKey as error:
        raise UserError(f"{path}: {error.key!r} is there twice; give it once") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error})") from error
    if not isinstance(document, dict):
        raise UserError(f"{path}: expected a JSON object, found {type(document).__name__}")
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        raise UserError(f"{path}: schema_version is {version!r}, expected {SCHEMA_VERSION}")
    return document


def _parse(document: dict[str, Any], path: Path) -> Manifest:
    concepts = document.get("concepts")
    if not isinstance(concepts, list) or not concepts:
        raise UserError(f"{path}: concepts must be a list of at least one concept")
    names, groups = [], []
    for index, concept in enumerate(concepts):
        if not isinstance(concept, dict):
            raise UserError(f"{path}: concepts[{index}] must be an object with name and group")
        names.append(_text(concept, "name", path, f"concepts[{index}]."))
        groups.append(_text(concept, "group", path, f"concepts[{index}]."))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"{path}: concept {twice!r} is listed more than once")
    return Manifest(
        name=_text(document, "name", path),
        version=_text(document, "version", path),
        fingerprint=_text(document, "fingerprint", path),
        concepts=tuple(names),
        groups=tuple(groups),
        counts=_counts(document.get("counts"), path),
    )


def _check_schema(document: dict[str, Any], path: Path) -> None:
    from schemas import SchemaError, validate

    try:
        validate(SCHEMA, document)
    except SchemaError as error:
        more = f" (and {len(error.problems) - 1} more)" if len(error.problems) > 1 else ""
        raise UserError(f"{path}: {error.problems[0]}{more}") from None


def _text(document: dict[str, Any], key: str, path: Path, where: str = "") -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise UserError(f"{path}: {where}{key} must be a non-empty string, found {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(f"{path}: {where}{key} is not valid Unicode: {value!r}") from None
    return value


def _counts(value: Any, path: Path) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(each) is int for each in value.values()):
        raise UserError(f"{path}: counts must be an object of whole numbers")
    return dict(value)
