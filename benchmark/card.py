"""The AIU report card of one SAE: what C1 to C5 say of it, metrics §4."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmark import metrics
from benchmark.measure import Labels, Measurement, Protocol
from benchmark.metrics import Angles, Redundancy, Score
from benchmark.records import score_json
from benchmark.saes.sae import Sae

LISTED = 20
"""Pairs that a card lists, strongest first."""

SPACE = "the SAE's normalised input, mean over the score split"
_CHUNK = 4096


def report_card(
    sae: Sae,
    features: np.ndarray,
    codes: Any,
    labels: Labels,
    measured: Measurement,
    protocol: Protocol,
) -> dict[str, Any]:
    """The card as JSON, valid under ``schemas/card.schema.json``.

    Args:
        sae: the SAE.
        features: float32 (N, d_in), rows of the score split.
        codes: csr (N, d_sae), its codes of these rows.
        labels: of the dataset; the score split's are read.
        measured: what ``measure_sae`` found.
        protocol: the choices to follow.
    """
    redundancy = measured.redundancy
    if redundancy is None:
        raise ValueError("a report card needs an SAE's weights; these are codes alone")
    dominance = measured.details["dominance"]
    spread = metrics.concentration_scores(codes, **protocol.bootstrap)
    complete = metrics.completeness(
        codes,
        labels.score,
        measured.matching,
        at_least=protocol.completeness_f1,
        **protocol.bootstrap,
    )
    within = metrics.l0_within(codes, protocol.l0_limit, **protocol.bootstrap)
    scores = {name: score_json(score) for name, score in measured.scores.items()}
    return {
        "quartiles": {
            "sizes": dominance["quartile_sizes"],
            "mass": [score_json(mass) for mass in dominance["quartile_mass"]],
        },
        "concentration": {
            "top10_share_median": score_json(spread.top10_share_median),
            "top10_share_p90": score_json(spread.top10_share_p90),
            "gini": score_json(spread.gini),
        },
        "c1": _non_redundancy(redundancy, scores, protocol),
        "c2": {
            "complete_fraction": score_json(complete),
            "explained_variance": scores["explained_variance"],
        },
        "c3": {"dame": None, "reason": "needs a judge"},
        "c4": {"dead_fraction": scores["dead_fraction"]},
        "c5": {"l0": scores["l0"], "within_limit": score_json(within)},
        "geometry": _geometry(sae, features, redundancy, protocol),
    }


def _non_redundancy(
    redundancy: Redundancy, scores: Mapping[str, Any], protocol: Protocol
) -> dict[str, Any]:
    shares = metrics.within_quartile_shares(redundancy, **protocol.bootstrap)
    return {
        "n_pairs": redundancy.n_pairs,
        "zero_rows": redundancy.zero_rows,
        "redundant_fraction": scores["redundant_fraction"],
        "enrichment_q1": scores["enrichment_q1"],
        "within_quartile": list(redundancy.within_quartile),
        "within_quartile_share": [score_json(share) for share in shares],
        "strongest": [
            {"latents": [i, j], "decoder_cosine": cosine}
            for i, j, cosine in redundancy.pairs[:LISTED]
        ],
        "sharding": _sharding(redundancy),
    }


def _sharding(redundancy: Redundancy) -> dict[str, Any]:
    if redundancy.sharded is None:
        return {"n_pairs": None, "reason": "the SAE has no encoder rows", "pairs": []}
    return {
        "n_pairs": len(redundancy.sharded),
        "reason": None,
        "pairs": [
            {
                "latents": list(found.pair),
                "decoder_cosine": found.decoder_cosine,
                "encoder_cosine": found.encoder_cosine,
                "jaccard": found.jaccard,
            }
            for found in redundancy.sharded[:LISTED]
        ],
    }


def _geometry(
    sae: Sae, features: np.ndarray, redundancy: Redundancy, protocol: Protocol
) -> dict[str, Any]:
    mean = mean_activation(sae, features)
    alive = redundancy.quartile > 0
    found: dict[str, Any] = {"space": SPACE}
    for name, rows in (("encoder", sae.encoder), ("decoder", sae.decoder)):
        if rows is None:
            found[name] = _angles(Angles(Score(None, None, 0, {"no rows": len(alive)}), None))
            continue
        angles = metrics.angles_to_mean(rows, mean)
        found[name] = _angles(metrics.angle_summary(angles, alive, **protocol.bootstrap))
    return found


def _angles(summary: Angles) -> dict[str, Any]:
    quartiles = summary.quartiles
    return {
        "mean": score_json(summary.mean),
        "quartiles": None if quartiles is None else list(quartiles),
    }


def mean_activation(sae: Sae, features: np.ndarray) -> np.ndarray:
    """Mean of the features as the encoder sees them, before its bias is taken off: (d_in,)."""
    total = np.zeros(sae.d_in)
    for start in range(0, len(features), _CHUNK):
        part = torch.from_numpy(np.array(features[start : start + _CHUNK], np.float32))
        total += sae.normalise(part).numpy().sum(axis=0, dtype=np.float64)
    return total / len(features)
