"""Where to publish: the Hub's address and a repository's name."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from benchmark.datasets.hub import is_dataset_id
from benchmark.errors import UserError


def endpoint_now() -> str:
    """Address of the Hub: ``HF_ENDPOINT``, or the client's own.

    Raises:
        UserError: ``HF_ENDPOINT`` is no address.
    """
    from huggingface_hub import constants

    text = (os.environ.get("HF_ENDPOINT") or constants.ENDPOINT).rstrip("/")
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound:
        raise UserError(f"HF_ENDPOINT is {text[:80]!r}; expected an address such as http://host")
    return text


def check_repo_id(repo: str) -> None:
    """Refuse what is no ``owner/name`` of the Hub."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
        sound = is_dataset_id(repo)
    except HFValidationError:
        sound = False
    if not sound:
        raise UserError(
            f"--repo is {repo[:120]!r}; expected owner/name, of letters, digits, '-', '_' and '.'"
        )


def is_loopback(endpoint: str) -> bool:
    """Whether an address is one of this machine alone."""
    host = urlsplit(endpoint).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
