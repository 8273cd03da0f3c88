"""Result records of image generators."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

from leaderboard.reading.records import Named, Score, compact

BULKY = ("maps", "pairs", "per_attribute")
"""Parts that no board needs."""

COPIES = 0.01
"""Share of images of the real set from which an entry says nothing of a generator."""


@dataclass(frozen=True)
class GeneratorRecord(Named):
    """A valid result record of a generator.

    Attributes:
        document: without its ``BULKY`` parts where ``known_sha256`` is given.
        known_sha256: of the whole record, where this one is not whole.
    """

    known_sha256: str | None = None

    @property
    def kind(self) -> str:
        """``images``: the pictures were given; ``diffusers``: the suite made them."""
        return str(self.document["submission"]["kind"])

    @property
    def n(self) -> int:
        """Generated images measured."""
        return int(self.document["submission"]["n"])

    @property
    def shared(self) -> int:
        """Images measured that are of the real set, byte for byte."""
        return int(self.document["submission"]["shared_images"])

    @property
    def copies(self) -> bool:
        """Whether more than ``COPIES`` of its images are of the real set."""
        return self.shared > COPIES * self.n

    @cached_property
    def text(self) -> str:
        """The whole record in the fewest bytes, whatever the layout of its file."""
        if self.known_sha256 is not None:
            raise ValueError(f"{self.file}: the record is not whole")
        return compact(self.document)

    @cached_property
    def sha256(self) -> str:
        """Of the record's file on the site."""
        return self.known_sha256 or hashlib.sha256(self.text.encode()).hexdigest()

    def score(self, key: str) -> Score | None:
        """The score called ``key``, or None where it was not measured."""
        found = self.document["scores"].get(key)
        return None if found is None else Score.read(found)

    def null(self, key: str) -> tuple[float, float] | None:
        """Mean and 95 % point of the score where real and generated are relabelled at random."""
        found = self.document["null"].get(key)
        return None if found is None else (float(found["mean"]), float(found["q95"]))

    def inside_null(self, key: str) -> bool | None:
        """Whether the score is no larger than its null's 95 % point; None without a null."""
        found = self.document["null"].get(key)
        return None if found is None else bool(found["inside"])

    def reach(self, key: str) -> Score | None:
        """The score with the range that its rank rests on in place of its spread.

        The range holds the value, and begins at 0 inside the null: such a set cannot be told from
        the real one.
        """
        score = self.score(key)
        if score is None or score.value is None or score.ci95 is None:
            return score
        low = 0.0 if self.inside_null(key) else score.ci95[0]
        ends = (min(low, score.value), max(score.ci95[1], score.value))
        return replace(score, ci95=ends)
