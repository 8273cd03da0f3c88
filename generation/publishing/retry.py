"""Requests to the Hub that fail: which are sent again, and what is said of the others."""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from benchmark.errors import CheckFailed, UserError
from benchmark.judges.backoff import LONGEST_ASKED_WAIT, Backoff, asked_wait

T = TypeVar("T")
Say = Callable[[str], object]

ATTEMPTS = 5
"""How often a step is tried; within one, the client itself sends some requests up to six times."""

_FOR_A_WHILE = {408, 425, 429}
_TRANSPORTS = ("httpx2", "httpx", "httpcore2", "httpcore", "hf_xet")
_LIMIT = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,6})")
_QUERY = re.compile(r"\?\S+")
_TOKEN = re.compile(r"\b(hf|api_org)_\w+")
_MOST_SHOWN = 200
_UNFIT = (AssertionError, AttributeError, LookupError, TypeError)
"""What the client raises where it reads an answer that lacks what it needs."""


class Transient(Exception):
    """A failure that may be over soon; its text is fit to be shown."""


class Refused(Exception):
    """An answer that another attempt would not change.

    Attributes:
        status: of the answer, None where there was none.
        reason: fit to be shown.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


@dataclass(frozen=True)
class _Fault:
    reason: str
    status: int | None = None
    passing: bool = False
    wait: float | None = None


class Retry:
    """Runs steps; one that fails for a while is tried again after a wait.

    Args:
        again: what to type to go on after the last attempt.
        say: told of every failure, a line each.
        backoff: how long to wait.
    """

    def __init__(self, again: str, say: Say, backoff: Backoff | None = None) -> None:
        self.again, self._say = again, say
        self._backoff = backoff or Backoff()

    def __call__(self, what: str, step: Callable[[], T], *, expected: tuple[int, ...] = ()) -> T:
        """The step's result.

        Args:
            what: the step in words.
            step: sends requests; it must do no harm to run it twice.
            expected: status codes that are raised as ``Refused`` for the caller to deal with.

        Raises:
            CheckFailed: it failed ``ATTEMPTS`` times, or the Hub asks for a very long wait.
            UserError: an answer that does not change.
            Refused: an expected one.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return step()
            except (UserError, CheckFailed, Refused):
                raise
            except Exception as error:
                found = _fault_of(error)
                if found is None:
                    raise
                fault = found
            if not fault.passing:
                refused = Refused(fault.reason, fault.status)
                if fault.status in expected:
                    raise refused from None
                raise UserError(f"{what}: {fault.reason}") from None
            if fault.wait is not None and fault.wait > LONGEST_ASKED_WAIT:
                raise CheckFailed(
                    f"{what}: {fault.reason}; the Hub asks to wait {fault.wait:,.0f} s, go on then "
                    f"with: {self.again}"
                ) from None
            if attempt < ATTEMPTS:
                self._say(f"{what}: {fault.reason}; attempt {attempt + 1} of {ATTEMPTS} follows")
                self._backoff.wait(attempt, fault.wait)
        raise CheckFailed(
            f"{what} failed {ATTEMPTS} times, at last: {fault.reason}; go on with: {self.again}"
        )


class Unexpected(Exception):
    """An answer that says something else than the Hub does; its text is fit to be shown."""


def shown(text: str) -> str:
    """A text of others in one short line that a terminal only prints, without tokens or the
    signatures in addresses.
    """
    from huggingface_hub import get_token

    line = "".join(each if each.isprintable() else "�" for each in " ".join(text.split()))
    token = get_token()
    if token:
        line = line.replace(token, "…")
    return _TOKEN.sub("…", _QUERY.sub("", line))[:_MOST_SHOWN]


def _fault_of(error: Exception) -> _Fault | None:
    """What is known of a failure; None where it is no request's, so that it is a bug of ours."""
    from huggingface_hub import errors

    if isinstance(error, (Unexpected, *_UNFIT)):
        about = str(error) if isinstance(error, Unexpected) else _named(error)
        return _Fault(f"the Hub answered something else than expected ({about})")
    for each in _chain(error):
        if isinstance(each, Transient):
            return _Fault(str(each), passing=True)
        if isinstance(each, errors.HfHubHTTPError):
            return _of_answer(each)
        if isinstance(each, errors.OfflineModeIsEnabled):
            return _Fault("HF_HUB_OFFLINE is set; publishing needs the network, unset it")
        if type(each).__module__.partition(".")[0] in _TRANSPORTS or isinstance(
            each, ConnectionError | TimeoutError | json.JSONDecodeError
        ):
            denied = isinstance(each, PermissionError)
            return _Fault(_named(each), passing=not denied)
    if isinstance(error, OSError):
        return _Fault(f"{error.filename or 'file system'}: {error.strerror or 'cannot be read'}")
    if isinstance(error, RuntimeError):  # of the transfer library, which has no types of its own
        return _Fault(_named(error), passing=True)
    return _Fault(_named(error)) if isinstance(error, ValueError) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised from."""
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__


def _of_answer(error: Exception) -> _Fault:
    response = error.response  # type: ignore[attr-defined]
    status = int(response.status_code)
    message = shown(getattr(error, "server_message", None) or "")
    reason = f"the Hub answered {status}" + (f" ({message})" if message else "")
    if status in _FOR_A_WHILE or status >= 500:
        return _Fault(reason, status, True, _wait(response.headers))
    if status == 401:
        reason += "; log in again with: hf auth login"
    elif status == 403:
        reason += "; the token must be allowed to write there"
    return _Fault(reason, status)


def _wait(headers: Mapping[str, str]) -> float | None:
    asked = asked_wait(headers)
    if asked is None and (limit := _LIMIT.search(headers.get("ratelimit", ""))):
        return float(limit[1])
    return asked


def _named(error: BaseException) -> str:
    text = shown(str(error))
    kind = type(error).__name__
    return f"{kind} ({text})" if text else kind


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the client from logging addresses, which may be signed, and bars into files."""
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with nullcontext() if sys.stderr.isatty() else disable_progress_bars():
                yield
    finally:
        logger.setLevel(level)
