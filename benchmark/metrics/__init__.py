"""Every number of the suite: arrays in, plain dataclasses out; no files, no progress, no torch."""

from benchmark.metrics.across import (
    LEAST_SAES,
    QuartileTest,
    SparsityTrap,
    quartile_test,
    sparsity_trap,
)
from benchmark.metrics.arrays import InputError, active
from benchmark.metrics.bounds import linear_probe_bound, prevalence_bound
from benchmark.metrics.cknna import MAX_ROWS as CKNNA_MAX_ROWS
from benchmark.metrics.cknna import cknna
from benchmark.metrics.completeness import COMPLETE_FROM, completeness
from benchmark.metrics.concentration_scores import ConcentrationScores, concentration_scores
from benchmark.metrics.dame import (
    DameScore,
    dame_score,
    q1_deficit_score,
    stratified_score,
)
from benchmark.metrics.dominance import (
    Concentration,
    alive,
    concentration,
    dominance,
    quartile_mass,
    quartiles,
)
from benchmark.metrics.fms import MAX_ROWS as FMS_MAX_ROWS
from benchmark.metrics.fms import FmsScore, fms
from benchmark.metrics.geometry import Angles, angle_summary, angles_to_mean
from benchmark.metrics.match_score import MatchScore, f1_by_size, match_score
from benchmark.metrics.matching import Matching, match_concepts
from benchmark.metrics.monosemanticity import monosemanticity, ms_score
from benchmark.metrics.redundancy import (
    SHARDED_ENCODER_BELOW,
    SHARDED_JACCARD_BELOW,
    Redundancy,
    Sharded,
    decoder_redundancy,
)
from benchmark.metrics.redundancy_scores import (
    enrichment_q1_score,
    redundant_fraction_score,
    within_quartile_shares,
)
from benchmark.metrics.score import RESAMPLES, Score, average, clearly_above, difference
from benchmark.metrics.structure import (
    dead_fraction,
    explained_variance,
    l0,
    l0_median,
    l0_within,
)
from benchmark.metrics.subsamples import SUBSAMPLES
from benchmark.metrics.tapa import (
    ConceptTapa,
    TapaScore,
    activation_scale,
    magnitude_tapa_score,
    tapa_score,
)

__all__ = [
    "CKNNA_MAX_ROWS",
    "COMPLETE_FROM",
    "FMS_MAX_ROWS",
    "LEAST_SAES",
    "RESAMPLES",
    "SHARDED_ENCODER_BELOW",
    "SHARDED_JACCARD_BELOW",
    "SUBSAMPLES",
    "Angles",
    "Concentration",
    "ConcentrationScores",
    "ConceptTapa",
    "DameScore",
    "FmsScore",
    "InputError",
    "MatchScore",
    "Matching",
    "QuartileTest",
    "Redundancy",
    "Score",
    "Sharded",
    "SparsityTrap",
    "TapaScore",
    "activation_scale",
    "active",
    "alive",
    "angle_summary",
    "angles_to_mean",
    "average",
    "cknna",
    "clearly_above",
    "completeness",
    "concentration",
    "concentration_scores",
    "dame_score",
    "dead_fraction",
    "decoder_redundancy",
    "difference",
    "dominance",
    "enrichment_q1_score",
    "explained_variance",
    "f1_by_size",
    "fms",
    "l0",
    "l0_median",
    "l0_within",
    "linear_probe_bound",
    "magnitude_tapa_score",
    "match_concepts",
    "match_score",
    "monosemanticity",
    "ms_score",
    "prevalence_bound",
    "q1_deficit_score",
    "quartile_mass",
    "quartile_test",
    "quartiles",
    "redundant_fraction_score",
    "sparsity_trap",
    "stratified_score",
    "tapa_score",
    "within_quartile_shares",
]
