"""A judge that guesses: what every score is without any understanding."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.judges.base import RATING, Example
from benchmark.judges.chance import lots, number
from benchmark.judges.options import JudgeContext, JudgeOptions


class RandomJudge:
    """Guesses by the seed and the content of the question; DAME is 1/6 on average."""

    name = "random"

    def __init__(self, seed: int = 0, concurrency: int = 1) -> None:
        self.seed = seed
        self.concurrency = concurrency

    def identity(self) -> Mapping[str, Any]:
        return {"kind": "random", "model": None, "settings": {"seed": self.seed}, "prompts": None}

    def counts(self) -> Mapping[str, int]:
        return {}

    def explain(self, examples: Sequence[Example]) -> str:
        return "a guess"

    def rank(self, explanation: str, examples: Sequence[Example]) -> Sequence[int]:
        drawn = lots(self.seed, explanation, examples)
        return sorted(range(len(examples)), key=drawn.__getitem__)

    def detect(self, explanation: str, example: Example) -> bool:
        return number(self.seed, "detect", explanation, example.id) % 2 == 1

    def rate(self, explanation: str, example: Example) -> float:
        low, high = RATING
        return low + number(self.seed, "rate", explanation, example.id) % (high - low + 1)


def make(options: JudgeOptions, context: JudgeContext) -> RandomJudge:
    """A guessing judge; it reads the seed."""
    return RandomJudge(options.seed, options.concurrency)
