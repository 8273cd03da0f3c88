"""A server of the OpenAI protocol: its address, the key, messages as it takes them."""

import os
from typing import Any
from urllib.parse import urlsplit

from benchmark.errors import UserError
from benchmark.judges.chat_pictures import data_url
from benchmark.judges.prompts import Message

DEFAULT_URL = "https://api.openai.com/v1"

KEY = "OPENAI_API_KEY"
"""Environment variable with the key; it is read from nowhere else and written nowhere."""

NO_KEY = "no-key"
"""Sent to a server of one's own where the environment has no key."""

_LONGEST = 200


def sent_message(message: Message) -> dict[str, Any]:
    """A message as the protocol has it; text alone is a plain string, which every server takes."""
    parts = message["content"]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return {"role": message["role"], "content": parts[0]["text"]}
    sent = [
        {"type": "text", "text": part["text"]}
        if part["type"] == "text"
        else {"type": "image_url", "image_url": {"url": data_url(part["picture"]())}}
        for part in parts
    ]
    return {"role": message["role"], "content": sent}


def checked_model(model: str | None) -> str:
    """The model's name, for a judge that needs one."""
    if not model or len(model) > _LONGEST - 20 or not model.isprintable():
        raise UserError(
            f"--model is {model!r}; expected the name of a model, up to {_LONGEST - 20} characters"
        )
    return model


def checked_url(url: str | None) -> str:
    """The address of a server, without a closing slash; refused if it could hold a secret."""
    text = (url or DEFAULT_URL).rstrip("/")
    try:
        parts = urlsplit(text)
        named = bool(parts.hostname) and parts.port != 0  # reading the port checks it
        fine = parts.scheme in ("http", "https") and named and len(text) <= _LONGEST
    except ValueError:
        fine = False
    if not fine:
        raise UserError(
            f"--base-url is {text[:80]!r}; expected one such as http://localhost:8000/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError(
            "--base-url holds a name, a password or a query, which would be written into results; "
            f"expected an address such as http://localhost:8000/v1, and the key in {KEY}"
        )
    return text


def environment_key(url: str) -> str:
    key = os.environ.get(KEY, "").strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise UserError(f"{KEY} in the environment is no key: expected ASCII without spaces")
    if key:
        return key
    if url == DEFAULT_URL:
        raise UserError(
            f"no key: set {KEY} in the environment, or give the --base-url of a server of your own"
        )
    return NO_KEY


def make_client(key: str, url: str, timeout: float) -> Any:
    try:
        from openai import OpenAI, OpenAIError
    except ImportError:
        raise UserError(
            "this judge needs the package openai: pip install 'concept-assay[judges]'"
        ) from None
    try:
        return OpenAI(api_key=key, base_url=url, timeout=timeout, max_retries=0)
    except OpenAIError as error:
        raise UserError(f"openai: {error}".replace(key, "[key]").splitlines()[0]) from None
