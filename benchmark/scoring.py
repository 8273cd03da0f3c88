"""Score one SAE against its baselines and write the result record."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmark import metrics
from benchmark.card import report_card
from benchmark.measure import (
    PARTS,
    Labels,
    Measurement,
    Protocol,
    encode_all,
    measure_codes,
    measure_sae,
)
from benchmark.metrics import Score
from benchmark.records import environment, pair_examples, per_concept_rows, score_json, timing
from benchmark.saes.baselines import random_codes, untrained_twin
from benchmark.saes.sae import Sae

SCORES = (
    "match_score",
    "match_score_in_sample",
    "delta_match_score",
    "tapa_score",
    "delta_tapa_score",
    "delta_stay",
    "redundant_fraction",
    "enrichment_q1",
    "explained_variance",
    "l0",
    "dead_fraction",
)
_DELTAS = {"delta_match_score": "match_score", "delta_tapa_score": "tapa_score"}
NO_TWIN = {"no weights, so no untrained twin": 1}


@dataclass(frozen=True)
class Source:
    """Where features come from; copied into the record as it is."""

    dataset: Mapping[str, Any]
    encoder: Mapping[str, Any]
    pairs_dataset: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Scored:
    """An SAE, its untrained twins and its random codes, measured alike; its report card."""

    own: Measurement
    twins: tuple[Measurement, ...]
    random: tuple[Measurement, ...]
    codes: Mapping[str, sp.csr_array] = field(repr=False)
    card: Mapping[str, Any] | None = field(default=None, repr=False)

    def twin_score(self, name: str) -> Score:
        """A score averaged over the untrained twins, inside each resample."""
        return metrics.average([twin.scores[name] for twin in self.twins])


def score_sae(
    sae: Sae, features: Mapping[str, np.ndarray], labels: Labels, protocol: Protocol
) -> Scored:
    """Measure an SAE, its twins and its random codes on the same rows with the same draws.

    Args:
        sae: the SAE.
        features: float32 ``match``, ``score`` (N, d_in); ``base``, ``edited`` (P, d_in) with pairs.
        labels: of the same rows.
        protocol: the choices to follow.

    Raises:
        UserError: features of another width, or not finite.
    """
    codes = encode_all(sae, features)
    own = measure_sae(sae, features, labels, protocol, codes)
    twins = tuple(
        measure_sae(twin, features, labels, protocol)
        for twin in untrained_twins(sae, features, codes, protocol.twin_seeds)
    )
    card = report_card(sae, features["score"], codes["score"], labels, own, protocol)
    return Scored(own, twins, _random(codes, labels, protocol), codes, card)


def untrained_twins(
    sae: Sae,
    features: Mapping[str, np.ndarray],
    codes: Mapping[str, sp.csr_array],
    seeds: Iterable[int],
) -> Iterator[Sae]:
    """The untrained twin of each seed, at the L0 that ``codes`` have on the match split."""
    target = codes["match"].nnz / codes["match"].shape[0]
    for seed in seeds:
        yield untrained_twin(sae, features["match"], target_l0=target, seed=seed)


def score_codes(codes: Mapping[str, sp.csr_array], labels: Labels, protocol: Protocol) -> Scored:
    """Measure codes alone; without the SAE there is no twin, and so no Δ."""
    own = measure_codes(codes, labels, protocol)
    return Scored(own, (), _random(codes, labels, protocol), codes)


def _random(
    codes: Mapping[str, sp.csr_array], labels: Labels, protocol: Protocol
) -> tuple[Measurement, ...]:
    return tuple(
        measure_codes(shuffled_codes(codes, seed, labels), labels, protocol)
        for seed in protocol.twin_seeds
    )


def shuffled_codes(
    codes: Mapping[str, sp.csr_array], seed: int, labels: Labels
) -> dict[str, sp.csr_array]:
    """Random codes of every part: each latent keeps its codes, on rows of chance."""
    # every part gets its own draw: base and edited must not be permuted alike
    return {
        part: random_codes(codes[part], seed=len(PARTS) * seed + i, order=labels.order(part))
        for i, part in enumerate(PARTS)
        if part in codes
    }


def result_record(
    scored: Scored,
    submission: Mapping[str, Any],
    source: Source,
    labels: Labels,
    protocol: Protocol,
    started: float,
) -> dict[str, Any]:
    """The result record: JSON-ready, valid under ``schemas/result-sae.schema.json``.

    Args:
        scored: what ``score_sae`` or ``score_codes`` measured.
        submission: id, name, architecture, d_in, d_sae; seed where it was trained here.
        source: dataset and encoder.
        labels, protocol: as measured with.
        started: ``time.time()`` before the measurement.
    """
    own = scored.own
    record: dict[str, Any] = {
        "schema_version": 1,
        "submission": dict(submission),
        "dataset": dict(source.dataset),
        "encoder": dict(source.encoder),
        "protocol": {
            **protocol.as_dict(),
            "tapa_range": list(own.tapa.range) if own.tapa else None,
            "twin_l0": [twin.scores["l0"].value for twin in scored.twins],
        },
        "counts": _counts(own, labels),
        "scores": _own_scores(scored),
        "baselines": {
            "untrained": _baseline(scored.twins, scored.twins),
            "random_codes": _baseline(scored.random, scored.twins),
        },
        "bounds": {
            "prevalence": score_json(metrics.prevalence_bound(labels.score, **protocol.bootstrap))
        },
        "per_concept": per_concept_rows(own, labels, scored.codes),
        "pair_examples": pair_examples(own, labels, scored.codes),
        "environment": environment(),
        "timing": timing(started),
    }
    if source.pairs_dataset is not None:
        record["pairs_dataset"] = dict(source.pairs_dataset)
    if own.details:
        record["dominance"] = {
            **own.details["dominance"],
            "quartile_mass": [score_json(s) for s in own.details["dominance"]["quartile_mass"]],
        }
        record["redundancy"] = own.details["redundancy"]
    if scored.card is not None:
        record["card"] = dict(scored.card)
    return record


def _own_scores(scored: Scored) -> dict[str, Any]:
    scores = dict(scored.own.scores)
    for delta, name in _DELTAS.items():
        if name not in scores:
            continue
        if scored.twins:
            scores[delta] = metrics.difference(scores[name], scored.twin_score(name))
        else:
            scores[delta] = Score(None, None, 0, NO_TWIN)
    return {name: score_json(scores[name]) for name in SCORES if name in scores}


def _baseline(measured: tuple[Measurement, ...], twins: tuple[Measurement, ...]) -> dict[str, Any]:
    if not measured:
        return {}
    means = {
        name: metrics.average([one.scores[name] for one in measured]) for name in measured[0].scores
    }
    if twins:
        for delta, name in _DELTAS.items():
            if name in means:
                twin = metrics.average([one.scores[name] for one in twins])
                means[delta] = metrics.difference(means[name], twin)
    return {name: score_json(means[name]) for name in SCORES if name in means}


def _counts(own: Measurement, labels: Labels) -> dict[str, int]:
    adds = np.array([concept is not None for concept in labels.added], bool)
    removes = np.array([concept is not None for concept in labels.removed], bool)
    return {
        "match_images": len(labels.match),
        **({"match_images_left_out": labels.left_out} if labels.left_out else {}),
        "score_images": len(labels.score),
        "concepts": len(labels.concepts),
        "pairs": len(adds),
        "pairs_add": int((adds & ~removes).sum()),
        "pairs_remove": int((removes & ~adds).sum()),
        "pairs_swap": int((adds & removes).sum()),
        "empty_add": own.tapa.empty_add if own.tapa else 0,
        "empty_removed": own.tapa.empty_removed if own.tapa else 0,
    }
