"""A judge that is a language model."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from benchmark.errors import CheckFailed
from benchmark.judges import parse
from benchmark.judges.base import RATING, Example
from benchmark.judges.explanations import problem
from benchmark.judges.prompts import Message, Prompts, load_prompts

Value = TypeVar("Value")

REFUSED = "refused"
"""Kind of failure of an exchange that the server would not have: its reply is empty."""

CUT_SHORT = "cut_short"
"""Kind of failure of a reply that reached the greatest length."""

PROBLEMS = {
    "too long": "explanation_too_long",
    "list-like": "explanation_list_like",
    "empty": "explanation_empty",
}


@dataclass(frozen=True)
class Reply:
    """What a model answered.

    Attributes:
        text: as it came; empty where the server refused.
        failures: kind → how often, of everything that went wrong until this answer came.
        prompt_tokens, completion_tokens: as the server counted them, or None.
        model: as the server named it, or None.
        detail: what the server said to a request that it refused.
    """

    text: str
    failures: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    detail: str | None = None

    @property
    def refused(self) -> bool:
        return REFUSED in self.failures


class Chat(Protocol):
    """A model that continues conversations; called by several threads at once."""

    @property
    def concurrency(self) -> int:
        """Conversations that may be under way at once."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """``kind``, ``model`` and ``settings``: all that an answer depends on. No secret."""
        ...

    def complete(self, messages: Sequence[Message]) -> Reply:
        """The next message of a conversation.

        Raises:
            Unanswered: no answer came.
            UserError: none can come, such as with a wrong key or an unknown model.
        """
        ...


class Unanswered(CheckFailed):
    """A conversation was given up; ``failures`` says what went wrong on the way, by kind."""

    def __init__(self, message: str, failures: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.failures = dict(failures or {})


class BudgetReached(Unanswered):
    """As many requests were sent as this run may send."""


class ChatJudge:
    """Asks a model, reads its replies, and asks once more where a reply cannot be used.

    An answer that cannot be used even then is None; an explanation is given back as it came then,
    to be cut by whoever keeps it.

    ``counts()`` adds up the failures of the exchanges (``Reply.failures``) and

    - ``explanation_too_long``, ``explanation_list_like``, ``explanation_empty``: explanations
      that broke the rules, each of up to two replies a latent;
    - ``unparseable_first``: rankings, detections and ratings that had to be asked for again;
    - ``unparseable``: those that could not be read even then.

    What the server refused is counted as ``refused`` only, and not asked for again.

    Args:
        chat: the model.
        prompts: what it is asked; by default the version in use.
        name: by default ``kind/model``.
    """

    def __init__(self, chat: Chat, prompts: Prompts | None = None, name: str | None = None) -> None:
        self._chat = chat
        self._prompts = prompts or load_prompts()
        identity = chat.identity()
        self.name = name or f"{identity['kind']}/{identity['model']}"
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def concurrency(self) -> int:
        return self._chat.concurrency

    def identity(self) -> Mapping[str, Any]:
        prompts = {"version": self._prompts.version, "sha256": self._prompts.sha256}
        return {**self._chat.identity(), "prompts": prompts}

    def counts(self) -> Mapping[str, int]:
        with self._lock:
            return {kind: count for kind, count in sorted(self._counts.items()) if count}

    def close(self) -> None:
        """Ask nothing more; lets another run have the transcript."""
        if (close := getattr(self._chat, "close", None)) is not None:
            close()

    def explain(self, examples: Sequence[Example]) -> str:
        asked = self._prompts.question("explain", examples)
        reply = self._complete(asked)
        given = parse.explanation(reply.text)
        wrong = problem(given)
        if wrong is None:
            return given
        self._count({PROBLEMS[wrong]: 1})
        if reply.refused:
            return given
        again = self._prompts.again("explain", asked, given, len(examples), wrong)
        given = parse.explanation(self._complete(again).text)
        if (wrong := problem(given)) is not None:
            self._count({PROBLEMS[wrong]: 1})
        return given

    def rank(self, explanation: str, examples: Sequence[Example]) -> Sequence[int] | None:
        return self._ask(
            "rank", explanation, examples, lambda text: parse.order(text, len(examples))
        )

    def detect(self, explanation: str, example: Example) -> bool | None:
        return self._ask("detect", explanation, [example], parse.yes_or_no)

    def rate(self, explanation: str, example: Example) -> float | None:
        return self._ask("rate", explanation, [example], lambda text: parse.number(text, *RATING))

    def _ask(
        self,
        task: str,
        explanation: str,
        examples: Sequence[Example],
        read: Callable[[str], Value | None],
    ) -> Value | None:
        asked = self._prompts.question(task, examples, explanation)
        reply = self._complete(asked)
        answer = read(reply.text)
        if answer is None and not reply.refused:
            self._count({"unparseable_first": 1})
            said = parse.without_reasoning(reply.text)
            reply = self._complete(self._prompts.again(task, asked, said, len(examples)))
            answer = read(reply.text)
        if answer is None and not reply.refused:
            self._count({"unparseable": 1})
        return answer

    def _complete(self, messages: Sequence[Message]) -> Reply:
        reply = self._chat.complete(messages)
        self._count(reply.failures)
        return reply

    def _count(self, kinds: Mapping[str, int]) -> None:
        with self._lock:
            self._counts.update(kinds)
