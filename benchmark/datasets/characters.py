"""Characters that no name may hold: they end lines, drive terminals, or are no text at all."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def has_control(text: str) -> bool:
    r"""Whether a text holds a control character, a separator of lines, or half a character.

    >>> has_control("hot dog"), has_control("hot\ndog")
    (False, True)
    """
    return _CONTROL.search(text) is not None
