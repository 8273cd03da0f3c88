"""A judge that knows the annotations and nothing else: no pictures, no network.

It explains a latent by the concept that its strongest inputs share most beyond chance, and then
ranks by whether that concept is there. Two inputs alike in that are put in order by lot, so that a
trial whose strong and middling inputs both show the concept is right half the time.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.judges.base import RATING, Example
from benchmark.judges.chance import lots
from benchmark.judges.explanations import MAX_CHARACTERS, MAX_WORDS
from benchmark.judges.options import JudgeContext, JudgeOptions


class AnnotationJudge:
    """Explains and ranks by the annotated concepts.

    Args:
        context: ids, concepts and annotations of the rows that are judged.
        seed: of the lots.
        concurrency: latents judged at once.
    """

    name = "annotations"

    def __init__(self, context: JudgeContext, seed: int = 0, concurrency: int = 1) -> None:
        if not context.concepts or not np.any(context.annotations):
            raise UserError(
                "judge annotations: no concept is annotated on the score split of this dataset; "
                "choose another --judge"
            )
        self.seed = seed
        self.concurrency = concurrency
        self._present = np.asarray(context.annotations, bool)
        self._row = {name: row for row, name in enumerate(context.ids)}
        self._total = self._present.sum(axis=0, dtype=np.int64)
        self._words = concept_words(context.concepts)
        self._concept = {words: concept for concept, words in enumerate(self._words)}

    def identity(self) -> Mapping[str, Any]:
        settings = {"seed": self.seed, "concepts": len(self._words)}
        return {"kind": "annotations", "model": None, "settings": settings, "prompts": None}

    def counts(self) -> Mapping[str, int]:
        return {}

    def explain(self, examples: Sequence[Example]) -> str:
        """The concept whose share among the examples exceeds its prevalence by most."""
        shown = self._present[[self._row[example.id] for example in examples]]
        # share − prevalence times both numbers of rows: whole numbers, so that ties are exact
        excess = shown.sum(axis=0, dtype=np.int64) * len(self._present) - self._total * len(shown)
        return self._words[int(np.argmax(excess))]

    def rank(self, explanation: str, examples: Sequence[Example]) -> Sequence[int] | None:
        present = [self.detect(explanation, example) for example in examples]
        if None in present:
            return None
        drawn = lots(self.seed, explanation, examples)
        return sorted(range(len(examples)), key=lambda i: (not present[i], drawn[i]))

    def detect(self, explanation: str, example: Example) -> bool | None:
        """Whether the explanation's concept is annotated; None for words of another judge."""
        concept = self._concept.get(explanation)
        return None if concept is None else bool(self._present[self._row[example.id], concept])

    def rate(self, explanation: str, example: Example) -> float | None:
        present = self.detect(explanation, example)
        return None if present is None else RATING[present]


def concept_words(concepts: Sequence[str]) -> list[str]:
    """Names as plain words: at most 15, no two alike (``"glasses: clear"`` → ``glasses clear``)."""
    found: list[str] = []
    taken: set[str] = set()
    for index, name in enumerate(concepts):
        parts = re.sub(r"[\W_]+", " ", name).split()[:MAX_WORDS]
        words = " ".join(parts)[:MAX_CHARACTERS].strip()
        if not words or words in taken:
            kept = " ".join(parts[: MAX_WORDS - 2])[: MAX_CHARACTERS - 30]
            words = f"{kept} concept {index}".strip()
        taken.add(words)
        found.append(words)
    return found


def make(options: JudgeOptions, context: JudgeContext) -> AnnotationJudge:
    """A judge of annotations; it reads the seed."""
    return AnnotationJudge(context, options.seed, options.concurrency)
