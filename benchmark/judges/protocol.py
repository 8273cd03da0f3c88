"""The choices behind every number of a judgement."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from benchmark import metrics
from benchmark.errors import UserError
from benchmark.judges.explanations import MAX_WORDS

ALSO = ("detection", "amplitude")
"""Older protocols that can be measured beside the ranking."""

_MOST = {"per_quartile": 100_000, "explain": 100, "trials": 1000, "least": 1000}


@dataclass(frozen=True)
class JudgeProtocol:
    """How latents are judged; written into each judgement.

    Attributes:
        version: raised when a change here, or in how inputs are selected, moves scores.
        per_quartile: latents judged of each dominance quartile.
        explain: strongest inputs that are shown to explain a latent.
        trials: rankings of three inputs.
        least: fewest strong, middling, and inactive or weak inputs of an eligible latent.
        max_words: longest explanation.
        seed: of the latents, the trials and their order.
        also: of ``"detection"`` and ``"amplitude"``, what is measured too.
        bootstrap_resamples, bootstrap_seed: of every interval.
    """

    version: int = 1
    per_quartile: int = 50
    explain: int = 10
    trials: int = 10
    least: int = 5
    max_words: int = MAX_WORDS
    seed: int = 0
    also: tuple[str, ...] = ()
    bootstrap_resamples: int = metrics.RESAMPLES
    bootstrap_seed: int = 0

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            value = getattr(self, name)
            if not 1 <= value <= most:
                raise UserError(f"{name} is {value}; expected 1 to {most:,}")
        if not 0 <= self.seed < 2**53:
            raise UserError(f"seed is {self.seed}; expected 0 to 2^53 - 1")
        if unknown := set(self.also) - set(ALSO):
            raise UserError(f"also: {', '.join(sorted(unknown))}; expected {' or '.join(ALSO)}")
        if self.max_words != MAX_WORDS:
            raise ValueError("explanations are cut by benchmark.judges.explanations")

    @property
    def bootstrap(self) -> dict[str, int]:
        return {"resamples": self.bootstrap_resamples, "seed": self.bootstrap_seed}

    def as_dict(self) -> dict[str, Any]:
        """Settings as JSON, with the rules that never vary."""
        return {
            **asdict(self),
            "also": [name for name in ALSO if name in self.also],
            "split": "score",
            "active": "code > 0 in float32",
            "strong": "top 20 % of the positive activations that explain nothing",
            "middling": "40th to 60th percentile of these",
            "inactive": "inactive; the bottom 10 % of these where fewer than the trials are",
            "interval": "percentile bootstrap over scored latents within quartile, 95 %",
        }


SETTINGS = tuple(field.name for field in fields(JudgeProtocol))
"""Keys that decide whether two judgements followed the same protocol."""
