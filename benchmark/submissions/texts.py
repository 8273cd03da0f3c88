"""Rules over one document's words: what people read, follow and cite."""

import unicodedata
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Any

from benchmark.submissions.ids import RESERVED
from benchmark.submissions.problems import Problem, is_unseen, problem, visible

_LONG = ("$.description", "$.bibtex", "$.withdrawn.reason")
_MOST_MARKS = 3


def document_problems(document: Mapping[str, Any], folder: str, file: str) -> Iterator[Problem]:
    """Faults that the schema cannot see.

    Args:
        document: the content of ``submission.json``, None where a value breaks the schema.
        folder: name of the folder that holds it.
        file: how to name the file.
    """
    if (identifier := document.get("id")) is not None:
        yield from _id(identifier, folder, file)
    for path, text in _texts(document, "$"):
        yield from _readable(path, text, file)
    if (licence := document.get("licence")) is not None:
        yield from _licence(licence, file)
    for index, author in enumerate(document.get("authors") or ()):
        orcid = (author or {}).get("orcid")
        if orcid is not None and not _orcid(orcid):
            yield problem(
                file,
                f"$.authors[{index}].orcid",
                orcid,
                "an ORCID iD whose last digit fits",
                "copy it from orcid.org",
            )
    day = (document.get("withdrawn") or {}).get("date")
    if day is not None and not is_day(day):
        yield problem(
            file,
            "$.withdrawn.date",
            day,
            "a day as YYYY-MM-DD",
            "write the day of the withdrawal",
        )


def _id(identifier: str, folder: str, file: str) -> Iterator[Problem]:
    if identifier != folder:
        yield problem(
            file,
            "$.id",
            identifier,
            f"{visible(folder)}, the folder's name",
            "rename the folder or change the id",
        )
    if identifier in RESERVED:
        yield problem(file, "$.id", identifier, "no reserved name", "choose another id")


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}")


def _readable(path: str, text: str, file: str) -> Iterator[Problem]:
    if text.isascii() and text.isprintable() and text.strip() == text and text:
        return
    allowed = "\n\t" if path in _LONG else ""
    if any(is_unseen(character) and character not in allowed for character in text):
        yield problem(
            file,
            path,
            text,
            "text without control, zero-width or direction characters",
            "type the text again",
        )
    if text.strip() != text or not text:
        yield problem(file, path, f'"{text}"', "text without space around it", "cut the space")
    if _stacked(text):
        yield problem(
            file,
            path,
            text,
            f"at most {_MOST_MARKS} combining marks on one letter",
            "take the marks away",
        )


def _stacked(text: str) -> bool:
    run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if run > _MOST_MARKS:
            return True
    return False


def _licence(text: str, file: str) -> Iterator[Problem]:
    canonical = _canonical(text)
    if canonical is None:
        yield problem(
            file,
            "$.licence",
            text,
            "an SPDX licence expression, for instance Apache-2.0",
            "look it up at https://spdx.org/licenses",
        )
    elif canonical != text:
        yield problem(file, "$.licence", text, canonical, f'write "{canonical}"')


@cache
def _canonical(text: str) -> str | None:
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    if "licenseref" in text.lower():  # terms that nobody can look up
        return None
    try:
        return str(canonicalize_license_expression(text))
    except (InvalidLicenseExpression, ValueError, RecursionError, MemoryError):
        return None


def _orcid(text: str) -> bool:
    """ISO 7064 MOD 11-2 over the first 15 digits."""
    digits = text.replace("-", "")
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == digits[15]


def is_day(text: str) -> bool:
    """Whether ``text`` is a day that the calendar has, as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
