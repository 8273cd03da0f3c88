"""What an explanation may look like, and cutting one that does not."""

import re

MAX_WORDS = 15
"""Most words of an explanation."""

MAX_CHARACTERS = 200
"""Most characters, for languages that put no spaces between words."""

_MARK = r"(?:[-*•‣▪·–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s+"
_LEADING = re.compile(rf"^(?:{_MARK})+")
_MANY_COMMAS = 3


def problem(text: str) -> str | None:
    """Why an answer is no explanation: ``"empty"``, ``"list-like"``, ``"too long"``; else None.

    List-like are several lines, a list mark at the beginning, a semicolon, or three commas. Too
    long are more than 15 words, or more than 200 characters.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not any(character.isalnum() for character in text):
        return "empty"
    first = lines[0].strip()
    if len(lines) > 1 or _LEADING.match(first) or ";" in first or first.count(",") >= _MANY_COMMAS:
        return "list-like"
    if len(first.split()) > MAX_WORDS or len(first) > MAX_CHARACTERS:
        return "too long"
    return None


def cut(text: str) -> str:
    """An answer as one line of at most 15 words and 200 characters, list marks taken off.

    Several lines are joined by commas. Text that no file can hold (lone surrogates, control
    characters) becomes ``?`` or a space. What is short and plain already stays as it is.

    >>> cut("- round glasses\\n- a beard")
    'round glasses, a beard'
    """
    encodable = text.encode("utf-8", "replace").decode()
    lines = [_unmarked(line) for line in encodable.splitlines()]
    joined = ", ".join(line for line in lines if line)
    words = joined.split()[:MAX_WORDS]
    return _unmarked(" ".join(words)[:MAX_CHARACTERS])


def _unmarked(line: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in line)
    return _LEADING.sub("", " ".join(plain.split())).strip()
