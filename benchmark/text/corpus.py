"""Texts to run a model over: documents with names, in one order whatever the machine."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug

PYDOC = "pydoc"
"""Name of the corpus that every Python holds: its own help topics."""

COLUMN = "text"
"""Column of a .jsonl or .parquet file that holds the text, unless another is named."""

PYDOC_LICENCE = "PSF-2.0"
_BLANK_LINES = re.compile(r"\n[ \t\r]*\n\s*")


@dataclass(frozen=True)
class Document:
    """One text; tokens of it never stand in both splits."""

    id: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Distinct documents, none of them blank.

    Attributes:
        name, revision: which text, and which version of it.
        licence: SPDX identifier, or ``unknown``.
        documents: in the order of the source.
        repeated, blank: documents that were left out.
        sha256: over names and texts of ``documents``.
    """

    name: str
    revision: str
    licence: str
    documents: tuple[Document, ...]
    repeated: int
    blank: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {
            "name": self.name,
            "revision": self.revision,
            "licence": self.licence,
            "documents": len(self.documents),
            "repeated": self.repeated,
            "blank": self.blank,
            "sha256": self.sha256,
        }


def read_corpus(source: str, *, column: str = COLUMN, licence: str | None = None) -> Corpus:
    """The corpus named ``pydoc``, or a file.

    ``.jsonl``: one object a line; ``.parquet``: one row a document; both with the text in
    ``column``. Any other file is UTF-8 text whose documents have blank lines between them.

    Raises:
        UserError: no such file, not UTF-8, no such column, a text that is no string, or no text.
    """
    if source == PYDOC:
        return _corpus(PYDOC, f"python-{platform.python_version()}", _topics(), PYDOC_LICENCE)
    path = Path(source)
    if not path.is_file():
        raise UserError(
            f"no corpus {source}; expected {PYDOC!r} or a text, .jsonl or .parquet file"
        )
    readers = {".jsonl": _json_lines, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    documents = list(_paragraphs(path) if reader is None else reader(path, column))
    found = _corpus(slug(path.stem) or "text", "", documents, licence or "unknown")
    if not found.documents:
        raise UserError(f"{path}: holds no text")
    return found


def _topics() -> list[Document]:
    from pydoc_data.topics import topics

    return [Document(name, topics[name]) for name in sorted(topics)]


def _corpus(name: str, revision: str, documents: Iterable[Document], licence: str) -> Corpus:
    seen: set[str] = set()
    kept, repeated, blank = [], 0, 0
    digest = hashlib.sha256(b"assay-corpus-1")
    for document in documents:
        if not document.text.strip():
            blank += 1
        elif document.text in seen:  # the same text in both splits would be known beforehand
            repeated += 1
        else:
            seen.add(document.text)
            kept.append(document)
            for part in (document.id.encode(), document.text.encode()):
                digest.update(len(part).to_bytes(8, "big") + part)
    sha256 = digest.hexdigest()
    return Corpus(name, revision or sha256[:12], licence, tuple(kept), repeated, blank, sha256)


def _paragraphs(path: Path) -> Iterator[Document]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start:,}); save it as UTF-8") from None
    for number, part in enumerate(_BLANK_LINES.split(text.replace("\r\n", "\n")), start=1):
        yield Document(f"part-{number}", part.strip("\n"))


def _json_lines(path: Path, column: str) -> Iterator[Document]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}: line {number} is not JSON ({error})") from None
            if not isinstance(row, dict) or column not in row:
                raise UserError(f"{path}: line {number} has no {column!r}; name it with --column")
            yield Document(f"line-{number}", _text(row[column], f"{path}: line {number}"))


def _parquet(path: Path, column: str) -> Iterator[Document]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a Parquet file ({error})") from None
    with file:
        names = file.schema_arrow.names
        if column not in names:
            raise UserError(
                f"{path}: no column {column!r}; found {', '.join(names)}; name it with --column"
            )
        number = 0
        for batch in file.iter_batches(columns=[column]):
            for value in batch.column(0).to_pylist():
                yield Document(f"row-{number}", _text(value, f"{path}: row {number}"))
                number += 1


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UserError(f"{where}: the text is a {type(value).__name__}; expected a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UserError(f"{where}: the text is not valid Unicode") from None
    return value
