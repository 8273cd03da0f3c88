"""Publishing: a package becomes a tagged version of a Hub dataset that reads back as it was."""

from generation.publishing.changes import Change, Changes
from generation.publishing.local import Package, open_package
from generation.publishing.run import Options, Report, publish

__all__ = ["Change", "Changes", "Options", "Package", "Report", "open_package", "publish"]
