"""Result documents of image generators that look like measured ones."""

import random
from itertools import combinations
from typing import Any

from result_records import FINGERPRINT, score

ATTRIBUTES = ["glasses", "sunglasses", "a beard", "a hat", "a smile", "red clothes", "long hair"]
GRID = (7, 7)


def make_generator(
    generator: str = "demo-more-glasses", shift: float = 0.2, n: int = 300, **changes: Any
) -> dict[str, Any]:
    """A valid document; ``shift`` is how far off the first attribute is, 0 for the null."""
    draw = random.Random(generator)
    rows = [_attribute(draw, name, shift if i == 0 else 0.0) for i, name in enumerate(ATTRIBUTES)]
    pairs = [
        round(rows[a]["sad"]["score"]["value"] + rows[b]["sad"]["score"]["value"] + 0.01, 6)
        for a, b in combinations(range(len(rows)), 2)
    ]
    document = {
        "schema_version": 1,
        "submission": {
            "id": generator,
            "name": generator.replace("-", " ").capitalize(),
            "kind": "images",
            "images_sha256": f"{draw.getrandbits(256):064x}",
            "n": n,
            "duplicates": 0,
            "shared_images": 0,
            "width": [96, 96],
            "height": [96, 96],
        },
        "real": {
            "name": "synavatars",
            "revision": "1.0",
            "fingerprint": FINGERPRINT,
            "split": "score",
            "selection": None,
            "n": 800,
            "sha256": "ab" * 32,
        },
        "model": {"name": "assay-tiny-clip", "weights_sha256": "c1" * 32},
        "encoder": {"name": "efficientnet-lite0", "weights_sha256": "e0" * 32},
        "protocol": _protocol(len(rows)),
        "scores": _scores(rows, pairs, n),
        "null": _nulls(rows, pairs),
        "per_attribute": rows,
        "pairs": {
            "values": pairs,
            "null_q95": [0.05] * len(pairs),
            "count": len(pairs),
            "outside_null": sum(value > 0.05 for value in pairs),
        },
        "maps": {"unrefined": [_map(draw, 0.2 * shift * (i == 0)) for i in range(len(rows))]},
        "environment": {
            "suite_version": "0.1.0",
            "commit": "0" * 40,
            "python": "3.11.9",
            "platform": "Linux-x86_64",
            "packages": {"numpy": "2.4.6", "torch": "2.14.1"},
        },
        "timing": {"seconds": 61.5, "measured_at": "2026-11-30T18:00:00Z"},
    }
    for key, change in changes.items():
        document[key] = document[key] | change if isinstance(change, dict) else change
    return document


def make_generators() -> list[dict[str, Any]]:
    """One inside its null, two outside."""
    named = {"demo-same": 0.0, "demo-more-glasses": 0.2, "demo-many-glasses": 0.5}
    return [make_generator(name, shift) for name, shift in named.items()]


def _divergence(value: float, half: float, q95: float, **more: Any) -> dict[str, Any]:
    return {
        "score": score(round(value, 6), half, 1100),
        "floor": round(q95 / 3, 6),
        "null_mean": round(q95 / 2, 6),
        "null_q95": q95,
        "inside_null": value <= q95,
        **more,
    }


def _attribute(draw: random.Random, name: str, shift: float) -> dict[str, Any]:
    base = draw.uniform(0.05, 0.5)
    sad = 0.01 + shift / 2 + draw.uniform(0, 0.005)
    regional = 0.006 + 0.1 * shift + draw.uniform(0, 0.002)
    return {
        "attribute": name,
        "ra_clip_score": {"real": score(base, 0.02), "generated": score(base + shift, 0.03, 300)},
        "saturated": {"real": 0.02, "generated": 0.03},
        "sad": _divergence(sad, 0.008, 0.024),
        "r_sad": _divergence(regional, 0.003, 0.014, over_null=round(regional / 0.007, 6)),
        "r_sad_unrefined": _divergence(
            regional * 1.1, 0.003, 0.015, over_null=round(regional * 1.1 / 0.0075, 6)
        ),
    }


def _scores(rows: list[dict[str, Any]], pairs: list[float], n: int) -> dict[str, Any]:
    def mean(key: str, of: str = "value") -> float:
        values = [row[key]["score"][of] if of == "value" else row[key][of] for row in rows]
        return round(sum(values) / len(values), 6)

    off = mean("sad")
    return {
        "sad": score(off, 0.004, len(rows)),
        "pad": score(round(sum(pairs) / len(pairs), 6), 0.006, len(pairs)),
        "r_sad": score(mean("r_sad"), 0.0012, len(rows)),
        "r_sad_unrefined": score(mean("r_sad_unrefined"), 0.0012, len(rows)),
        "r_sad_over_null": score(mean("r_sad", "over_null"), None, len(rows)),
        "fid": score(None, None, n, **{"fewer images than features": n}),
        "kid": score(round(off / 20, 6), None, n),
        "precision": score(round(0.8 - off, 4), None, n),
        "recall": score(round(0.7 - off / 2, 4), None, n),
        "density": score(round(1.0 - off, 4), None, n),
        "coverage": score(round(0.9 - off, 4), None, n),
    }


def _nulls(rows: list[dict[str, Any]], pairs: list[float]) -> dict[str, Any]:
    def null(value: float, q95: float) -> dict[str, Any]:
        return {"mean": q95 / 2, "q95": q95, "inside": value <= q95}

    def mean(key: str) -> float:
        return sum(row[key]["score"]["value"] for row in rows) / len(rows)

    return {
        "sad": null(mean("sad"), 0.016),
        "pad": null(sum(pairs) / len(pairs), 0.038),
        "r_sad": null(mean("r_sad"), 0.0085),
        "r_sad_unrefined": null(mean("r_sad_unrefined"), 0.0095),
    }


def _map(draw: random.Random, top: float) -> list[list[float]]:
    rows, columns = GRID
    return [
        [round(-top * (2 <= row <= 3) + draw.uniform(-0.008, 0.008), 5) for _ in range(columns)]
        for row in range(rows)
    ]


def _protocol(n: int) -> dict[str, Any]:
    return {
        "version": 1,
        "model": "assay-tiny-clip",
        "weights_sha256": "c1" * 32,
        "dtype": "float32",
        "input_size": [64, 64],
        "grid": list(GRID),
        "logit_scale": 100.0,
        "prompts": ["This is a photo of {t}.", "This is a photo without {t}."],
        "resize": "squash",
        "batch_size": 16,
        "dual_prompts": True,
        "local_tokens": True,
        "global_token": True,
        "renormalize": True,
        "skip_unreadable": False,
        "spatial_scale": None,
        "bootstrap_resamples": 1000,
        "permutations": 1000,
        "seed": 0,
        "attributes": {"name": "synavatars-1", "sha256": "a7" * 32, "n": n},
        "quality": {"nearest": 5, "kid": None},
    }
