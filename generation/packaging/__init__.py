"""Packaging: the pairs that passed every stage as an ordinary Hub dataset folder."""

from generation.packaging.build import Options, Report, package
from generation.packaging.licences import missing
from generation.packaging.manifest import files_of, hashes, read_package

__all__ = ["Options", "Report", "files_of", "hashes", "missing", "package", "read_package"]
