"""Attributes of a comparison and the two prompts of each, §5.1."""

from collections.abc import Sequence
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
        model: where given, prompts that it would cut are refused.

    Raises:
        UserError: none, not a list of texts, a blank one, one with control characters, one twice
            (in whatever case), or one whose prompt is too long for the model; all of a kind are
            named.
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
    folded = [name.casefold() for name in names]
    twice = sorted({name for name in names if folded.count(name.casefold()) > 1})
    if twice:
        raise UserError(f"attributes: more than once: {_quoted(twice)}; give each one once")
    if model is not None:
        long = [n for n in names if not (model.fits(WITH.format(n)) and model.fits(without(n)))]
        if long:
            raise UserError(
                f"attributes: too long for {model.name}: {_quoted(long)}; with its prompt an "
                f"attribute may have {model.context_length} tokens"
            )
    return names


def without(name: str) -> str:
    """The prompt that denies an attribute."""
    return WITHOUT.format(name)


def _places(places: list[str]) -> str:
    return f"{'entry' if len(places) == 1 else 'entries'} {', '.join(places)}"


def _quoted(names: Sequence[str]) -> str:
    shown = [repr(name if len(name) <= 60 else name[:57] + "...") for name in names[:5]]
    return ", ".join(shown) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
