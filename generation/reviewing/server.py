"""Opening a review for one person, and serving it on this machine only."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmark.errors import UserError
from generation.reviewing.agreement import disagreements
from generation.reviewing.app import Session, make_app
from generation.reviewing.queue import Queue, current, reviewable
from generation.work import Work, open_source

HOST = "127.0.0.1"
PORT = 8321


@contextmanager
def alone(work: Work, reviewer: str, adjudicate: bool) -> Iterator[None]:
    """Keep others from the file of decisions, from before it is read until the server ends.

    Raises:
        UserError: no name for a reviewer, or somebody else is at that file.
    """
    work.review_log(reviewer)  # a name that is none must not become a file
    with work.locked("adjudication" if adjudicate else f"review-{reviewer}"):
        yield


def open_session(
    work: Work,
    reviewer: str,
    *,
    root: Path | None = None,
    adjudicate: bool = False,
    again: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Session:
    """What a reviewer is to look at, with what was said of it so far.

    Args:
        reviewer: lower-case letters, digits and dashes.
        root: where the source lies, if it moved since the plan.
        adjudicate: decide on the pairs that reviewers disagree on.
        again: ask anew about pictures made again since they were decided on.

    Raises:
        UserError: no name for a reviewer, nothing to review, or a file of another plan or of other
            pictures.
    """
    own = work.review_log(reviewer)
    items = reviewable(work)
    if not items:
        raise UserError(f"{work.root} has no pairs to review; make them: assay generate edit")
    log = work.adjudication_log if adjudicate else own
    others = {}
    if adjudicate:
        others = disagreements(current(work, items))
        items = {edit: item for edit, item in items.items() if edit in others}
        if not items:
            raise UserError(f"{work.review}: reviewers disagree on no pair; nothing to adjudicate")
    author = reviewer if adjudicate else None
    queue = Queue(items, log, work.plan.hash, author=author, again=again)
    source = open_source(work, root, progress=progress)
    return Session(work, source, queue, reviewer, adjudicate, others)


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket on ``127.0.0.1``; ``port`` 0 takes any free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        # a server that was killed must not keep its port for a minute
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((HOST, port))
            taken.listen(64)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(
                f"port {port} of {HOST} cannot be used ({reason}); give another --port"
            ) from None
        yield taken


def serve(session: Session, port: int, tell: Callable[[str], None]) -> None:
    """Serve a session until it is ended; ``tell`` gets the address once it can be opened."""
    import uvicorn

    with listening(port) as taken:
        actual = taken.getsockname()[1]
        config = uvicorn.Config(
            make_app(session, actual),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        tell(f"http://{HOST}:{actual}/")
        # Ctrl-C is how a review ends
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[taken])
