"""How the columns of a foreign Parquet file are compressed, read from its footer as plain bytes.

pyarrow ends the whole process where it is asked for the codec of some damaged files; so this is
looked at before the file is given to it. A footer is a struct in Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), its fields are
numbered in https://github.com/apache/parquet-format.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")
"""By their number in a file."""

MAX_FOOTER = 2**24
_MAX_DEPTH = 16
_MAX_VALUES = 10**6
_MAGIC = b"PAR1"

_ROW_GROUPS, _COLUMNS = 4, 1  # fields of the file's and of a row group's metadata
_FILE_PATH, _META_DATA = 1, 3  # of a column chunk
_CODEC = 4  # of its metadata


class FooterError(ValueError):
    """A footer that cannot be read; the text says why."""


@dataclass(frozen=True)
class Chunk:
    """A column of one row group.

    Attributes:
        codec: of ``CODECS``; an unknown one is its number as text.
        elsewhere: whether another file holds its rows.
    """

    codec: str
    elsewhere: bool


def chunks(path: Path) -> Iterator[Chunk]:
    """Every column of every row group, whatever the footer calls it.

    Raises:
        FooterError: no Parquet file, an encrypted or a damaged one.
    """
    for group in _list(_metadata(path).get(_ROW_GROUPS)):
        for column in _list(_struct(group).get(_COLUMNS)):
            codec = _struct(_struct(column).get(_META_DATA)).get(_CODEC)
            if not isinstance(codec, int):
                raise FooterError("a column without a codec in the footer")
            known = CODECS[codec] if 0 <= codec < len(CODECS) else str(codec)
            yield Chunk(known, _struct(column).get(_FILE_PATH) is not None)


def _metadata(path: Path) -> dict[int, Any]:
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 12:
            raise FooterError(f"a file of {size} bytes")
        stream.seek(size - 8)
        length, magic = struct.unpack("<I4s", stream.read(8))
        if magic != _MAGIC:
            raise FooterError("a file that does not end as Parquet does")
        if length > min(MAX_FOOTER, size - 12):
            raise FooterError(f"a footer of {length:,} bytes")
        stream.seek(size - 8 - length)
        return _Reader(stream.read(length)).struct(0)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FooterError("a footer without row groups or columns")
    return value


def _struct(value: Any) -> dict[int, Any]:
    if not isinstance(value, dict):
        raise FooterError("a footer without row groups or columns")
    return value


class _Reader:
    """Values of Thrift's compact protocol, bounded in depth and number."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place, self._left = data, 0, _MAX_VALUES

    def struct(self, depth: int) -> dict[int, Any]:
        """Values by field number."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._zigzag()
            found[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise FooterError("a footer of too many or too deep values")
        match kind:
            case 1 | 2 | 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._zigzag()
            case 7:
                return struct.unpack("<d", self._bytes(8))[0]
            case 8:
                return self._bytes(self._varint())
            case 9 | 10:
                head = self._byte()
                count = self._varint() if head >> 4 == 15 else head >> 4
                return [self._value(head & 15, depth + 1) for _ in self._counted(count)]
            case 12:
                return self.struct(depth)
        raise FooterError(f"a value of kind {kind} in the footer")

    def _counted(self, count: int) -> range:
        if count > len(self._data):
            raise FooterError(f"a list of {count:,} in the footer")
        return range(count)

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        part = self._data[self._place : self._place + count]
        if len(part) < count:
            raise FooterError("a footer that ends too early")
        self._place += count
        return part

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise FooterError("a number of too many bytes in the footer")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
