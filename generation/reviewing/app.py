"""The review pages: every one whole without script, which only adds keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from benchmark.datasets import Dataset
from benchmark.errors import UserError
from generation.reviewing import pictures
from generation.reviewing.guard import Guard, new_token, same_token
from generation.reviewing.queue import Queue
from generation.reviewing.views import VIEWS, Viewer, make_environment, static_file, summary
from generation.work import Decision, Work

MOST_BODY = 64 * 1024
_STATIC = {
    "icon.svg": "image/svg+xml",
    "review.css": "text/css",
    "review.js": "text/javascript",
}
# for what has another address whenever it has another content
_LASTING = {"cache-control": "private, max-age=86400, immutable"}


@dataclass(frozen=True, eq=False)
class Session:
    """What one run of the server is for.

    Attributes:
        reviewer: who sits before it.
        adjudicating: whether it is about pairs that reviewers disagree on.
        others: decisions that may be seen, by edit and reviewer.
        token: what forms must hold.
    """

    work: Work
    source: Dataset
    queue: Queue
    reviewer: str
    adjudicating: bool = False
    others: dict[str, dict[str, Decision]] = field(default_factory=dict)
    token: str = field(default_factory=new_token, repr=False)


def make_app(session: Session, port: int) -> Guard:
    """The ASGI application of a session, to be served on ``127.0.0.1:port``."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    pages = _Pages(session)
    app.get("/")(pages.start)
    app.get("/pairs")(pages.pairs)
    app.get("/pair/{edit}")(pages.pair)
    app.post("/pair/{edit}")(pages.decide)
    app.post("/undo")(pages.undo)
    app.get("/picture/{edit}/{side}")(pages.picture)
    app.get("/static/{name}")(pages.static)
    app.exception_handler(404)(pages.not_found)
    return Guard(app, port)


class _Pages:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue = session.queue
        self._viewer = Viewer(session.work, session.source, session.queue, session.others)
        self._templates = make_environment()

    def start(self, view: str = "side") -> Response:
        """The first open pair, or the end."""
        edit = self._queue.next_open()
        if edit is not None:
            return _see(edit, view)
        return self._page("done.html.j2", open_pair=None)

    def pairs(self) -> Response:
        """All pairs and what was said of them."""
        return self._page("pairs.html.j2", items=self._queue.items, decisions=self._queue.decisions)

    def pair(self, edit: str, view: str = "side") -> Response:
        """One pair."""
        if edit not in self._queue.items:
            return self._problem(404, f"there is no pair {edit[:80]} here")
        try:
            shown = self._viewer.pair(edit)
        except UserError as error:
            return self._problem(409, str(error))
        following = self._queue.next_open(edit)
        upcoming = None if following is None else (following, self._viewer.version(following))
        view = view if view in VIEWS else "side"
        return self._page("pair.html.j2", pair=shown, view=view, upcoming=upcoming)

    async def decide(self, edit: str, request: Request) -> Response:
        """Write a decision down, then go on to the next open pair."""
        form = await _form(request)
        if (refused := self._refused(form)) is not None:
            return refused
        given = (form.get("decision", ""), form.get("note", ""), form.get("sha256", ""))
        try:
            await run_in_threadpool(self._queue.decide, edit, *given)
        except KeyError:
            return self._problem(404, f"there is no pair {edit[:80]} here")
        except OSError as error:
            return self._problem(500, f"the decision could not be written: {error.strerror}")
        except ValueError as error:
            return self._problem(409, str(error))
        following = self._queue.next_open(edit)
        if following is None:
            return RedirectResponse("/", status_code=303)
        return _see(following, form.get("view", "side"))

    async def undo(self, request: Request) -> Response:
        """Take the latest decision back and show its pair."""
        form = await _form(request)
        if (refused := self._refused(form)) is not None:
            return refused
        try:
            edit = await run_in_threadpool(self._queue.undo)
        except OSError as error:
            return self._problem(500, f"could not be taken back: {error.strerror}")
        if edit is None or edit not in self._queue.items:
            return RedirectResponse("/", status_code=303)
        return _see(edit, form.get("view", "side"))

    def picture(self, edit: str, side: str) -> Response:
        """``base``, ``edited``, ``difference`` or ``reference-N``, as a file."""
        item = self._queue.items.get(edit)
        if item is None:
            return self._problem(404, f"there is no pair {edit[:80]} here")
        work, source = self._session.work, self._session.source
        makers: dict[str, Callable[[], pictures.File]] = {
            "base": lambda: pictures.base_file(source, item),
            "edited": lambda: pictures.edited_file(work, item),
            "difference": lambda: pictures.difference_file(work, source, item),
            **{
                f"reference-{number}": lambda number=number: pictures.reference_file(  # type: ignore[misc]
                    source, item, number
                )
                for number in range(len(item.edit.references))
            },
        }
        if side not in makers:
            return self._problem(404, f"there is no picture {side[:80]} of {edit}")
        try:
            file = makers[side]()
        except UserError as error:
            return self._problem(409, str(error))
        return Response(file.content, media_type=file.media_type, headers=_LASTING)

    def static(self, name: str) -> Response:
        """Style and script."""
        if name not in _STATIC:
            return self._problem(404, f"there is no file {name[:80]} here")
        return Response(static_file(name), media_type=_STATIC[name], headers=_LASTING)

    def not_found(self, request: Request, _error: Exception) -> Response:
        """An address that leads nowhere."""
        return self._problem(404, f"there is nothing at {request.url.path[:80]}")

    def _refused(self, form: dict[str, str]) -> Response | None:
        if same_token(form.get("token", ""), self._session.token):
            return None
        return self._problem(
            403, "this page is of an earlier run of the server; nothing was written: open it again"
        )

    def _page(self, template: str, status: int = 200, **context: Any) -> Response:
        session = self._session
        html = self._templates.get_template(template).render(
            reviewer=session.reviewer,
            adjudicating=session.adjudicating,
            plan=session.work.plan,
            token=session.token,
            progress=summary(self._queue),
            **context,
        )
        return HTMLResponse(html, status, headers={"cache-control": "no-store"})

    def _problem(self, status: int, message: str) -> Response:
        return self._page("problem.html.j2", status, message=message)


def _see(edit: str, view: str) -> Response:
    suffix = f"?view={view}" if view in VIEWS and view != VIEWS[0] else ""
    return RedirectResponse(f"/pair/{edit}{suffix}", status_code=303)


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, the first value of each; none where it is too long or broken off."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BODY:
                return {}
    except ClientDisconnect:
        return {}
    try:
        found = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}
