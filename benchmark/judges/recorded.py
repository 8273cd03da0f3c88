"""A model behind a transcript: what was answered once is not asked again."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from benchmark.errors import UserError
from benchmark.judges.chat import REFUSED, Chat, ChatJudge, Reply, Unanswered
from benchmark.judges.options import JudgeOptions
from benchmark.judges.prompts import Message, Prompts, load_prompts
from benchmark.judges.transcript import Transcript, key_of

FIRST_REFUSALS = 5
"""So many refusals before any answer mean that the model cannot do what is asked."""


class _Once:
    """Counts the failures of each exchange once, however often its answer is used."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, key: str, reply: Reply) -> Reply:
        with self._lock:
            if key not in self._seen:
                self._seen.add(key)
                return reply
        # a refusal stays one, since it decides what is asked next
        return replace(reply, failures={REFUSED: 1} if reply.refused else {})


class Recorded:
    """Answers from the transcript, and otherwise asks ``chat`` and writes the answer down.

    A question that is asked by several threads at once is sent once. Failures of an exchange are
    counted once in all replies together, as they were when it took place, so that a run that goes
    on where another stopped counts what that one met.

    Refusals of a model that never answered are not believed later: they are asked again by the
    next run, and ``FIRST_REFUSALS`` of them end a run.
    """

    def __init__(self, chat: Chat, transcript: Transcript, prompts: Prompts | None = None) -> None:
        self._chat, self._transcript = chat, transcript
        self._prompts = (prompts or load_prompts()).version
        self._under_way: dict[str, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._once = _Once()
        self._refused: set[str] = set()
        self._works = transcript.has_answered(chat.identity())

    @property
    def concurrency(self) -> int:
        return self._chat.concurrency

    def identity(self) -> Mapping[str, Any]:
        return self._chat.identity()

    def close(self) -> None:
        """Let another run have the transcript."""
        self._transcript.close()

    def complete(self, messages: Sequence[Message]) -> Reply:
        """As ``Chat.complete``; raises ``UserError`` where the model refuses from the start."""
        key = key_of(self.identity(), self._prompts, messages)
        with self._lock:
            stored = self._stored(key)
            future = self._under_way.get(key)
            mine = stored is None and future is None
            if mine:
                future = self._under_way[key] = Future()
        if stored is not None:
            return self._once(key, stored)
        assert future is not None
        if mine:
            self._ask(key, messages, future)
        return self._once(key, future.result())

    def _stored(self, key: str) -> Reply | None:
        reply = self._transcript.get(key)
        if reply is not None and reply.refused and not self._works and key not in self._refused:
            return None
        return reply

    def _ask(self, key: str, messages: Sequence[Message], future: Future[Reply]) -> None:
        chat = self.identity()
        try:
            try:
                reply = self._chat.complete(messages)
            except Unanswered as error:
                if error.failures:
                    self._transcript.add(key, chat, self._prompts, messages, None, error.failures)
                raise
            self._transcript.add(key, chat, self._prompts, messages, reply)
            self._note(key, reply)
            future.set_result(self._transcript.get(key) or reply)
        except BaseException as error:
            future.set_exception(error)
        finally:
            with self._lock:
                self._under_way.pop(key, None)

    def _note(self, key: str, reply: Reply) -> None:
        with self._lock:
            if not reply.refused:
                self._works = True
                return
            self._refused.add(key)
            refusals = len(self._refused)
        if not self._works and refusals >= FIRST_REFUSALS:
            raise UserError(
                f"{chat_name(self.identity())} refused the first {refusals} requests: "
                f"{reply.detail or 'no reason given'}; check that it can do what is asked "
                "(pictures need a vision model)"
            )


class Replay:
    """Answers from the transcript only.

    Raises:
        UserError: an answer that the transcript does not hold.
    """

    concurrency = 1

    def __init__(
        self, transcript: Transcript, chat: Mapping[str, Any], prompts: Prompts | None = None
    ) -> None:
        self._transcript, self._identity = transcript, chat
        self._prompts = (prompts or load_prompts()).version
        self._once = _Once()

    def identity(self) -> Mapping[str, Any]:
        return self._identity

    def complete(self, messages: Sequence[Message]) -> Reply:
        key = key_of(self._identity, self._prompts, messages)
        if (reply := self._transcript.get(key)) is not None:
            return self._once(key, reply)
        begin = " ".join(str(messages[-1]["content"][0].get("text", "")).split())[:60]
        raise UserError(
            f"{self._transcript.path}: holds no answer of {chat_name(self._identity)} with prompts "
            f"of version {self._prompts} to {begin!r}… (key {key[:12]}); replay the SAE, dataset "
            "and protocol it was recorded with, or go on with --transcript"
        )


def chat_name(chat: Mapping[str, Any]) -> str:
    return f"{chat['kind']}/{chat['model']}"


def replayed(options: JudgeOptions, kind: str, model: str, wanted: Mapping[str, Any]) -> ChatJudge:
    """A judge that answers from ``options.replay``.

    Args:
        options: with the file.
        kind, model: whose answers.
        wanted: settings it should have had, as far as they are known; among several recorded ones
            they decide.

    Raises:
        UserError: the file holds no answers of this model, or of several settings none of which
            is the wanted one.
    """
    transcript = Transcript(options.replay, read_only=True)
    found = [chat for chat in transcript.chats() if chat["kind"] == kind and chat["model"] == model]
    if not found:
        known = ", ".join(sorted({chat_name(chat) for chat in transcript.chats()})) or "none"
        raise UserError(f"{options.replay}: holds no answers of {kind}/{model}; it has: {known}")
    fitting = [
        chat for chat in found if all(chat["settings"].get(k) == v for k, v in wanted.items())
    ]
    if len(fitting) != 1 and len(found) != 1:
        raise UserError(
            f"{options.replay}: holds answers of {kind}/{model} with {len(found)} settings; choose "
            f"one by the options: {'; '.join(str(chat['settings']) for chat in found)}"
        )
    return ChatJudge(Replay(transcript, fitting[0] if len(fitting) == 1 else found[0]))


def recorded(chat: Chat, options: JudgeOptions) -> ChatJudge:
    """A judge that asks ``chat`` and keeps every exchange in ``options.transcript``."""
    return ChatJudge(Recorded(chat, Transcript(options.transcript)))
