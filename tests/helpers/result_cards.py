"""Report cards that look like those of a demo run."""

import random
from typing import Any

S = dict[str, Any]


def score(value: float | None, half: float, n: int, reason: str = "no redundant pairs") -> S:
    if value is None:
        return {"value": None, "ci95": None, "n": 0, "not_applicable": {reason: max(n, 1)}}
    return {"value": value, "ci95": [value - half, value + half], "n": n, "not_applicable": {}}


def make_card(d_sae: int, draw: random.Random, *, pairs: int = 17, sharded: int = 2) -> S:
    """A valid card; without ``pairs`` nothing is redundant, and ``sharded`` of them are shards."""
    within = [round(pairs * share) for share in (0.6, 0.2, 0.1, 0.1)] if pairs else [0] * 4
    total = sum(within)
    shares = [count / total for count in within] if total else [None] * 4
    ends = [sorted(draw.sample(range(d_sae), 2)) for _ in range(min(pairs, 20))]
    cosines = sorted((draw.uniform(0.7, 1) for _ in ends), reverse=True)
    angle = {"mean": score(draw.uniform(87, 93), 0.4, d_sae), "quartiles": [86.1, 88.0, 89.9]}
    return {
        "quartiles": {
            "sizes": [d_sae // 4] * 4,
            "mass": [score(v, 0.01, d_sae // 4) for v in (0.62, 0.22, 0.11, 0.05)],
        },
        "concentration": {
            "top10_share_median": score(draw.uniform(0.05, 0.4), 0.01, 800),
            "top10_share_p90": score(draw.uniform(0.4, 0.6), 0.01, 800),
            "gini": score(0.58, 0.02, d_sae),
        },
        "c1": {
            "n_pairs": pairs,
            "zero_rows": 0,
            "redundant_fraction": score(min(1, 2 * pairs / d_sae), 0.0, d_sae),
            "enrichment_q1": score(draw.uniform(1.0, 3.0) if pairs else None, 0.2, d_sae),
            "within_quartile": within,
            "within_quartile_share": [
                score(share, 0.0, total, "no redundant pairs inside a quartile") for share in shares
            ],
            "strongest": [
                {"latents": latents, "decoder_cosine": cosine}
                for latents, cosine in zip(ends, cosines, strict=True)
            ],
            "sharding": {
                "n_pairs": sharded,
                "reason": None,
                "pairs": [
                    {
                        "latents": latents,
                        "decoder_cosine": cosine,
                        "encoder_cosine": 0.2066,
                        "jaccard": 0.019,
                    }
                    for latents, cosine in list(zip(ends, cosines, strict=True))[:sharded]
                ],
            },
        },
        "c2": {
            "complete_fraction": score(draw.uniform(0.3, 0.5), 0.05, 27),
            "explained_variance": score(0.9, 0.004, 800),
        },
        "c3": {"dame": None, "reason": "needs a judge"},
        "c4": {"dead_fraction": score(0.1, 0.02, d_sae)},
        "c5": {
            "l0": score(draw.uniform(30, 45), 0.6, 800),
            "within_limit": score(0.97, 0.01, 800),
        },
        "geometry": {
            "space": "the SAE's normalised input, mean over the score split",
            "encoder": angle,
            "decoder": angle,
        },
    }
