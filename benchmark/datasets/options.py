"""Options that stand in a dataset's name after a colon: ``cub:certainty=3``."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.errors import UserError


def parse_options(dataset: str, text: str, known: Sequence[str]) -> dict[str, str]:
    """``a=1,b=2`` as a mapping; a name that is not known, or there twice, is a ``UserError``."""
    given: dict[str, str] = {}
    for option in text.split(","):
        key, equals, value = (part.strip() for part in option.partition("="))
        if key not in known or key in given or not equals or not value:
            raise UserError(
                f"{dataset}: option {option!r}; expected NAME=VALUE once each, names: "
                f"{', '.join(known)}"
            )
        given[key] = value
    return given
