"""Names that stand in file names and addresses."""

import re

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""What a submission's id looks like."""


def slug(text: str, limit: int = 63) -> str:
    """Lower-case ASCII letters, digits and dashes, at most ``limit``; may be empty."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[: limit + 1].strip("-")[:limit].rstrip("-")
