"""Text that others chose, for a page in Markdown."""

from __future__ import annotations

import re
from typing import Any

_SPECIAL = re.compile(r"[\\`*_\[\]<>|&~$#]")


def cell(text: Any) -> str:
    r"""A text that shows as it is written, in a table as well: on one line, nothing of it markup.

    >>> cell("per|son\n<b> [x](y)")
    'per\\|son \\<b\\> \\[x\\](y)'
    """
    seen = "".join(each if each.isprintable() else " " for each in str(text))
    return _SPECIAL.sub(r"\\\g<0>", " ".join(seen.split()))
