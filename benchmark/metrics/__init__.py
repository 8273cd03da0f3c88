"""Every number of the suite: arrays in, plain dataclasses out; no files, no progress, no torch."""

from benchmark.metrics.arrays import InputError, active
from benchmark.metrics.bounds import prevalence_bound
from benchmark.metrics.dominance import (
    Concentration,
    alive,
    concentration,
    dominance,
    quartile_mass,
    quartiles,
)
from benchmark.metrics.match_score import MatchScore, f1_by_size, match_score
from benchmark.metrics.matching import Matching, match_concepts
from benchmark.metrics.redundancy import (
    Redundancy,
    Sharded,
    decoder_redundancy,
    enrichment_q1_score,
    redundant_fraction_score,
)
from benchmark.metrics.score import RESAMPLES, Score, average, difference
from benchmark.metrics.structure import dead_fraction, explained_variance, l0, l0_median
from benchmark.metrics.tapa import (
    ConceptTapa,
    TapaScore,
    activation_scale,
    magnitude_tapa_score,
    tapa_score,
)

__all__ = [
    "RESAMPLES",
    "Concentration",
    "ConceptTapa",
    "InputError",
    "MatchScore",
    "Matching",
    "Redundancy",
    "Score",
    "Sharded",
    "TapaScore",
    "activation_scale",
    "active",
    "alive",
    "average",
    "concentration",
    "dead_fraction",
    "decoder_redundancy",
    "difference",
    "dominance",
    "enrichment_q1_score",
    "explained_variance",
    "f1_by_size",
    "l0",
    "l0_median",
    "magnitude_tapa_score",
    "match_concepts",
    "match_score",
    "prevalence_bound",
    "quartile_mass",
    "quartiles",
    "redundant_fraction_score",
    "tapa_score",
]
