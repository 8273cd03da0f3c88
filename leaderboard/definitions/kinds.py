"""What a definition is made of."""

from dataclasses import dataclass

CA = "CA"
AIU = "AIU"
FMS = "FMS"
MS = "MS"
CKNNA = "CKNNA"
RA = "RA"


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
    RA: Source(
        RA,
        "RA-CLIPScore: Making Generative Model Evaluation More Interpretable",
        "NeurIPS 2026, arXiv 2608.12088",
        "https://arxiv.org/abs/2608.12088",
    ),
    FMS: Source(
        FMS,
        "Measuring and Guiding Monosemanticity",
        "Härle et al., arXiv 2506.19382",
        "https://arxiv.org/abs/2506.19382",
    ),
    MS: Source(
        MS,
        "Sparse Autoencoders Learn Monosemantic Features in Vision-Language Models",
        "Pach et al., NeurIPS 2025, arXiv 2504.02821",
        "https://arxiv.org/abs/2504.02821",
    ),
    CKNNA: Source(
        CKNNA,
        "The Platonic Representation Hypothesis",
        "Huh et al., ICML 2024, arXiv 2405.07987",
        "https://arxiv.org/abs/2405.07987",
    ),
}


@dataclass(frozen=True)
class Definition:
    """One number: ``short`` is its hover text, ``body`` its paragraphs, ``formula`` its lines.

    ``unit`` is empty for a plain fraction or ratio. ``spread_only``: estimates are biased upward,
    so that the ends of its resamples hold no true value.
    """

    anchor: str
    label: str
    short: str
    direction: str
    range: str
    source: str | None
    body: tuple[str, ...]
    formula: tuple[str, ...] = ()
    unit: str = ""
    spread_only: bool = False


UP, DOWN, NEITHER = "Higher is better", "Lower is better", "Neither end is better"
