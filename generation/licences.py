"""What counts as the name of a licence."""

_UNKNOWN = {
    *("not stated", "not known", "not specified", "unspecified", "unknown", "none", "null"),
    *("n/a", "na", "tbd", "other"),
}


def is_licence(text: str) -> bool:
    """Whether a text says anything: neither blank nor one of the words for not knowing."""
    return text.strip().lower() not in _UNKNOWN and bool(letters(text))


def letters(text: str) -> str:
    """A licence in letters and digits only: ``Apache-2.0`` is ``apache20``."""
    return "".join(each for each in text.casefold() if each.isalnum())
