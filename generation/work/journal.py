"""Append-only files of JSON lines: a line is on disk before the next thing is begun."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from benchmark.errors import UserError
from benchmark.files import RepeatedKey, check_target, unique_keys
from generation.work.formats import Line
from schemas import SchemaError, validate

LineT = TypeVar("LineT", bound=Line)


class Journal(Generic[LineT]):
    """A file that only grows.

    A last line without its line feed counts if it is whole. If not, a killed run left it torn: it
    is passed over on reading, and cut off before the next line is written.

    Args:
        path: the file; it and its folder are made with the first line.
        schema: name of the schema of a line.
        kind: class of a line.
        plan_hash: of the plan that every line must be of.
    """

    def __init__(self, path: Path, schema: str, kind: type[LineT], plan_hash: str) -> None:
        self.path = path
        self._schema = schema
        self._kind = kind
        self._plan_hash = plan_hash

    def __iter__(self) -> Iterator[LineT]:
        """Every line, oldest first; ``UserError`` names file and line of a broken one."""
        for number, text in enumerate(self._lines(), start=1):
            yield self._parse(text, f"{self.path} line {number}")

    def latest(self) -> dict[str, LineT]:
        """The last line of every id."""
        return {line.id: line for line in self}

    def append(self, *lines: LineT) -> None:
        """Write lines at the end and wait until they are on disk."""
        text = b""
        for line in lines:
            document = line.as_dict()
            validate(self._schema, document)
            if line.plan_hash != self._plan_hash:
                raise ValueError("a line of another plan")
            text += json.dumps(document, sort_keys=True, ensure_ascii=False).encode() + b"\n"
        target = check_target(self.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab+") as stream:
            if _end_last_line(stream):
                text = b"\n" + text
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())

    def _lines(self) -> list[bytes]:
        try:
            *lines, tail = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror or error}") from None
        return [*lines, tail] if _is_whole(tail) else lines

    def _parse(self, text: bytes, where: str) -> LineT:
        try:
            document = json.loads(text, object_pairs_hook=unique_keys)
        except RepeatedKey as error:
            raise UserError(
                f"{where}: key {error.key[:80]!r} stands twice in one object; expected once"
            ) from None
        except (ValueError, RecursionError):
            raise UserError(f"{where}: not JSON; expected one object a line") from None
        try:
            validate(self._schema, document)
        except SchemaError as error:
            raise UserError(f"{where}: {error.problems[0]}") from None
        if document["plan_hash"] != self._plan_hash:
            raise UserError(
                f"{where}: of plan {document['plan_hash'][:12]}…, the plan here is "
                f"{self._plan_hash[:12]}…; it belongs to another version, move {self.path} away"
            )
        try:
            return self._kind.from_dict(document)
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None


def _is_whole(tail: bytes) -> bool:
    """Whether what stands after the last line feed is a line: no part of an object is JSON."""
    try:
        json.loads(tail)
    except (ValueError, RecursionError):
        return False
    return True


def _end_last_line(stream: BinaryIO) -> bool:
    """Cut off a torn last line; whether there is a whole one that lacks its line feed."""
    end = place = stream.seek(0, os.SEEK_END)
    tail = b""
    while place > 0 and b"\n" not in tail:
        start = max(0, place - 4096)
        stream.seek(start)
        tail = stream.read(place - start) + tail
        place = start
    tail = tail.rpartition(b"\n")[2]
    whole = _is_whole(tail)
    if tail and not whole:
        stream.truncate(end - len(tail))
    stream.seek(0, os.SEEK_END)
    return whole
