"""Under which licence a model is: what its makers state goes before what the user says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from generation.licences import is_licence, letters

CARD = "README.md"
_MOST = 300


def settle(model: str, stated: str | None, given: str | None) -> str:
    """The licence of a model.

    Args:
        model: what the user calls it.
        stated: by its makers; None where they do not.
        given: by the user.

    Raises:
        UserError: nobody states it, or the user names none or another one than its makers.
    """
    own = None if given is None else _named(given)
    if stated is None and own is None:
        raise UserError(
            f"model {model} does not state its licence, which goes into every dataset made with "
            "it; give it: --licence 'Apache-2.0'"
        )
    if stated is None:
        assert own is not None
        return own
    if own is not None and letters(own) != letters(stated):
        raise UserError(
            f"--licence {own!r}: model {model} is under {stated!r}, as its makers state; leave "
            "--licence out"
        )
    return stated


def stated_in(card: Path | None) -> str | None:
    """What the front matter of a model card says: ``license_name``, else ``license``.

    None without a card, or where it names no licence.
    """
    front = {} if card is None else _front_matter(card)
    for key in ("license_name", "license"):
        value = front.get(key)
        names = value if isinstance(value, list) else [value]
        text = ", ".join(" ".join(each.split()) for each in names if isinstance(each, str))
        if _fits(text):
            return text
    return None


def _front_matter(card: Path) -> dict[str, Any]:
    from huggingface_hub.repocard import metadata_load

    try:
        return metadata_load(card) or {}
    # no card, or one that is not YAML: the errors are another library's
    except Exception:
        return {}


def _named(given: str) -> str:
    """The licence that ``--licence`` names."""
    text = " ".join(given.split())
    if not _fits(text):
        raise UserError(
            f"--licence {given[:80]!r} names no licence; expected the model's, in at most {_MOST} "
            "characters, for instance 'Apache-2.0'"
        )
    return text


def _fits(text: str) -> bool:
    return is_licence(text) and len(text) <= _MOST and text.isprintable()
