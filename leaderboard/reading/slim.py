"""Reading thousands of records: checked in parallel, kept slim, remembered by their bytes."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from leaderboard.building.cache import Cache, key_of
from leaderboard.building.pool import Pool
from leaderboard.reading import generator_records, records
from leaderboard.reading.concepts import Concepts
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Record, Slim, compact, parse, read_bytes

SAE, GENERATOR = "result-sae", "result-generator"
AnyRecord = Record | GeneratorRecord
_BULKY = {SAE: records.BULKY, GENERATOR: generator_records.BULKY}


@dataclass(frozen=True)
class File:
    """A record's file, its schema, and the SHA-256 of its bytes."""

    path: Path
    schema: str
    sha256: str

    @property
    def key(self) -> str:
        """What the cache keeps its slim form under."""
        return key_of([self.schema, self.sha256])


def hashed(files: Iterable[tuple[Path, str]]) -> list[File]:
    """Files with their hashes, from paths and names of schemas."""

    def one(found: tuple[Path, str]) -> File:
        path, schema = found
        return File(path, schema, hashlib.sha256(read_bytes(path)).hexdigest())

    with ThreadPoolExecutor() as threads:  # reading and hashing leave the interpreter free
        return list(threads.map(one, files))


def read_slim(files: Sequence[File], cache: Cache, pool: Pool) -> list[AnyRecord]:
    """The record in every file, without its bulky parts.

    Raises:
        UserError: a file that breaks its schema, with every fault.
    """
    known = {file.key: content for file in files if (content := _known(file, cache)) is not None}
    missing = list({file.key: file for file in files if file.key not in known}.values())
    made = pool.map(_make, [(file, cache) for file in missing])
    known |= {file.key: content for file, content in zip(missing, made, strict=True)}
    return [_record(file, known[file.key], cache) for file in files]


def whole_text(file: File, sha256: str, cache: Cache) -> bytes:
    """The whole record in ``file`` as the site holds it; ``sha256`` is of this text."""
    return cache.read("text", sha256) or _text(_document(file))


def packed_concepts(file: File, sha256: str, cache: Cache) -> bytes:
    """The per-concept rows of the record in ``file``; ``sha256`` is of its text on the site."""
    known = cache.read("concepts", sha256)
    return known or Concepts.of(_document(file)["per_concept"]).packed()


def whole(record: AnyRecord, text: bytes) -> AnyRecord:
    """A slim record with its bulky parts again, from its whole text."""
    document = json.loads(text)
    if isinstance(record, GeneratorRecord):
        return GeneratorRecord(document, record.file, called=record.called)
    found = Record(document, record.file, record.judged, called=record.called)
    vars(found)["text"] = text.decode()  # known already
    return found


def _known(file: File, cache: Cache) -> dict[str, Any] | None:
    content = cache.read("slim", file.key)
    found: dict[str, Any] | None = None if content is None else json.loads(content)
    return found


def _make(job: tuple[File, Cache]) -> dict[str, Any]:
    file, cache = job
    document = _document(file)
    text = _text(document)
    bulky = _BULKY[file.schema]
    sha256 = hashlib.sha256(text).hexdigest()
    content: dict[str, Any] = {
        "sha256": sha256,
        "document": {key: value for key, value in document.items() if key not in bulky},
    }
    if file.schema == SAE:
        cache.write("concepts", sha256, Concepts.of(document["per_concept"]).packed())
    cache.write("text", sha256, text)
    cache.write("slim", file.key, compact(content).encode())
    return content


def _document(file: File) -> Mapping[str, Any]:
    data = read_bytes(file.path)
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise UserError(f"{file.path}: changed while the site was built; build it again")
    return parse(file.path, data, file.schema)


def _text(document: Mapping[str, Any]) -> bytes:
    return compact(document).encode()


def _record(file: File, content: Mapping[str, Any], cache: Cache) -> AnyRecord:
    document, sha256 = content["document"], content["sha256"]
    if file.schema == GENERATOR:
        return GeneratorRecord(document, file.path, known_sha256=sha256)

    return Record(
        document, file.path, slim=Slim(sha256, partial(packed_concepts, file, sha256, cache))
    )
