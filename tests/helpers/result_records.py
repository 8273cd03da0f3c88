"""Result records and a gate file that look like those of a demo run."""

import random
from typing import Any

from result_cards import make_card

CONCEPTS = [
    f"{group}: {value}"
    for group, values in {
        "glasses": ["none", "clear", "sunglasses"],
        "facial hair": ["none", "beard", "moustache"],
        "expression": ["smile", "frown", "teeth", "open"],
        "top": ["short", "long", "bob", "curly", "mohawk", "bun", "hat"],
        "clothing": ["red", "orange", "green", "blue", "violet", "grey"],
        "background": ["white", "blue", "pink", "yellow"],
    }.items()
    for value in values
]
NAMES = {
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "matryoshka": "Matryoshka",
    "jumprelu": "JumpReLU",
    "relu": "ReLU",
}
FINGERPRINT = "5e" * 32


def score(
    value: float | None, half: float | None = 0.014, n: int = 800, **reasons: int
) -> dict[str, Any]:
    ci95 = None if value is None or half is None else [value - half, value + half]
    if value is None and not reasons:
        reasons = {"no pairs": 1}
    return {"value": value, "ci95": ci95, "n": n, "not_applicable": reasons}


def make_record(
    architecture: str = "topk", d_sae: int = 512, seed: int = 0, **changes: Any
) -> dict[str, Any]:
    """A valid record; ``changes`` are merged into its top-level objects."""
    draw = random.Random(f"{architecture}-{d_sae}-{seed}")
    size = {128: -0.02, 256: 0.0, 512: 0.02, 1024: 0.015, 2048: -0.01}.get(d_sae, 0.0)
    better = {"topk": 0.0, "batchtopk": 0.012, "matryoshka": -0.03, "jumprelu": -0.05}
    shift = size + better.get(architecture, -0.07) + draw.uniform(-0.006, 0.006)
    match, twin = 0.487 + shift, 0.384 + size / 2 + draw.uniform(-0.004, 0.004)
    tapa, twin_tapa = 0.59 + 2 * shift + draw.uniform(-0.02, 0.02), 0.42 + size
    own = {
        "match_score": score(match),
        "match_score_in_sample": score(match + 0.061 + d_sae / 40000),
        "delta_match_score": score(match - twin, 0.012),
        "tapa_score": score(tapa, 0.046, 1200),
        "delta_tapa_score": score(tapa - twin_tapa, 0.05, 1200),
        "delta_stay": score(0.15 + draw.uniform(-0.02, 0.02), 0.006, 9214),
        "redundant_fraction": score(draw.uniform(0.02, 0.12), 0.018, d_sae),
        "enrichment_q1": score(draw.uniform(1.0, 2.2), 0.31, d_sae),
        "explained_variance": score(0.61 + d_sae / 12000, 0.004),
        "l0": score(32.0, 0.0) if architecture == "topk" else score(draw.uniform(34, 44), 0.6),
        "dead_fraction": score(0.02 + d_sae / 6000, 0.02, d_sae),
    }
    untrained = {
        "match_score": score(twin),
        "match_score_in_sample": score(twin + 0.07),
        "tapa_score": score(twin_tapa, 0.045, 1200),
        "delta_stay": score(0.178, 0.006, 9000),
        "l0": score(32.1, 0.4),
    }
    chance = {
        "match_score": score(0.231 + draw.uniform(-0.01, 0.01), 0.01),
        "tapa_score": score(draw.uniform(-0.02, 0.02), 0.03, 1200),
        "delta_stay": score(0.21, 0.006, 9000),
    }
    record = {
        "schema_version": 1,
        "submission": {
            "id": f"demo-{architecture}-{d_sae}-s{seed}".replace("_", "-"),
            "name": f"{NAMES.get(architecture, architecture)} {d_sae} (seed {seed})",
            "architecture": architecture,
            "d_in": 1280,
            "d_sae": d_sae,
            "seed": seed,
            "weights_sha256": f"{draw.getrandbits(256):064x}",
        },
        "dataset": {"name": "synavatars", "revision": "1.0", "fingerprint": FINGERPRINT},
        "encoder": {
            "name": "efficientnet-lite0",
            "weights_sha256": "e0" * 32,
            "preprocessing": "224 px, bicubic, mean 127, scale 128",
            "batch_size": 16,
            "dim": 1280,
        },
        "protocol": {
            "version": 1,
            "matcher": "fbmp",
            "beta": 0.5,
            "max_latents": 3,
            "match_split": "match",
            "score_split": "score",
            "bootstrap_resamples": 1000,
            "bootstrap_seed": 0,
            "twin_seeds": [0, 1, 2],
            "twin_l0": [32.0, 32.0, 32.0],
            "tapa_range": [-2, 2],
            "redundancy_threshold": 0.7,
            "completeness_f1": 0.5,
            "l0_limit": 64,
            "interval_over": {"match_score": "images", "tapa_score": "pairs"},
        },
        "counts": {"match_images": 1600, "score_images": 800, "pairs": 1200, "concepts": 27},
        "scores": own,
        "baselines": {"untrained": untrained, "random_codes": chance},
        "bounds": {"prevalence": score(0.28, 0.004)},
        "dominance": {
            "quartile_mass": [score(v, 0.01) for v in (0.62, 0.22, 0.11, 0.05)],
            "quartile_sizes": [d_sae // 4] * 4,
            "gini": 0.58,
            "top10_share_median": 0.21,
            "top10_share_p90": 0.34,
        },
        "redundancy": {"n_pairs": 17, "within_quartile": [10, 3, 2, 2], "sharded_pairs": 2},
        "card": make_card(d_sae, random.Random(f"card-{architecture}-{d_sae}-{seed}")),
        "per_concept": [_concept(draw, concept, d_sae) for concept in CONCEPTS],
        "pair_examples": _examples(draw, d_sae),
        "environment": {
            "suite_version": "0.1.0",
            "commit": "0" * 40,
            "python": "3.11.9",
            "platform": "Linux-x86_64",
            "packages": {"numpy": "2.4.6", "torch": "2.14.1"},
        },
        "timing": {"seconds": 4.2, "measured_at": "2026-11-30T18:00:00Z"},
    }
    for key, change in changes.items():
        record[key] = record.get(key, {}) | change if isinstance(change, dict) else change
    return record


def _concept(draw: random.Random, concept: str, d_sae: int) -> dict[str, Any]:
    f1 = round(draw.betavariate(3, 3), 4)
    edited = not concept.startswith("background")
    add = round(draw.uniform(-0.1, 0.9), 3) if edited else None
    return {
        "concept": concept,
        "prevalence": round(draw.uniform(0.04, 0.6), 4),
        "f1": f1,
        "f1_in_sample": min(1.0, f1 + 0.05),
        "coalition": sorted(draw.sample(range(d_sae), draw.choice([1, 2, 3]))),
        "coalition_in_sample": sorted(draw.sample(range(d_sae), 3)),
        "delta_add": add,
        "n_add": 31 if edited else 0,
        "delta_rem": None if add is None else round(-add + draw.uniform(-0.1, 0.1), 3),
        "n_rem": 29 if edited else 0,
        "f1_by_size": [f1 * 0.8, f1 * 0.95, f1],
    }


def _examples(draw: random.Random, d_sae: int) -> list[dict[str, Any]]:
    editable = [concept for concept in CONCEPTS if not concept.startswith("background")]
    return [
        {
            "pair_id": f"pair-{index:04d}",
            "added": added,
            "removed": removed,
            "delta_add": None if added is None else draw.choice([1, 1, 0, -1]),
            "delta_rem": None if removed is None else draw.choice([-1, -1, 0]),
            "switched_on": sorted(draw.sample(range(d_sae), draw.choice([0, 1, 2]))),
            "switched_off": sorted(draw.sample(range(d_sae), draw.choice([0, 1]))),
        }
        for index in range(40)
        for added, removed in [
            (
                editable[index % len(editable)] if index % 4 != 1 else None,
                editable[(index * 7 + 3) % len(editable)] if index % 4 != 0 else None,
            )
        ]
        if added != removed
    ]


def make_records() -> list[dict[str, Any]]:
    """A sweep over dictionary sizes with three seeds at 512, as a demo leaves it."""
    sweep = [
        make_record(architecture, d_sae)
        for architecture in ("topk", "batchtopk")
        for d_sae in (128, 256, 512, 1024, 2048)
    ]
    seeds = [make_record(a, 512, seed) for a in ("topk", "batchtopk") for seed in (1, 2)]
    others = ("matryoshka", "jumprelu", "relu", "gated", "p_anneal")
    return [*sweep, *seeds, *(make_record(architecture) for architecture in others)]


def make_sanity() -> dict[str, Any]:
    """A sanity document in which the suite's metrics pass and one baseline does not."""
    record = make_record()
    levels = {
        "match_score": (0.49, 0.41, 0.2),
        "match_score_in_sample": (0.53, 0.47, 0.32),
        "match_score_one_to_one": (0.42, 0.35, 0.19),
        "tapa_score": (0.68, 0.46, -0.004),
        "fms": (0.338, 0.324, 0.258),
        "ms": (0.739, 0.686, 0.474),
        "cknna": (0.48, 0.5, 0.003),
    }
    kinds = ("trained", "untrained", "random_codes")
    sizes = [("batchtopk", 512), ("topk", 128), ("topk", 512)]
    rows = [
        {
            "metric": metric,
            "own": metric not in ("fms", "ms", "cknna"),
            **{kind: score(v, 0.006, 3) for kind, v in zip(kinds, values, strict=True)},
            "passed": metric != "cknna",
            "values": [
                {kind: v + shift for kind, v in zip(kinds, values, strict=True)}
                for shift in (-0.01, 0.0, 0.01)
            ],
        }
        for metric, values in levels.items()
    ]
    protocol = {k: v for k, v in record["protocol"].items() if k not in ("twin_l0", "tapa_range")}
    return {
        "schema_version": 1,
        "dataset": record["dataset"],
        "encoder": record["encoder"],
        "protocol": {**protocol, "twin_seeds": [0], "subsamples": 100},
        "configurations": [
            {**make_record(a, d)["submission"], "l0": dict.fromkeys(kinds, 32.0)} for a, d in sizes
        ],
        "rows": rows,
        "passed": True,
        "environment": record["environment"],
        "timing": record["timing"],
    }


def make_gate() -> dict[str, Any]:
    def row(architecture: str, metric: str, own: float, twin: float, half: float) -> dict[str, Any]:
        return {
            "architecture": architecture,
            "metric": metric,
            "trained": score(own, half),
            "untrained": score(twin, half),
            "trained_seeds": [own - 0.006, own + 0.001, own + 0.005],
            "untrained_seeds": [twin - 0.003, twin, twin + 0.003],
            "passed": own - half > twin + half,
        }

    rows = [
        row("topk", "match_score", 0.503, 0.391, 0.014),
        row("batchtopk", "match_score", 0.512, 0.388, 0.014),
        row("topk", "tapa_score", 0.61, 0.42, 0.045),
        row("batchtopk", "tapa_score", 0.655, 0.41, 0.046),
    ]
    return {"d_sae": 512, "passed": all(r["passed"] for r in rows), "rows": rows}
