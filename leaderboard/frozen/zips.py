"""The pages of a release in one file: packed the same every time, unpacked with care."""

import re
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

from benchmark.errors import UserError

MOST_BYTES = 8 * 2**30
MOST_FILES = 200_000
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*){0,6}")
_KINDS = frozenset(
    (".html", ".css", ".js", ".json", ".csv", ".parquet", ".svg", ".png", ".xml", ".txt")
)
_BLOCK = 2**20


def pack(folder: Path, target: Path) -> tuple[int, int]:
    """Pack every file below ``folder``; returns their bytes and number.

    Equal files give equal bytes: names are sorted, times and rights are fixed.
    """
    total, paths = 0, sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            info.create_system = 3  # the same on every system
            data = path.read_bytes()
            archive.writestr(info, data, compresslevel=9)
            total += len(data)
    return total, len(paths)


def unpack(source: Path, target: Path, stated: Mapping[str, int]) -> None:
    """Unpack into the folder ``target``.

    Args:
        source: what ``pack`` wrote.
        stated: ``bytes`` and ``files`` that it must hold.

    Raises:
        UserError: no zip, other sizes than stated, or a member that is no ordinary page.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            _check(source, members, stated)
            for member in members:
                _extract(source, archive, member, target)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise UserError(f"{source}: cannot be unpacked ({error}); restore the file") from error


def _check(source: Path, members: list[zipfile.ZipInfo], stated: Mapping[str, int]) -> None:
    size = sum(member.file_size for member in members)
    if size != stated["bytes"] or len(members) != stated["files"]:
        raise UserError(
            f"{source}: {len(members):,} files of {size:,} bytes, expected {stated['files']:,} "
            f"of {stated['bytes']:,} bytes by release.json; restore both files"
        )
    if size > MOST_BYTES or len(members) > MOST_FILES:
        raise UserError(
            f"{source}: {len(members):,} files of {size:,} bytes; a release has at most "
            f"{MOST_FILES:,} of {MOST_BYTES:,} bytes"
        )
    names = [member.filename for member in members]
    if len(set(map(str.lower, names))) < len(names):
        raise UserError(f"{source}: two files of one name; restore the file")
    for member in members:
        mode = member.external_attr >> 16
        ordinary = stat.S_ISREG(mode) and not member.flag_bits & 0x1
        if not ordinary or not _is_page(member.filename):
            raise UserError(
                f"{source}: {member.filename[:80]!r} is no ordinary page; restore the file"
            )


def _is_page(name: str) -> bool:
    return (
        len(name) <= 400
        and _SAFE.fullmatch(name) is not None
        and ".." not in name
        and Path(name).suffix in _KINDS
    )


def _extract(source: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    path = target / member.filename
    path.parent.mkdir(parents=True, exist_ok=True)
    left = member.file_size
    with archive.open(member) as stream, path.open("xb") as out:
        while block := stream.read(min(_BLOCK, left + 1)):
            left -= len(block)
            if left < 0:
                raise UserError(f"{source}: {member.filename!r} is larger than it says")
            out.write(block)
    if left:
        raise UserError(f"{source}: {member.filename!r} is shorter than it says")
