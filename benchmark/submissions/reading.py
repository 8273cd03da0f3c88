"""Foreign JSON read as data: size, encoding, numbers, keys and depth checked on the way."""

import json
import math
import stat
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import RepeatedKey, unique_keys
from benchmark.submissions.problems import visible

MAX_DOCUMENT = 256 * 2**10
"""Bytes of a submission.json."""
MAX_RESULT = 8 * 2**20
"""Bytes of a result record."""
MAX_SETTINGS = 10**6
"""Bytes of the settings beside an SAE's weights."""

_MAX_DEPTH = 32


class _BadJson(ValueError):
    """A fault in JSON text: what is there, what should be."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}; expected {expected}")
        self.found, self.expected = found, expected


class JsonProblem(UserError):
    """A file that is no clean JSON object; ``found`` and ``expected`` word the fault."""

    def __init__(self, path: Path, found: str, expected: str) -> None:
        super().__init__(f"{visible(path, 300)}: found {found}; expected {expected}")
        self.found, self.expected = found, expected


def read_object(path: Path, limit: int = MAX_DOCUMENT) -> dict[str, Any]:
    """The JSON object in an ordinary file of at most ``limit`` bytes.

    Raises:
        JsonProblem: no ordinary file, too large, not UTF-8 without a byte order mark, not JSON, a
            key twice, NaN, Infinity or a number beyond float64, nested deeper than 32 levels.
    """
    try:
        return parse_object(_content(path, limit))
    except _BadJson as error:
        raise JsonProblem(path, error.found, error.expected) from None


def _content(path: Path, limit: int) -> bytes:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise _BadJson("a link, folder or device", "an ordinary file")
        if status.st_size > limit:
            raise _BadJson(f"{status.st_size:,} bytes", f"at most {limit:,} bytes")
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise _BadJson("no such file", "a JSON file") from None
    except OSError as error:
        raise _BadJson(f"a file that cannot be read ({error.strerror})", "a JSON file") from None
    if len(data) > limit:
        raise _BadJson(f"more than {limit:,} bytes", f"at most {limit:,} bytes")
    return data


def parse_object(data: bytes) -> dict[str, Any]:
    """A JSON object from bytes; faults as in ``read_object``, as ``ValueError``."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise _BadJson("a byte order mark", "UTF-8 without one")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _BadJson(f"byte {error.start} that is not UTF-8", "UTF-8 text") from None
    try:
        document = json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=_constant,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise _BadJson(f"{error.msg.lower()} at {place}", "JSON") from None
    except RepeatedKey as error:
        raise _BadJson(f"key {visible(json.dumps(error.key))} twice", "every key once") from None
    except _BadJson:
        raise
    except ValueError:  # Python's own limit
        raise _BadJson("a whole number of thousands of digits", "a shorter one") from None
    except RecursionError:
        raise _BadJson("values nested too deeply", f"at most {_MAX_DEPTH} levels") from None
    if not isinstance(document, dict):
        raise _BadJson(f"a JSON {type(document).__name__}", "a JSON object")
    if _too_deep(document):
        raise _BadJson("values nested too deeply", f"at most {_MAX_DEPTH} levels")
    return document


def _constant(name: str) -> float:
    raise _BadJson(name, "a finite number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _BadJson(visible(text), "a number that fits float64")
    return value


def _too_deep(document: dict[str, Any]) -> bool:
    """Whether containers lie deeper than allowed; never recursive, whatever the depth."""
    level: list[Any] = [document]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for container in level
            for item in (container.values() if type(container) is dict else container)
            if type(item) in (dict, list)
        ]
        if not level:
            return False
    return True
