"""Attributes of a comparison and the two prompts of each, §5.1."""

import unicodedata
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.generative.dense.base import DenseClip

WITH = "This is a photo of {}."
WITHOUT = "This is a photo without {}."


def checked_attributes(attributes: Any, model: "DenseClip | None" = None) -> tuple[str, ...]:
    """Attribute names with single spaces, each as it goes into the prompts.

    Args:
        attributes: names such as ``eyeglasses``.
        model: where given, prompts that it would cut are refused, and those that its text tower
            cannot tell apart.

    Raises:
        UserError: none, not a list of texts, a blank one, one with control characters, one twice
            (in whatever case and Unicode form), or for the model one whose prompt is too long,
            without a token of its own, or of the same tokens as another; all of a kind are named.
    """
    if isinstance(attributes, str | bytes) or not isinstance(attributes, Sequence):
        raise UserError("attributes: expected a list of texts")
    if not attributes:
        raise UserError("attributes: the list is empty; expected at least one")
    for place, text in enumerate(attributes, start=1):
        if not isinstance(text, str):
            raise UserError(f"attributes: entry {place} is {text!r}; expected a text")
    names = tuple(" ".join(text.split()) for text in attributes)
    blank = [str(place) for place, name in enumerate(names, start=1) if not name]
    if blank:
        raise UserError(f"attributes: blank at {_places(blank)}; expected a word or phrase")
    odd = [str(k) for k, name in enumerate(names, start=1) if not name.isprintable()]
    if odd:
        raise UserError(f"attributes: control characters at {_places(odd)}; expected plain text")
    if twice := _alike(names, [folded(name) for name in names]):
        shown = _quoted(sorted(set(twice)))
        raise UserError(f"attributes: more than once: {shown}; give each one once")
    if model is not None:
        _check_tokens(names, model)
    return names


def folded(name: str) -> str:
    """A name as it is compared: single spaces, whatever its case and its Unicode form."""
    composed = unicodedata.normalize("NFC", " ".join(name.split()))
    return unicodedata.normalize("NFC", composed.casefold())


def _alike(names: Sequence[str], keys: Sequence[Hashable]) -> list[str]:
    """Names whose key another name has too, those of one key beside each other."""
    groups: dict[Hashable, list[str]] = {}
    for name, key in zip(names, keys, strict=True):
        groups.setdefault(key, []).append(name)
    return [name for group in groups.values() if len(group) > 1 for name in group]


def _check_tokens(names: Sequence[str], model: "DenseClip") -> None:
    long = [n for n in names if not (model.fits(WITH.format(n)) and model.fits(without(n)))]
    if long:
        raise UserError(
            f"attributes: too long for {model.name}: {_quoted(long)}; with its prompt an "
            f"attribute may have {model.context_length} tokens"
        )
    *ids, bare = model.token_ids([WITH.format(name) for name in (*names, "")])
    empty = [name for name, tokens in zip(names, ids, strict=True) if tokens == bare]
    if empty:
        raise UserError(
            f"attributes: no words for {model.name}: {_quoted(empty)}; expected a word or phrase"
        )
    if same := _alike(names, ids):
        raise UserError(
            f"attributes: the same tokens for {model.name}: {_quoted(same)}; it cannot tell them "
            "apart: give one of them"
        )


def without(name: str) -> str:
    """The prompt that denies an attribute."""
    return WITHOUT.format(name)


def _places(places: list[str]) -> str:
    return f"{'entry' if len(places) == 1 else 'entries'} {', '.join(places)}"


def _quoted(names: Sequence[str]) -> str:
    shown = [repr(name if len(name) <= 60 else name[:57] + "...") for name in names[:5]]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
