"""Foreign pictures in Parquet files: what may be in one, and reading it a few rows at a time.

A file's own words are not believed: its size is looked at before it is opened, only codecs that
cannot blow a few bytes up to gigabytes are read, rows come in small batches, and a picture's size
is known before it is decoded.
"""

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from benchmark.errors import UserError
from benchmark.files import replacing
from benchmark.images import FORMATS, ImageReadError, read_image
from benchmark.submissions.generators_footer import MAX_FOOTER, FooterError, chunks

COLUMN = "image"
MIN_IMAGES = 2
MAX_IMAGES = 100_000
MAX_FILE_BYTES = 4 * 2**30
MAX_TOTAL_BYTES = 32 * 2**30
MAX_IMAGE_BYTES = 16 * 2**20
MAX_PIXELS = 2**24
"""Of one picture, as 4096 x 4096."""

CODECS = ("UNCOMPRESSED", "SNAPPY")
"""Pictures are compressed already; Snappy makes at most about 21 bytes of one."""

_BATCH_ROWS = 16
_MAX_COLUMNS = 100
_FOOTER = {"thrift_string_size_limit": MAX_FOOTER, "thrift_container_size_limit": 2**20}


class ImagesFault(ImageReadError):
    """A file of pictures that is refused: where, ``found`` and ``expected``."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        super().__init__(f"{where}: found {found}; expected {expected}")
        self.where, self.found, self.expected = where, found, expected


@dataclass(frozen=True)
class ImageFile:
    """A Parquet file whose form was checked.

    Attributes:
        path: where it lies.
        label: what messages call it.
        rows: pictures in it.
        limit: bytes that all rows may come to; a few of the file can stand for many.
    """

    path: Path
    label: str
    rows: int
    limit: int = MAX_TOTAL_BYTES

    @classmethod
    def of(
        cls, path: Path, label: str | None = None, *, limit: int = MAX_TOTAL_BYTES
    ) -> "ImageFile":
        """Check size, rows, columns and codecs of a file; no row is read.

        Raises:
            ImagesFault: the first fault, naming the file.
        """
        named = label or path.name
        size = path.stat().st_size if path.is_file() else None
        if size is None:
            raise ImagesFault(named, "no such file", "a Parquet file of pictures")
        if size > MAX_FILE_BYTES:
            raise ImagesFault(
                named, f"{size:,} bytes", f"at most {MAX_FILE_BYTES:,}; split it into several files"
            )
        _check_codecs(path, named)
        with _opened(path, named) as file:
            _check_form(file, named)
            return cls(path, named, file.metadata.num_rows, limit)

    def encoded(self) -> Iterator[bytes]:
        """The bytes of every picture in order, a batch in memory at a time.

        Raises:
            ImagesFault: a row that holds no bytes, names a file, or is too large; more bytes in
                all than the limit.
        """
        row = unpacked = 0
        with _opened(self.path, self.label) as file:
            batches = file.iter_batches(_BATCH_ROWS, columns=[COLUMN], use_threads=False)
            for batch in batches:
                batch.validate(full=True)
                unpacked += batch.nbytes
                if unpacked > self.limit:
                    raise ImagesFault(
                        self.label,
                        f"more than {self.limit:,} bytes unpacked",
                        "at most as many, each repeat counted",
                    )
                for value in batch.column(0):
                    if row == self.rows:
                        raise ImagesFault(self.label, f"more than {row} rows", "as many as it says")
                    yield _bytes_of(value, f"{self.label} row {row}")
                    row += 1
        if row != self.rows:
            raise ImagesFault(self.label, f"{row} rows", f"{self.rows}, as it says itself")


class ParquetSet:
    """The pictures of some files as one set; ids are running numbers.

    Args:
        name: what reports call it.
        files: in order.

    Raises:
        ImagesFault: fewer than ``MIN_IMAGES`` pictures, or more than ``MAX_IMAGES``.
    """

    def __init__(self, name: str, files: Sequence[ImageFile]) -> None:
        self.name = name
        self.files = tuple(files)
        count = sum(file.rows for file in files)
        if not MIN_IMAGES <= count <= MAX_IMAGES:
            raise ImagesFault(name, f"{count:,} pictures", f"{MIN_IMAGES} to {MAX_IMAGES:,}")
        self.ids = tuple(f"{place:06d}" for place in range(count))
        self._next = 0
        self._rows: Iterator[bytes] = iter(())

    @property
    def about(self) -> dict[str, Any]:
        """Kind and name."""
        return {"kind": "folder", "name": self.name}

    def encoded(self, index: int) -> bytes:
        """The bytes of a picture; quick where pictures are asked for in order.

        Raises:
            ImagesFault: a row that holds none, or a picture that is too large.
        """
        place = range(len(self.ids))[index]
        if place < self._next or self._next == 0:
            self._next, self._rows = 0, self._all()
        try:
            while self._next < place:
                next(self._rows)
                self._next += 1
            data = next(self._rows)
            self._next += 1
            check_picture(data, self.describe(place))
        except ImagesFault:
            self._next = 0  # what raised gives no more rows
            raise
        return data

    def content_sha256(self) -> str:
        """Hash over the id and the SHA-256 of the bytes of every picture, as a result has it."""
        content = hashlib.sha256()
        for name, data in zip(self.ids, self._all(), strict=True):
            content.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
        return content.hexdigest()

    def describe(self, index: int) -> str:
        """File and row."""
        place = index
        for file in self.files:
            if place < file.rows:
                return f"{file.label} row {place}"
            place -= file.rows
        raise IndexError(index)

    def _all(self) -> Iterator[bytes]:
        for file in self.files:
            yield from file.encoded()


def check_picture(data: bytes, label: str) -> tuple[int, int]:
    """Width and height of a picture from its header, without decoding it.

    Raises:
        ImagesFault: too many bytes or pixels, or no picture.
    """
    if len(data) > MAX_IMAGE_BYTES:
        raise ImagesFault(
            label, f"a picture of {len(data):,} bytes", f"at most {MAX_IMAGE_BYTES:,}"
        )
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
    except Image.DecompressionBombError as error:
        raise ImagesFault(label, "far too many pixels", f"at most {MAX_PIXELS:,}") from error
    except Exception as error:  # a broken header raises whatever the format's reader stumbles over
        raise ImagesFault(label, "no picture", f"a file of {', '.join(FORMATS)}") from error
    if width * height > MAX_PIXELS:
        raise ImagesFault(label, f"{width} x {height} pixels", f"at most {MAX_PIXELS:,}")
    return width, height


def check_readable(data: bytes, label: str) -> None:
    """Decode a picture; ``ImagesFault`` where that cannot be done within the limits."""
    check_picture(data, label)
    try:
        read_image(data, name=label)
    except ImageReadError as error:
        reason = str(error).removeprefix(f"cannot read image {label}: ")
        raise ImagesFault(label, reason, "a whole picture") from error


def write_images(path: Path, images: Sequence[bytes]) -> None:
    """Write pictures as the file that a submission holds: one column, as ``datasets`` reads it."""
    cells = [{"bytes": data, "path": None} for data in images]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    features = '{"info": {"features": {"image": {"_type": "Image"}}}}'
    schema = pa.schema([(COLUMN, kind)], metadata={"huggingface": features})
    table = pa.table([pa.array(cells, kind)], schema=schema)
    with replacing(path) as temporary:
        pq.write_table(
            table, temporary, compression="none", row_group_size=100, write_statistics=False
        )


@contextmanager
def _opened(path: Path, label: str) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path, **_FOOTER) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, UserError):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ImagesFault(label, reason, "a readable Parquet file") from error


def _check_form(file: pq.ParquetFile, label: str) -> None:
    metadata, schema = file.metadata, file.schema_arrow
    if not 0 <= metadata.num_rows <= MAX_IMAGES:
        raise ImagesFault(label, f"{metadata.num_rows:,} rows", f"at most {MAX_IMAGES:,}")
    wanted = f"one column called {COLUMN!r}"
    if metadata.num_columns > _MAX_COLUMNS:
        raise ImagesFault(label, f"{metadata.num_columns:,} columns", wanted)
    if schema.names.count(COLUMN) != 1:
        found = ", ".join(map(repr, schema.names[:5])) or "none"
        raise ImagesFault(label, f"columns {found}", wanted)
    kind = schema.field(COLUMN).type
    if not _holds_pictures(kind):
        raise ImagesFault(
            f"{label} column {COLUMN}",
            str(kind)[:100],
            "bytes, or a struct of bytes and path as the datasets library writes it",
        )


def _check_codecs(path: Path, label: str) -> None:
    try:
        for chunk in chunks(path):
            if chunk.codec not in CODECS:
                raise ImagesFault(
                    label,
                    f"compression {chunk.codec}",
                    f"{' or '.join(CODECS)}, as pictures are compressed already",
                )
            if chunk.elsewhere:
                raise ImagesFault(label, "rows that are kept in another file", "its own rows")
    except FooterError as error:
        raise ImagesFault(label, str(error), "a readable Parquet file") from None


def _holds_pictures(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_struct(kind):
        fields = {kind.field(k).name: kind.field(k).type for k in range(kind.num_fields)}
        if len(fields) != kind.num_fields or not {"bytes"} <= set(fields) <= {"bytes", "path"}:
            return False
        path = fields.get("path", pa.null())
        named = types.is_string(path) or types.is_large_string(path) or types.is_null(path)
        return named and _is_bytes(fields["bytes"])
    return _is_bytes(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _bytes_of(value: pa.Scalar, where: str) -> bytes:
    """The bytes of a cell; a path beside them is a plain name that nothing opens."""
    cell = value if not isinstance(value, pa.StructScalar) or not value.is_valid else value["bytes"]
    if isinstance(value, pa.StructScalar) and value.is_valid and "path" in value:
        path = value["path"].as_py()
        if path is not None and (not cell.is_valid or _is_elsewhere(path)):
            raise ImagesFault(
                where, f"the path {path[:60]!r}", "the picture's bytes and at most a plain name"
            )
    if not cell.is_valid:
        raise ImagesFault(where, "no picture", "its bytes")
    size = len(cell.as_buffer())
    if size > MAX_IMAGE_BYTES:
        raise ImagesFault(where, f"a picture of {size:,} bytes", f"at most {MAX_IMAGE_BYTES:,}")
    return bytes(cell.as_py())


def _is_elsewhere(path: str) -> bool:
    return any(mark in path for mark in "/\\:\0")
