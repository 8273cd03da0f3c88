"""A chat that says what a test wants, without a server."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmark.judges.chat import Reply


class FakeChat:
    """Answers with ``answer(messages)``: text, a ``Reply``, or an error to raise."""

    def __init__(
        self, answer: Callable[[Sequence[Any]], Any], model: str = "fake", concurrency: int = 1
    ) -> None:
        self._answer, self._model = answer, model
        self.concurrency = concurrency
        self.asked: list[Sequence[Any]] = []
        self._lock = threading.Lock()

    def identity(self) -> Mapping[str, Any]:
        return {"kind": "openai", "model": self._model, "settings": {"temperature": 0.0}}

    def complete(self, messages: Sequence[Any]) -> Reply:
        with self._lock:
            self.asked.append(messages)
        answer = self._answer(messages)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer)


def saying(*answers: Any, **settings: Any) -> FakeChat:
    """A chat that gives these answers one after the other."""
    left = list(answers)
    return FakeChat(lambda _: left.pop(0), **settings)
