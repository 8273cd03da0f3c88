"""``manifest.json`` of a package: what is in it, how it was made, and a hash of every file.

``files`` holds size and SHA-256 of all other files; ``seal`` is the SHA-256 of the manifest without
it. So a package that was touched after it was made is told from one that was not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark import files
from benchmark.datasets.layout import MANIFEST
from benchmark.datasets.manifest import raw_manifest
from benchmark.errors import UserError
from schemas import SchemaError, validate

SCHEMA = "package"
# what a download or the file browser of a system leaves behind is no part of a package
_PASSED_OVER = (".cache", ".DS_Store", "Thumbs.db")


def write_manifest(folder: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """Add hashes of the files and the seal, check against the schema, and write."""
    whole = {**document, "files": hashes(folder)}
    whole["seal"] = _seal(whole)
    validate(SCHEMA, whole)
    files.write_json(folder / MANIFEST, whole)
    return whole


def read_package(folder: Path) -> dict[str, Any]:
    """The manifest of a package, its schema and seal checked.

    Raises:
        UserError: no package, or a manifest that was changed by hand.
    """
    path = folder / MANIFEST
    document = raw_manifest(folder)
    if "seal" not in document:
        raise UserError(
            f"{path}: no seal, so this is no package; make one with: assay generate package"
        )
    try:
        validate(SCHEMA, document)
    except SchemaError as error:
        raise UserError(f"{path}: {error.problems[0]}; package it again") from None
    if document["seal"] != _seal(document):
        raise UserError(f"{path}: changed since it was written; package it again")
    return document


def hashes(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of every file but the manifest, by path in the folder."""
    return {
        name: {"bytes": path.stat().st_size, "sha256": files.file_sha256(path)}
        for name, path in files_of(folder)
        if name != MANIFEST
    }


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Path in the folder and place of every file that belongs to a package, sorted.

    Raises:
        UserError: a link, which could lead out of the folder.
    """
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if set(name.parts) & set(_PASSED_OVER):
            continue
        if path.is_symlink():
            raise UserError(f"{path} is a link; a package holds ordinary files only")
        if path.is_file():
            found.append((name.as_posix(), path))
    yield from sorted(found)


def _seal(document: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != "seal"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
