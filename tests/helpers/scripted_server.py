"""A server of the OpenAI protocol that answers, and misbehaves, as a test tells it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What is sent back: by default a completion with ``text``.

    ``body`` replaces the whole body (bytes as they are, anything else as JSON); ``drop`` closes
    the connection, after ``drop`` bytes of the body have gone out.
    """

    text: str | None = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    delay: float = 0.0
    drop: int | None = None
    finish_reason: str = "stop"
    model: str = "scripted-1"


@dataclass
class Seen:
    """One request as it came: number from 0, body, headers, time."""

    number: int
    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    time: float


Script = Callable[[Seen], Answer]


def texts(body: dict[str, Any]) -> str:
    """All text of a request's last message."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def sensible(seen: Seen) -> Answer:
    """Something usable to each kind of question."""
    asked = texts(seen.body)
    if "in common" in asked:
        return Answer("Things that are round.")
    if "Yes or No" in asked:
        return Answer("Yes")
    if "one number from" in asked:
        return Answer("7")
    return Answer("2, 1, 3")


class Scripted:
    """The running server: ``url``, ``seen`` (requests), and ``answered`` (numbers sent whole)."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.answered: list[int] = []
        self.most_at_once = 0
        self._at_once = 0
        self.lock = threading.Lock()
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                scripted._handle(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:  # clients that went away
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            seen = Seen(len(self.seen), body, headers, handler.path, time.monotonic())
            self.seen.append(seen)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self._send(handler, seen, self.script(seen))
        finally:
            with self.lock:
                self._at_once -= 1

    def _send(self, handler: BaseHTTPRequestHandler, seen: Seen, answer: Answer) -> None:
        time.sleep(answer.delay)
        payload = answer.body if isinstance(answer.body, bytes) else self._payload(answer)
        if answer.drop == 0:
            handler.close_connection = True
            handler.connection.shutdown(2)
            return
        handler.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(payload))}
        for name, value in (headers | answer.headers).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(payload[: answer.drop])
        handler.wfile.flush()
        if answer.drop is not None:
            handler.close_connection = True
            handler.connection.shutdown(2)
            return
        with self.lock:
            self.answered.append(seen.number)

    def _payload(self, answer: Answer) -> bytes:
        if answer.body is not None:
            return json.dumps(answer.body).encode()
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        return json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": answer.model,
                "choices": [choice],
                "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
            }
        ).encode()


@contextmanager
def serving(script: Script = sensible) -> Iterator[Scripted]:
    """A scripted server that runs within the block."""
    server = Scripted(script)
    try:
        yield server
    finally:
        server.close()
