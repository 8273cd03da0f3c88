"""Who may talk to the review server: pages that it served itself, on this machine.

A page of any site can make a browser send requests to ``127.0.0.1``, and a name can be made to
point there. So the ``Host`` must be this server's, a request made by another site's page is
refused, and what changes something needs this server's ``Origin`` and a token that only its own
pages hold.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "content-security-policy": "default-src 'none'; img-src 'self'; style-src 'self'; "
    "script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # not no-referrer: a form would then be sent with the origin "null"
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def new_token() -> str:
    """A secret for one run of the server."""
    return secrets.token_urlsafe(32)


def same_token(given: str, token: str) -> bool:
    """Whether a form holds the token of this run."""
    return hmac.compare_digest(given.encode(), token.encode())


class Guard:
    """ASGI middleware: refuses requests from elsewhere, gives every answer its headers.

    Args:
        app: what is guarded.
        port: of the server; hosts are ``127.0.0.1`` and ``localhost``.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): v.decode("latin-1") for name, v in scope["headers"]}
        problem = self._problem(scope["method"], headers)
        if problem is None:
            await self._app(scope, receive, _with_headers(send))
        else:
            await _refuse(_with_headers(send), problem)

    def _problem(self, method: str, headers: Mapping[str, str]) -> str | None:
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return "this server answers to 127.0.0.1 and localhost only"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and headers.get("sec-fetch-mode") != "navigate":
            return "asked for by a page of another site"
        if method not in ("GET", "HEAD") and headers.get("origin", "").lower() != f"http://{host}":
            return "sent by a page of another site"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return sending


async def _refuse(send: Send, problem: str) -> None:
    body = f"refused: {problem}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
