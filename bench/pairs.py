"""TAPAScore of 3,000 pairs with intervals."""

from typing import Any

import numpy as np

from bench.inputs import Size, codes, concepts
from bench.measure import read_seconds, timed
from benchmark.metrics import match_concepts, tapa_score

PAIRS = Size("3,000 pairs", 3_000, 312)


def run() -> dict[str, Any]:
    """Time of TAPAScore with Δstay and 1,000 resamples."""
    base, edited, present = codes(PAIRS, 2), codes(PAIRS, 3), concepts(PAIRS)
    matching = match_concepts(base, present)
    generator = np.random.default_rng(0)
    added = generator.integers(0, PAIRS.concepts // 2, PAIRS.rows).tolist()
    removed = generator.integers(PAIRS.concepts // 2, PAIRS.concepts, PAIRS.rows).tolist()

    def score() -> None:
        tapa_score(base, edited, matching, added=added, removed=removed, present=present)

    own = timed(score, 3).best
    size = 2 * (base.data.nbytes + base.indices.nbytes) + present.nbytes
    return {
        "tapa": {
            "what": "TAPAScore, 3,000 pairs, 312 concepts, 1,000 resamples",
            "seconds": own,
            "over_reading_input_once": own / read_seconds(size),
        }
    }
