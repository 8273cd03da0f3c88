"""The arrays of an annotation file of COCO, object by object, and what its values may be.

Read with ijson. On a file of 520 MB (860,000 regions) a pass took 11 s and 12 MB where ``json``
took 24 s and 3.2 GB. Looking for repeated keys takes a seventh of a pass, and no more memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from benchmark.errors import UserError

MOST = 2**53
"""Numbers are smaller than this."""

_CHUNK = 2**18
_DEEPEST = 1000
_SLICE = 2**12
_BOM = b"\xef\xbb\xbf"


def read_items(path: Path, array: str) -> Iterator[dict[str, Any]]:
    """The objects of one array of an annotation file, one at a time.

    Raises:
        UserError: not JSON, no object, or a key that stands twice in one; file and place are named.
    """
    import ijson

    twice: _Twice = []
    try:
        with path.open("rb") as stream:
            watched = _Watched(_behind_mark(stream), path, array)
            how = {"buf_size": _CHUNK, "use_float": True, "map_type": _noting(twice)}
            for entry in ijson.items(watched, f"{array}.item", **how):
                if not isinstance(entry, dict):
                    raise UserError(f"{path}: {array} holds {str(entry)[:40]!r}, no object")
                for key, holder in twice:
                    raise UserError(
                        f"{path}: key {key[:80]!r} stands twice in one object of {array} "
                        f"(id {str(holder.get('id', 'not stated'))[:40]}); expected once"
                    )
                yield entry
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except (ijson.JSONError, UnicodeDecodeError, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UserError(f"{path}: not JSON ({reason})") from None
    if watched.times > 1 and _outermost(path).count(array) > 1:
        raise UserError(f"{path}: key {array!r} stands twice; expected once")


def _behind_mark(stream: BinaryIO) -> BinaryIO:
    """The stream, behind the mark that some editors put before UTF-8."""
    if stream.read(len(_BOM)) != _BOM:
        stream.seek(0)
    return stream


def _outermost(path: Path) -> list[str]:
    """Every key of the outermost object, however often; slow."""
    import ijson

    depth, found = 0, []
    with path.open("rb") as stream:
        for event, value in ijson.basic_parse(_behind_mark(stream), buf_size=_CHUNK):
            if event in ("start_map", "start_array"):
                depth += 1
            elif event in ("end_map", "end_array"):
                depth -= 1
            elif event == "map_key" and depth == 1:
                found.append(value)
    return found


_Twice = list[tuple[str, dict[str, Any]]]


def _noting(twice: _Twice) -> type[dict[str, Any]]:
    """Kind of the objects in the making: a key that one holds already goes into ``twice``.

    They are not refused then and there, for ijson goes on over an error.
    """

    class Noting(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            if key in self:
                twice.append((key, self))
            dict.__setitem__(self, key, value)

    return Noting


class _Watched:
    """A stream of JSON that is refused where brackets stand too deep.

    What ijson keeps grows with the square of the depth: 100 kB of brackets took all of 24 GB.
    Brackets in strings are counted too, which for names and addresses even out.

    ``times`` counts how often a text is there as a string, so that a key that is there once needs
    no closer look.
    """

    def __init__(self, stream: BinaryIO, path: Path, text: str) -> None:
        self._stream, self._path, self._depth = stream, path, 0
        self._text, self._before, self.times = f'"{text}"'.encode(), b"", 0

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        for start in range(0, len(content), _SLICE):
            part = content[start : start + _SLICE]
            self._depth += part.count(b"[") + part.count(b"{")
            self._depth -= part.count(b"]") + part.count(b"}")
            if self._depth > _DEEPEST:
                raise UserError(
                    f"{self._path}: brackets more than {_DEEPEST:,} deep; expected an annotation "
                    "file of COCO's layout"
                )
        seam = self._before + content
        self.times += seam.count(self._text)
        self._before = seam[-(len(self._text) - 1) :]
        return content


def has_area(box: Any, where: str) -> bool:
    """Whether a region's box has an area; ``UserError`` where it is no box."""
    whole = isinstance(box, list) and len(box) == 4
    if not whole or not all(type(side) in (int, float) and -MOST < side < MOST for side in box):
        raise UserError(f"{where} has bbox {str(box)[:60]}; expected [x, y, width, height]")
    return bool(box[2] > 0 and box[3] > 0)


def is_crowd(region: Mapping[str, Any], where: str) -> bool:
    """Whether a region stands for a number of objects that nobody counted; False if not said."""
    value = region.get("iscrowd", 0)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise UserError(f"{where} has iscrowd {str(value)[:60]!r}; expected 0 or 1")
    return bool(value)


def stated_area(region: Mapping[str, Any], where: str) -> float | None:
    """Area of a region in square pixels, None where the file does not say."""
    if "area" not in region:
        return None
    value = region["area"]
    if type(value) not in (int, float) or not 0 <= value <= sys.float_info.max:
        raise UserError(f"{where} has area {str(value)[:60]!r}; expected a number, 0 or more")
    return float(value)
