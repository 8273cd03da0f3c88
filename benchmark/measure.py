"""Every score of one set of codes on one dataset: the suite's protocol in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark import metrics
from benchmark.errors import UserError
from benchmark.metrics import Matching, MatchScore, Redundancy, Score, TapaScore
from benchmark.saes.sae import Sae

PARTS = ("match", "score", "base", "edited")


@dataclass(frozen=True)
class Protocol:
    """Choices behind every number; written into each result record.

    Attributes:
        version: raised when a change here moves scores.
        matcher, beta, max_latents: as in ``match_concepts``.
        bootstrap_resamples, bootstrap_seed: of every interval.
        twin_seeds: weights of the untrained twins and shuffles of the random codes.
        redundancy_threshold: least decoder cosine of a redundant pair.
        completeness_f1: least joint F_1 of a concept that C2 counts as found.
        l0_limit: most active latents of an image that C5 counts as sparse.
    """

    version: int = 1
    matcher: str = "fbmp"
    beta: float = 0.5
    max_latents: int = 3
    bootstrap_resamples: int = metrics.RESAMPLES
    bootstrap_seed: int = 0
    twin_seeds: tuple[int, ...] = (0, 1, 2)
    redundancy_threshold: float = 0.7
    completeness_f1: float = metrics.COMPLETE_FROM
    l0_limit: int = 64

    @property
    def bootstrap(self) -> dict[str, int]:
        return {"resamples": self.bootstrap_resamples, "seed": self.bootstrap_seed}

    def as_dict(self) -> dict[str, Any]:
        """Settings as JSON, with the splits and rules that never vary."""
        return {
            **asdict(self),
            "twin_seeds": list(self.twin_seeds),
            "match_split": "match",
            "score_split": "score",
            "active": "code > 0 in float32",
            "sharding_encoder_below": metrics.SHARDED_ENCODER_BELOW,
            "sharding_jaccard_below": metrics.SHARDED_JACCARD_BELOW,
            "interval": "percentile bootstrap, 95 %",
            "interval_over": {
                "match_score": "images",
                "tapa_score": "pairs, within each kind of pair",
                "explained_variance": "images",
                "l0": "images",
                "dead_fraction": "latents",
                "redundant_fraction": "alive latents",
                "enrichment_q1": "alive latents, within quartile",
                "within_quartile_share": "alive latents, within quartile",
                "complete_fraction": "images",
                "within_limit": "images",
                "quartile_mass": "images",
                "top10_share": "images",
                "gini": "alive latents",
                "angles": "alive latents",
            },
        }


@dataclass(frozen=True)
class Labels:
    """What people say of the images: presence per split, and what each pair changes.

    Attributes:
        concepts: A names.
        match, score: bool (N, A).
        present: bool (P, A) of the base images; None without pairs, as ``added`` and ``removed``
            are empty then.
        added, removed: concept index or None, one a pair.
        pair_ids: one a pair.
        match_ids, score_ids: one an image; chance is drawn in their order where they are given.
        left_out: images that left the match split because pairs were made from them.
    """

    concepts: tuple[str, ...]
    match: np.ndarray
    score: np.ndarray
    present: np.ndarray | None = None
    added: Sequence[int | None] = ()
    removed: Sequence[int | None] = ()
    pair_ids: Sequence[str] = ()
    match_ids: Sequence[str] = ()
    score_ids: Sequence[str] = ()
    left_out: int = 0

    def order(self, part: str) -> np.ndarray | None:
        """Rows of a part sorted by name; None where they have no names."""
        names = {"match": self.match_ids, "score": self.score_ids}.get(part, self.pair_ids)
        return np.argsort(np.array(names), kind="stable") if len(names) else None

    def __post_init__(self) -> None:
        for name, rows in (("match", self.match), ("score", self.score)):
            if len(rows) == 0:
                raise UserError(f"the {name} split has no images; expected at least one")


@dataclass(frozen=True)
class Measurement:
    """All scores of one set of codes, with what the result record shows behind them."""

    scores: Mapping[str, Score]
    matching: Matching
    in_sample: Matching
    match: MatchScore
    match_in_sample: MatchScore
    tapa: TapaScore | None
    redundancy: Redundancy | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def measure_codes(
    codes: Mapping[str, sp.csr_array], labels: Labels, protocol: Protocol
) -> Measurement:
    """Scores that need codes only: MATCHScore, TAPAScore, Δstay, L0, dead fraction.

    Args:
        codes: ``match`` and ``score`` (N, d); ``base`` and ``edited`` (P, d) where there are pairs.
        labels: of the same rows.
        protocol: the choices to follow.
    """
    settings: dict[str, Any] = {
        "matcher": protocol.matcher,
        "beta": protocol.beta,
        "max_latents": protocol.max_latents,
    }
    matching = metrics.match_concepts(codes["match"], labels.match, **settings)
    in_sample = metrics.match_concepts(codes["score"], labels.score, **settings)
    held_out = metrics.match_score(codes["score"], labels.score, matching, **protocol.bootstrap)
    own = metrics.match_score(codes["score"], labels.score, in_sample, **protocol.bootstrap)
    scores: dict[str, Score] = {
        "match_score": held_out,
        "match_score_in_sample": own,
        "l0": metrics.l0(codes["score"], **protocol.bootstrap),
        "dead_fraction": metrics.dead_fraction(codes["score"], **protocol.bootstrap),
    }
    tapa = None
    if "base" in codes:
        tapa = metrics.tapa_score(
            codes["base"],
            codes["edited"],
            matching,
            added=labels.added,
            removed=labels.removed,
            present=labels.present,
            **protocol.bootstrap,
        )
        scores |= {"tapa_score": tapa, "delta_stay": tapa.stay}
    return Measurement(scores, matching, in_sample, held_out, own, tapa)


def measure_sae(
    sae: Sae,
    features: Mapping[str, np.ndarray],
    labels: Labels,
    protocol: Protocol,
    codes: Mapping[str, sp.csr_array] | None = None,
) -> Measurement:
    """Scores of an SAE on features: those of its codes, and those that need its weights.

    Args:
        sae: the SAE.
        features: float32 ``match``, ``score`` (N, d_in), and ``base``, ``edited`` (P, d_in).
        codes: the SAE's codes of these features, where they are at hand.
    """
    codes = codes or encode_all(sae, features)
    measured = measure_codes(codes, labels, protocol)
    held_out = codes["score"]
    dominance, alive = metrics.dominance(held_out), metrics.alive(held_out)
    redundancy = metrics.decoder_redundancy(
        sae.decoder,
        dominance,
        alive,
        encoder=sae.encoder,
        codes=held_out,
        threshold=protocol.redundancy_threshold,
    )
    scores = {
        **measured.scores,
        "explained_variance": metrics.explained_variance(
            features["score"], sae.reconstruct(features["score"]), **protocol.bootstrap
        ),
        "redundant_fraction": metrics.redundant_fraction_score(redundancy, **protocol.bootstrap),
        "enrichment_q1": metrics.enrichment_q1_score(redundancy, **protocol.bootstrap),
    }
    return Measurement(
        scores,
        measured.matching,
        measured.in_sample,
        measured.match,
        measured.match_in_sample,
        measured.tapa,
        redundancy,
        _dominance_details(held_out, redundancy, protocol),
    )


def encode_all(sae: Sae, features: Mapping[str, np.ndarray]) -> dict[str, sp.csr_array]:
    """Codes of every part that ``features`` has."""
    return {part: sae.encode(features[part]) for part in PARTS if part in features}


def _dominance_details(
    codes: sp.csr_array, redundancy: Redundancy, protocol: Protocol
) -> dict[str, Any]:
    quartile = redundancy.quartile
    masses = metrics.quartile_mass(codes, quartile, **protocol.bootstrap)
    spread = metrics.concentration(codes)
    return {
        "dominance": {
            "quartile_mass": masses,
            "quartile_sizes": [int((quartile == q).sum()) for q in (1, 2, 3, 4)],
            "gini": spread.gini,
            "top10_share_median": spread.top10_share_median,
            "top10_share_p90": spread.top10_share_p90,
        },
        "redundancy": {
            "n_pairs": redundancy.n_pairs,
            "within_quartile": list(redundancy.within_quartile),
            "sharded_pairs": len(redundancy.sharded or ()),
        },
    }
