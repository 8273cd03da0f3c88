"""Review servers: in a thread, and as a process that can be killed."""

import http.client
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import uvicorn
from edit_work import edited_work

from generation.reviewing.app import Session, make_app
from generation.reviewing.server import listening, open_session
from generation.work import Work


@dataclass
class Live:
    """A server in this process."""

    session: Session
    port: int

    def ask(
        self, method: str, path: str, body: str | bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, names)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text

    def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> Any:
        fields = {"token": self.session.token, **fields}
        given = {"Origin": f"http://127.0.0.1:{self.port}", **(headers or {})}
        return self.ask("POST", path, urlencode(fields), **given)


@contextmanager
def live(session: Session) -> Iterator[Live]:
    with listening(0) as taken:
        port = taken.getsockname()[1]
        config = uvicorn.Config(make_app(session, port), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        try:
            yield Live(session, port)
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A few edited pairs; a test has a reviewer of its own."""
    return edited_work(tmp_path_factory.mktemp("review"), 5)


@pytest.fixture
def serve() -> Callable[..., Any]:
    def start(work: Work, reviewer: str, **options: Any) -> Any:
        return live(open_session(work, reviewer, **options))

    return start


class Process:
    """``assay generate review`` as a user runs it."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "benchmark", "generate", "review", str(folder)]
        self._process = subprocess.Popen(
            [*command, "--port", "0", *options], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.line = self._process.stdout.readline().strip()
        self.address = self.line.rpartition(" ")[2]

    def kill(self) -> None:
        """As a power cut would."""
        self._process.kill()
        self._process.wait(10)

    def interrupt(self) -> tuple[int, str]:
        """As Ctrl-C does; exit code and what was printed."""
        self._process.send_signal(2)
        out, _ = self._process.communicate(timeout=20)
        return self._process.returncode, out


@pytest.fixture
def started() -> Iterator[Callable[..., Process]]:
    running: list[Process] = []

    def start(folder: Path, *options: str) -> Process:
        began = time.monotonic()
        running.append(Process(folder, *options))
        assert running[-1].address.startswith("http://127.0.0.1:"), time.monotonic() - began
        return running[-1]

    yield start
    for process in running:
        process.kill()
