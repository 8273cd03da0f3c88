"""What a definition is made of."""

from dataclasses import dataclass

CA = "CA"
AIU = "AIU"


@dataclass(frozen=True)
class Source:
    """A paper a definition is taken from."""

    key: str
    title: str
    venue: str
    url: str


SOURCES = {
    CA: Source(
        CA,
        "Evaluating the Interpretability of Sparse Autoencoders with Concept Annotations",
        "ECCV 2026, arXiv 2606.24716",
        "https://arxiv.org/abs/2606.24716",
    ),
    AIU: Source(
        AIU,
        "Rethinking SAE Evaluation: An Atomic Interpretable Unit Framework Reveals Hidden "
        "Polysemanticity and Redundancy",
        "NeurIPS 2026, arXiv 2610.30474",
        "https://arxiv.org/abs/2610.30474",
    ),
}


@dataclass(frozen=True)
class Definition:
    """One number: ``short`` is its hover text, ``body`` its paragraphs, ``formula`` its lines."""

    anchor: str
    label: str
    short: str
    direction: str
    range: str
    source: str | None
    body: tuple[str, ...]
    formula: tuple[str, ...] = ()


UP, DOWN, NEITHER = "Higher is better", "Lower is better", "Neither end is better"
