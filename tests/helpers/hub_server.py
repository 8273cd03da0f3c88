"""A stand-in for the Hub on the loopback address: repositories in memory, the reading endpoints.

    with HubServer() as hub:
        commit = hub.add("jokl/syncub", {"metadata.csv": b"..."}, tags=["v1.0"])
        ...  # with HF_ENDPOINT=hub.endpoint

``routes`` is a list of (method, pattern of the path, function); a test that needs more endpoints
appends to it. A function gets the server and a ``Request`` and gives a ``Response``. ``faults`` is
a list of what goes wrong (``Fault``), in the order in which requests meet it.
"""

import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Request:
    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    match: re.Match[str]


@dataclass
class Response:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, document: Any, status: int = 200) -> "Response":
        return cls(status, json.dumps(document).encode(), {"Content-Type": "application/json"})

    @classmethod
    def missing(cls, code: str) -> "Response":
        answer = cls.of_json({"error": code}, 404)
        answer.headers |= {"X-Error-Code": code, "X-Error-Message": code}
        return answer


@dataclass
class Repo:
    """Commits by hash (path to content) and what branches and tags stand for."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def commit(self, revision: str) -> str | None:
        found = self.refs.get(revision, revision)
        return found if found in self.commits else None


@dataclass
class Fault:
    """What goes wrong with the next ``times`` requests of a method to a path, ``after`` good ones.

    ``take``: so many bytes of the request are read, then the connection is closed. ``status``: the
    answer is this, with ``headers``. ``lost``: the request is dealt with, the answer never sent.
    ``cut``: so many bytes of the answer are sent. ``then`` is called when it happens.
    """

    method: str
    pattern: str
    times: int = 1
    after: int = 0
    take: int | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    lost: bool = False
    cut: int | None = None
    then: Callable[[], object] = lambda: None


Route = tuple[str, re.Pattern[str], Callable[["HubServer", Request], Response]]


class HubServer:
    """Serves while it is entered; ``log`` holds method and path of every request."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.log: list[tuple[str, str]] = []
        self.routes: list[Route] = list(READING)
        self.failing: set[str] = set()
        """Paths in repositories that answer 403, which no client tries again."""
        self.faults: list[Fault] = []
        self.received: list[tuple[str, str, int]] = []
        """Method, path, and bytes of the body that were read, of every request."""
        self._lock = threading.Lock()

    def add(
        self,
        repo_id: str,
        files: Mapping[str, bytes],
        *,
        tags: Sequence[str] = (),
        kind: str = "datasets",
    ) -> str:
        """Commit these files as the whole of a repository's main branch; the commit's hash."""
        repo = self.repos.setdefault((kind, repo_id), Repo())
        text = repr((repo_id, sorted(files.items()), len(repo.commits)))
        commit = hashlib.sha1(text.encode()).hexdigest()
        repo.commits[commit] = dict(files)
        repo.refs |= dict.fromkeys(["main", *tags], commit)
        return commit

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # head and body are two small packets

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                path = urlsplit(self.path).path
                fault = hub.fault(self.command, path)
                if fault is not None and fault.take is not None:
                    length = min(length, fault.take)
                body = self.rfile.read(length)
                hub.received.append((self.command, path, len(body)))
                if fault is not None:
                    fault.then()
                    if fault.take is not None:
                        return self._drop()
                if fault is not None and fault.status is not None:
                    answer = Response.of_json({"error": "told to fail"}, fault.status)
                    answer.headers |= fault.headers
                else:
                    answer = hub.answer(self.command, self.path, self.headers, body)
                if fault is not None and fault.lost:
                    return self._drop()
                self._send(answer, None if fault is None else fault.cut)
                return None

            def _drop(self) -> None:
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)

            def _send(self, answer: Response, cut: int | None) -> None:
                self.send_response(answer.status)
                sent = {"Content-Length": str(len(answer.body)), **answer.headers}
                for name, value in sent.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body[:cut])
                if cut is not None:
                    self.wfile.flush()
                    self._drop()

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fault(self, method: str, path: str) -> Fault | None:
        """The first fault that this request meets, used up by it."""
        with self._lock:
            for fault in self.faults:
                if fault.method == method and fault.times and re.search(fault.pattern, path):
                    if fault.after:
                        fault.after -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Response:
        parts = urlsplit(target)
        self.log.append((method, parts.path))
        for wanted, pattern, function in self.routes:
            match = pattern.fullmatch(parts.path)
            if wanted == method and match:
                query = parse_qs(parts.query)
                return function(
                    self, Request(method, parts.path, query, dict(headers), body, match)
                )
        return Response.of_json({"error": f"no route for {method} {parts.path}"}, 501)

    def find(self, request: Request) -> tuple[str, dict[str, bytes]] | Response:
        """Commit and files that a request names, or the error that the Hub would give."""
        named = request.match.groupdict()
        kind = named.get("kind") or "models"
        repo = self.repos.get((kind, unquote(named["id"])))
        if repo is None:
            return Response.missing("RepoNotFound")
        commit = repo.commit(unquote(named.get("revision") or "main"))
        if commit is None:
            return Response.missing("RevisionNotFound")
        return commit, repo.commits[commit]


def _info(hub: HubServer, request: Request) -> Response:
    found = hub.find(request)
    if isinstance(found, Response):
        return found
    commit, files = found
    named = unquote(request.match["id"])
    siblings = [{"rfilename": path} for path in sorted(files)]
    return Response.of_json(
        {"_id": "0", "id": named, "sha": commit, "private": False, "siblings": siblings}
    )


def _tree(hub: HubServer, request: Request) -> Response:
    found = hub.find(request)
    if isinstance(found, Response):
        return found
    entries = [
        {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        for path, data in sorted(found[1].items())
    ]
    return Response.of_json(entries)


def _resolve(hub: HubServer, request: Request) -> Response:
    found = hub.find(request)
    if isinstance(found, Response):
        return found
    commit, files = found
    path = unquote(request.match["path"])
    if path in hub.failing:
        return Response.of_json({"error": "Forbidden"}, 403)
    if path not in files:
        return Response.missing("EntryNotFound")
    data = files[path]
    headers = {
        "ETag": f'"{hashlib.sha1(data).hexdigest()}"',
        "X-Repo-Commit": commit,
        "Accept-Ranges": "bytes",
    }
    span = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range", ""))
    if span is None or request.method == "HEAD":
        return Response(200, data, headers)
    first, last = int(span[1]), int(span[2] or len(data) - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return Response(206, data[first : last + 1], headers)


_API = r"/api/(?P<kind>datasets|models|spaces)/(?P<id>[^/]+/[^/]+)"
_FILE = (
    r"/(?:(?P<kind>datasets|spaces)/)?(?P<id>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)"
)

READING: list[Route] = [
    ("GET", re.compile(_API), _info),
    ("GET", re.compile(_API + r"/revision/(?P<revision>[^/]+)"), _info),
    ("GET", re.compile(_API + r"/tree/(?P<revision>[^/]+)"), _tree),
    ("HEAD", re.compile(_FILE), _resolve),
    ("GET", re.compile(_FILE), _resolve),
]
