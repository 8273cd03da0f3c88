"""What a server of the OpenAI protocol sent back; nothing in it is trusted."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmark.judges.chat import CUT_SHORT, REFUSED, Reply

LONGEST_REPLY = 100_000
"""Characters that are kept of a reply; more count as ``cut_short``."""

_LONGEST_ERROR = 300


class Malformed(Exception):
    """A body that is no answer: not JSON, without usable choices."""


def read_reply(response: Any, clean: Callable[[str], str]) -> Reply:
    """The reply in a response's body.

    Args:
        response: with ``json()``.
        clean: applied to every text that is kept.

    Raises:
        Malformed: there is none.
    """
    try:
        body = response.json()
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON ({type(error).__name__})") from None
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise Malformed("no choice with a message")
    text, failures = _content(message.get("content")), {}
    if choice.get("finish_reason") == "length" or len(text) > LONGEST_REPLY:
        failures[CUT_SHORT] = 1
    detail = message.get("refusal")
    if not text.strip() and (detail or choice.get("finish_reason") == "content_filter"):
        failures = {REFUSED: 1}
        detail = detail if isinstance(detail, str) and detail else "stopped by a filter"
    else:
        detail = None
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    model = body.get("model")
    return Reply(
        clean(text[:LONGEST_REPLY]),
        failures,
        _tokens(usage.get("prompt_tokens")),
        _tokens(usage.get("completion_tokens")),
        clean(model[:_LONGEST_ERROR]) if isinstance(model, str) else None,
        clean(_one_line(detail)) if detail else None,
    )


def _content(content: Any) -> str:
    """Text of a message's content: a string, nothing, or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(content):
            return "".join(texts)
    raise Malformed(f"content is a {type(content).__name__}")


def _tokens(value: Any) -> int | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if fine else None


def error_text(body: Any, text: str) -> str:
    """What an error says, on one line, wherever servers put it."""
    for _ in range(3):
        if not isinstance(body, Mapping):
            break
        body = next((body[key] for key in ("message", "detail", "error") if body.get(key)), None)
    return _one_line(str(body) if body else text) or "no reason given"


def _one_line(text: str) -> str:
    # cut first: the body of an error can be any size
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST_ERROR])
    return " ".join(printable.split())[:_LONGEST_ERROR]
