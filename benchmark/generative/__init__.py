"""Generative track: which attributes and which places of generated images went wrong.

Numbers are pure functions of arrays; only ``ra_clip_scores`` runs a model, and loads PyTorch when
it is called.
"""

from benchmark.generative.agreement import Agreement, agreement
from benchmark.generative.attributes import checked_attributes
from benchmark.generative.dense import CLIPS, dense_clip, load_clip
from benchmark.generative.divergence import (
    PERMUTATIONS,
    AttributeDivergences,
    Divergence,
    Null,
    compare_attributes,
    pair_attribute_divergence,
    single_attribute_divergence,
)
from benchmark.generative.gaussians import gaussian_floor
from benchmark.generative.maps import MapSums
from benchmark.generative.ra_clip import RaScores, ra_clip_scores
from benchmark.generative.regional import (
    RegionalDivergence,
    compare_regions,
    ranked,
    regional_divergence,
)
from benchmark.generative.separation import Separation, separation
from benchmark.generative.similarity import (
    clip_score,
    embedding_centre,
    heterogeneous_clip_score,
)

__all__ = [
    "CLIPS",
    "PERMUTATIONS",
    "Agreement",
    "AttributeDivergences",
    "Divergence",
    "MapSums",
    "Null",
    "RaScores",
    "RegionalDivergence",
    "Separation",
    "agreement",
    "checked_attributes",
    "clip_score",
    "compare_attributes",
    "compare_regions",
    "dense_clip",
    "embedding_centre",
    "gaussian_floor",
    "heterogeneous_clip_score",
    "load_clip",
    "pair_attribute_divergence",
    "ra_clip_scores",
    "ranked",
    "regional_divergence",
    "separation",
    "single_attribute_divergence",
]
