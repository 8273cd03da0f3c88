"""What has to be true of a package before anything of it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.datasets import check_folder
from benchmark.datasets.layout import MANIFEST
from benchmark.errors import UserError
from generation.packaging import files_of, missing, read_package
from generation.publishing.address import is_loopback

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""

_CHUNK = 2**20
_SHOWN = 3


@dataclass(frozen=True)
class LocalFile:
    """A file of the package, by the two hashes that a Hub repository knows files by.

    Attributes:
        path: where it lies.
        bytes: its size.
        sha256: of its content; that of files in large file storage.
        blob_id: SHA-1 of its content as a Git blob; that of the others.
    """

    path: Path
    bytes: int
    sha256: str
    blob_id: str


@dataclass(frozen=True)
class Package:
    """A package whose every file is as its manifest says."""

    folder: Path
    manifest: Mapping[str, Any] = field(repr=False)
    files: Mapping[str, LocalFile] = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return str(self.manifest["name"])

    @property
    def tag(self) -> str:
        """Tag of this version on the Hub."""
        return f"v{self.manifest['version']}"

    @property
    def fingerprint(self) -> str:
        """Of the content."""
        return str(self.manifest["fingerprint"])

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(each.bytes for each in self.files.values())

    @property
    def notes(self) -> list[str]:
        """What a publisher should know of this package, one sentence each."""
        review, pairs = self.manifest["review"], self.manifest["counts"]["pairs"]
        found = []
        if review["state"] == "unreviewed":
            found.append("nobody reviewed these pairs; the card says so")
        elif review["state"] == "partly":
            found.append(
                f"{review['reviewed']:,} of {pairs:,} pairs were reviewed; the card says so"
            )
        if self.manifest["generation"]["verify"] == "report_only":
            found.append("the classifier's opinion dropped no pair; for a test server only")
        return found


def open_package(
    folder: Path, endpoint: str, *, version: str | None = None, progress: Progress | None = None
) -> Package:
    """A package that may be published, every byte of it looked at.

    Args:
        folder: what ``assay generate package`` made.
        endpoint: address of the Hub.
        version: that it must have, with or without a ``v``.
        progress: told bytes read and all of them.

    Raises:
        UserError: no package, another version, a licence that nobody states, a package for test
            servers only, files that are not as they were packaged, or pairs that are not sound.
    """
    manifest = read_package(folder)
    found = manifest["version"]
    if version is not None and version.removeprefix("v") != found:
        raise UserError(
            f"{folder} is version {found}, not {version[:40]}; package it again with: assay "
            f"generate package … --version {version[:40].removeprefix('v')}"
        )
    _check_licences(folder, manifest)
    if manifest["generation"]["verify"] == "report_only" and not is_loopback(endpoint):
        raise UserError(
            f"{folder}: its plan says verify: report_only, so no pair had to pass a classifier; "
            "such a package goes to a test server on this machine only (HF_ENDPOINT); plan it with "
            "verify: filter"
        )
    package = Package(folder, manifest, _hashed(folder, manifest, progress))
    report = check_folder(folder)
    if report.problems:
        raise UserError(f"{folder} is not sound: {_few(report.problems)}; package it again")
    return package


def _check_licences(folder: Path, manifest: Mapping[str, Any]) -> None:
    unstated = missing(manifest["licences"])
    if not unstated:
        return
    options = [f"--{what}-licence" for what in ("photographs", "annotations") if what in unstated]
    if options:
        how = f"package it again with {' and '.join(options)}"
    else:
        how = "state it with assay generate edit … --licence (draws nothing again); package it"
    raise UserError(f"{folder}: no licence is stated for {', '.join(unstated)}; {how}")


def _hashed(
    folder: Path, manifest: Mapping[str, Any], progress: Progress | None
) -> dict[str, LocalFile]:
    stated = manifest["files"]
    places = dict(files_of(folder))
    for path in folder.rglob("*"):
        if not path.is_dir() and not path.is_file():
            raise UserError(f"{path} is no ordinary file; a package holds nothing else")
    expected = {*stated, MANIFEST}
    for what, names in (("is missing", expected - set(places)), ("is new", set(places) - expected)):
        if names:
            raise UserError(
                f"{folder} is not as it was packaged: {_few(sorted(names))} {what}; package it "
                "again"
            )
    total, done, found = sum(path.stat().st_size for path in places.values()), 0, {}
    for name, path in places.items():
        found[name] = _read(path)
        wanted = stated.get(name)
        if wanted is not None and found[name].sha256 != wanted["sha256"]:
            raise UserError(f"{path}: changed since it was packaged; package it again")
        done += found[name].bytes
        if progress is not None:
            progress("hashing", done, total)
    return found


def _read(path: Path) -> LocalFile:
    size = path.stat().st_size
    sha256 = hashlib.sha256()
    blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            sha256.update(chunk)
            blob.update(chunk)
    return LocalFile(path, size, sha256.hexdigest(), blob.hexdigest())


def _few(texts: list[str]) -> str:
    more = f" (and {len(texts) - _SHOWN:,} more)" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more
