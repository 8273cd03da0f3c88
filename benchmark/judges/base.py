"""What a judge is, and what it is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

RATING = (0, 10)
"""Least and greatest rating of the amplitude protocol."""


@dataclass(frozen=True)
class Example:
    """One input as a judge sees it: no activation, no annotation.

    Attributes:
        id: name of the row, unique in its dataset.
        picture: for an image, gives its bytes as the dataset holds them (PNG, JPEG, WebP).
        text: for a token context, the text with the token in ``«…»``.
    """

    id: str
    picture: Callable[[], bytes] | None = None
    text: str | None = None


class Judge(Protocol):
    """Explains a latent from examples and tells from the explanation how strongly inputs fit.

    All methods may be called by several threads at once, and give the same answer for the same
    question whatever was asked before. None is an answer that could not be used: it counts as
    wrong.
    """

    @property
    def name(self) -> str:
        """Key of its results, such as ``annotations`` or ``openai/MODEL``; judges never mix."""
        ...

    @property
    def concurrency(self) -> int:
        """Latents that may be judged at once."""
        ...

    def identity(self) -> Mapping[str, Any]:
        """What a result says of it: kind, model, settings. JSON values, no secret."""
        ...

    def counts(self) -> Mapping[str, int]:
        """What went wrong on the way, by kind, over all answers so far."""
        ...

    def explain(self, examples: Sequence[Example]) -> str:
        """What the examples share, in one sentence; they are shown strongest first."""
        ...

    def rank(self, explanation: str, examples: Sequence[Example]) -> Sequence[int] | None:
        """Positions of the examples from the best fit to the worst."""
        ...

    def detect(self, explanation: str, example: Example) -> bool | None:
        """Whether the example fits the explanation."""
        ...

    def rate(self, explanation: str, example: Example) -> float | None:
        """How well the example fits, 0 to 10."""
        ...
