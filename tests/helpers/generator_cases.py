"""Small submissions of generators, and files of pictures that must be refused."""

import hashlib
import io
import json
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from benchmark.files import file_sha256
from benchmark.submissions.generators_images import write_images

PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def png(seed: int, size: tuple[int, int] = (32, 32)) -> bytes:
    """A small picture, another one for every seed."""
    stream = io.BytesIO()
    colour = tuple(hashlib.sha256(str(seed).encode()).digest()[:3])
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def submission(folder: Path, images: Sequence[bytes] | None = None, **changed: Any) -> Path:
    """A valid submission with its images in the folder; changes go over its document."""
    folder.mkdir(parents=True, exist_ok=True)
    if images is not None:
        write_images(folder / "images.parquet", images)
    path = folder / "images.parquet"
    digest = file_sha256(path) if path.is_file() else "0" * 64
    document = {
        "schema_version": 1,
        "id": folder.name,
        "name": "Small",
        "authors": [{"name": "A. Author"}],
        "licence": "CC0-1.0",
        "generator": {"kind": "images", "files": [{"path": path.name, "sha256": digest}]},
        "real": "synavatars",
        "training_data": [{"dataset": "synavatars", "splits": ["match"]}],
        **changed,
    }
    (folder / "submission.json").write_text(json.dumps(document))
    return folder


def drawing(**changed: Any) -> dict[str, Any]:
    """``generator`` of a submission whose images the suite draws."""
    return {
        "kind": "diffusers",
        "repo": "someone/painter",
        "revision": "a" * 40,
        "prompts": [{"prompt": "a round face", "count": 3}, {"prompt": "a hat", "count": 2}],
        "seed": 5,
        "settings": {"steps": 2, "guidance": 1.0, "width": 64, "height": 64},
        **changed,
    }


def table(cells: Sequence[Any], kind: pa.DataType = PICTURE, column: str = "image") -> pa.Table:
    """One column of pictures."""
    return pa.table({column: pa.array(cells, kind)})


def cell(data: bytes | None, path: str | None = None) -> dict[str, Any]:
    """A row as the datasets library writes it."""
    return {"bytes": data, "path": path}


def huge_png(width: int = 30_000, height: int = 30_000) -> bytes:
    """A PNG file of a few bytes whose header claims a very large picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 9))
        + chunk(b"IEND", b"")
    )


def damaged(data: bytes, seed: int) -> bytes:
    """A file with some bytes changed, taken out or put in, often at its end."""
    draw, changed = random.Random(seed), bytearray(data)
    way = draw.randrange(4)
    if way == 0:
        for _ in range(draw.randint(1, 8)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    elif way == 1:
        start = draw.randrange(len(changed))
        del changed[start : start + draw.randint(1, 50)]
    elif way == 2:
        start = draw.randrange(len(changed))
        changed[start:start] = draw.randbytes(draw.randint(1, 30))
    else:
        for _ in range(draw.randint(1, 4)):
            changed[-draw.randint(1, 700)] = draw.randrange(256)
    return bytes(changed)


def _table(cells: Sequence[Any], **options: Any) -> Callable[[Path], None]:
    return lambda path: pq.write_table(table(cells, **options), path)


def _compressed(path: Path) -> None:
    pq.write_table(table([cell(b"\0" * 10**6)] * 50), path, compression="zstd")


def _cut(path: Path) -> None:
    write_images(path, [png(k) for k in range(4)])
    path.write_bytes(path.read_bytes()[:-20])


def _flipped(path: Path) -> None:
    write_images(path, [png(k) for k in range(4)])
    data = bytearray(path.read_bytes())
    data[10:60] = b"\xff" * 50
    path.write_bytes(bytes(data))


def _many_columns(path: Path) -> None:
    columns = {f"c{k}": pa.array([1, 2]) for k in range(200)}
    pq.write_table(
        pa.table({"image": table([cell(png(1)), cell(png(2))])["image"], **columns}), path
    )


def _many_rows(path: Path) -> None:
    nothing = pa.array([b""] * 100_001, pa.binary())
    pq.write_table(pa.table({"image": nothing}), path)


BAD_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no parquet": (lambda path: path.write_bytes(b"PAR1 no file"), "readable Parquet"),
    "empty file": (lambda path: path.write_bytes(b""), "readable Parquet"),
    "cut off": (_cut, "readable Parquet"),
    "broken page": (_flipped, "expected"),
    "other column": (_table([cell(png(1))] * 2, column="picture"), "one column called 'image'"),
    "text": (_table(["a", "b"], kind=pa.string()), "bytes, or a struct"),
    "numbers": (_table([1, 2], kind=pa.int64()), "bytes, or a struct"),
    "list of bytes": (_table([[png(1)]] * 2, kind=pa.list_(pa.binary())), "bytes, or a struct"),
    "more fields": (
        _table(
            [{"bytes": png(1), "url": "x"}] * 2,
            kind=pa.struct([("bytes", pa.binary()), ("url", pa.string())]),
        ),
        "bytes, or a struct",
    ),
    "null row": (_table([cell(png(1)), None]), "row 1: found no picture"),
    "null bytes": (_table([cell(png(1)), cell(None)]), "row 1: found no picture"),
    "path only": (_table([cell(png(1)), cell(None, "/etc/passwd")]), "row 1.*path '/etc/passwd'"),
    "path outside": (_table([cell(png(1)), cell(png(2), "../../x.png")]), "row 1.*a plain name"),
    "address": (_table([cell(png(1), "https://x.org/a.png")] * 2), "row 0.*a plain name"),
    "no picture": (_table([cell(png(1)), cell(b"<svg/>")]), "row 1: found no picture"),
    "empty picture": (_table([cell(png(1)), cell(b"")]), "row 1: found no picture"),
    "cut picture": (_table([cell(png(1)), cell(png(2, (90, 90))[:-30])]), "row 1.*whole picture"),
    "huge picture": (_table([cell(huge_png())] * 2), "row 0.*far too many pixels"),
    "large picture": (_table([cell(huge_png(5000, 5000))] * 2), "row 0.*5000 x 5000 pixels"),
    "bytes of a huge file": (_table([cell(b"\0" * (2**24 + 1))] * 2), "row 0.*at most 16,777,216"),
    "one picture": (_table([cell(png(1))]), "1 pictures; expected 2"),
    "no rows": (_table([]), "0 pictures; expected 2"),
    "bomb": (_compressed, "compression ZSTD"),
    "columns": (_many_columns, "201 columns|202 columns"),
    "rows": (_many_rows, "100,001 rows; expected at most 100,000"),
}
"""What is wrong with a file → how it is written, and a part of the one line that refuses it."""
