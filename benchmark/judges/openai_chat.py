"""A model behind a server that speaks the OpenAI protocol: hosted, or one's own."""

import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.errors import UserError
from benchmark.judges.backoff import LONGEST_ASKED_WAIT, Backoff, asked_wait
from benchmark.judges.chat import REFUSED, BudgetReached, ChatJudge, Reply, Unanswered
from benchmark.judges.openai_replies import Malformed, error_text, read_reply
from benchmark.judges.openai_server import (
    KEY,
    checked_model,
    checked_url,
    environment_key,
    make_client,
    sent_message,
)
from benchmark.judges.options import JudgeContext, JudgeOptions
from benchmark.judges.prompts import Message
from benchmark.judges.recorded import recorded, replayed

EMPTY_TRIES = 2
"""A reply without text is asked for once more, then it is the answer."""

_REFUSALS = {400, 413, 422}
_SHORTEST_KEY = 8
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|extra", re.I
)

_log = logging.getLogger(__name__)


class OpenAIChat:
    """Sends conversations to ``/chat/completions`` and tries again where that can help.

    429, 5xx, timeouts, dropped connections and unreadable answers are tried ``retries`` times more
    with growing waits; each is counted by kind in the reply: ``rate_limited``, ``server_error``,
    ``timeout``, ``connection``, ``malformed``, ``empty``. A request that the server refuses (400,
    413, 422, a filter) is an answer without text, counted as ``refused``; a reply that reached the
    greatest length counts as ``cut_short``.

    A server that drops pictures without a word (``transformers serve`` does, for a model of texts)
    cannot be told from one whose model sees badly; the token counts in the transcript show it.

    Some models refuse ``temperature``, ``seed`` or ``max_tokens``. Then the run goes on without it
    (``max_tokens`` becomes ``max_completion_tokens``); answers given at the server's own setting
    count as ``without_temperature`` and ``without_seed``.

    Args:
        options: model, address, sampling settings, retries, timeout, most calls.
        backoff: waits between tries.
    """

    def __init__(self, options: JudgeOptions, backoff: Backoff | None = None) -> None:
        self._options = options
        self.concurrency = max(1, options.concurrency)
        self._model = checked_model(options.model)
        self._url = checked_url(options.base_url or os.environ.get("OPENAI_BASE_URL"))
        self._key = environment_key(self._url)
        self._client = make_client(self._key, self._url, options.timeout)
        self._backoff = backoff or Backoff()
        self._slots = threading.BoundedSemaphore(self.concurrency)
        self._lock = threading.Lock()
        self._sent = 0
        self._sampling: dict[str, Any] = {
            "temperature": options.temperature,
            "seed": options.seed,
            "max_tokens": options.max_tokens,
        }

    def identity(self) -> Mapping[str, Any]:
        settings = {
            "base_url": self._url,
            "temperature": self._options.temperature,
            "seed": self._options.seed,
            "max_tokens": self._options.max_tokens,
        }
        return {"kind": "openai", "model": self._model, "settings": settings}

    def complete(self, messages: Sequence[Message]) -> Reply:
        request = [sent_message(message) for message in messages]
        failures: Counter[str] = Counter()
        with self._slots:
            while True:
                reply = self._try(request, failures)
                if reply is not None:
                    return reply

    def _try(self, request: list[dict[str, Any]], failures: Counter[str]) -> Reply | None:
        """Send once; None if it is to be sent again, with the failure counted."""
        import openai

        options, sampling = self._options, self._take_call(failures)
        asked: float | None = None
        try:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self._model, messages=request, **sampling
            )
            reply = read_reply(raw.http_response, self._clean)
        except openai.APITimeoutError:
            kind, said = "timeout", f"no answer within {options.timeout:g} s"
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            kind, said = "connection", f"{type(cause).__name__}: {self._clean(str(cause))}"
        except openai.APIStatusError as error:
            said = self._clean(error_text(error.body, error.response.text))
            if self._adapted(error, sampling):
                return None
            if error.status_code in _REFUSALS:
                return Reply("", {**failures, REFUSED: 1}, detail=said)
            kind = self._status_kind(error, said, failures)
            asked = asked_wait(error.response.headers)
        except Malformed as error:
            kind, said = "malformed", self._clean(str(error))
        else:
            enough = failures["empty"] + 1 >= EMPTY_TRIES or failures.total() >= options.retries
            if reply.text.strip() or reply.failures or enough:
                return self._counted(reply, failures, sampling)
            kind, said = "empty", "an answer without text"
        failures[kind] += 1
        self._check_tries(kind, said, asked, failures)
        self._backoff.wait(failures.total(), asked)
        return None

    def _take_call(self, failures: Counter[str]) -> dict[str, Any]:
        """Count a request that is about to be sent; its sampling settings."""
        most = self._options.max_calls
        with self._lock:
            if most is not None and self._sent >= most:
                raise BudgetReached(
                    f"stopped after {self._sent:,} requests, the most that this run may send; "
                    "answers so far are kept in the transcript, and the same command goes on",
                    failures,
                )
            self._sent += 1
            return dict(self._sampling)

    def _status_kind(self, error: Any, said: str, failures: Counter[str]) -> str:
        """The kind of a failure that a later try can mend; raises where none can."""
        status, where = error.status_code, f"{self._url} answered {error.status_code}: {said}"
        if status == 429 and error.code == "insufficient_quota":
            raise Unanswered(
                f"{where}; nothing is lost: the same command goes on once there is quota", failures
            )
        if status == 429:
            return "rate_limited"
        if status == 408:
            return "timeout"
        if status in (409, 425) or status >= 500:
            return "server_error"
        hints = {
            401: f"check the key in {KEY}",
            403: f"the key in {KEY} may not use this model",
            404: f"check --base-url (with its /v1) and --model {self._model}",
        }
        raise UserError(f"{where}; {hints.get(status, 'this cannot be mended by asking again')}")

    def _check_tries(
        self, kind: str, said: str, asked: float | None, failures: Counter[str]
    ) -> None:
        _log.info("%s: %s (%s)", self._url, kind, said)
        went_on = "nothing is lost: the same command goes on where this one stopped"
        if asked is not None and asked > LONGEST_ASKED_WAIT:
            raise Unanswered(
                f"{self._url} asks to wait {asked:,.0f} s ({said}); {went_on}", failures
            )
        tries = failures.total()
        if tries > self._options.retries:
            kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(failures.items()))
            raise Unanswered(
                f"{self._url}: no answer after {tries} tries ({kinds}; last: {said}); {went_on}",
                failures,
            )

    def _adapted(self, error: Any, sampling: Mapping[str, Any]) -> bool:
        """Whether the server refused a sampling setting, which is then no longer sent."""
        if error.status_code not in (400, 422):
            return False
        said = error_text(error.body, error.response.text)
        named = [
            name
            for name in sampling
            if error.param == name or re.search(rf"\b{name}\b", said, re.I)
        ]
        if not named or not (_UNSUPPORTED.search(said) or error.code == "unsupported_parameter"):
            return False
        # the first one named is the one refused: others are named as what to use instead
        name = error.param if error.param in named else min(named, key=said.lower().find)
        if name == "max_completion_tokens":
            return False
        with self._lock:
            if name in self._sampling:
                value = self._sampling.pop(name)
                if name == "max_tokens":
                    self._sampling["max_completion_tokens"] = value
                _log.info("%s takes no %s; going on without", self._model, name)
        return True

    def _counted(
        self, reply: Reply, failures: Mapping[str, int], sampling: Mapping[str, Any]
    ) -> Reply:
        found = Counter(failures) + Counter(reply.failures)
        if not reply.text.strip() and not reply.failures:
            found["empty"] += 1
        for name in ("temperature", "seed"):
            if name not in sampling:
                found[f"without_{name}"] += 1
        return replace(reply, failures=dict(found))

    def _clean(self, text: str) -> str:
        """Text of the server that can be written down: without the key, valid Unicode."""
        if len(self._key) >= _SHORTEST_KEY:
            text = text.replace(self._key, "[key]")
        return text.encode("utf-8", "replace").decode()


def make(options: JudgeOptions, context: JudgeContext) -> ChatJudge:
    """A judge that asks ``options.model`` at ``options.base_url``, or replays what it said."""
    if options.replay is None:
        return recorded(OpenAIChat(options), options)
    wanted: dict[str, Any] = {
        "temperature": options.temperature,
        "seed": options.seed,
        "max_tokens": options.max_tokens,
    }
    if options.base_url:
        wanted["base_url"] = checked_url(options.base_url)
    return replayed(options, "openai", checked_model(options.model), wanted)
