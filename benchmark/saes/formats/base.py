"""What a format module offers, and what a caller may add to a file that does not say enough."""

from dataclasses import dataclass
from typing import Protocol

from benchmark.saes.formats.files import SaeFiles
from benchmark.saes.sae import Sae


@dataclass(frozen=True)
class Hints:
    """What the caller knows and the file may not say."""

    k: int | None = None
    architecture: str | None = None


class Format(Protocol):
    """One file format; ``FORMAT`` in its module."""

    looks_like: str

    def matches(self, files: SaeFiles) -> bool:
        """Whether the content is of this format; a broken file of this format still matches."""

    def load(self, files: SaeFiles, hints: Hints) -> Sae:
        """The SAE, or a ``UserError`` that names the tensor or setting at fault."""
