"""FBMP and MATCHScore at the size of CUB and COCO, against one scikit-learn call a latent."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from bench.inputs import COCO, CUB, Size, codes, concepts
from bench.measure import peak_bytes, read_seconds, timed
from benchmark.metrics import match_concepts, match_score

_PEER_CALLS = 300


def _csr_bytes(matrix: sp.csr_array) -> int:
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


def peer_seconds(latents: sp.csr_array, present: np.ndarray, steps: int) -> tuple[float, float]:
    """What one scikit-learn call a (concept, latent, step) takes in all, and one call alone.

    The whole loop takes hours, so a sample of its calls is timed and multiplied.
    """
    from sklearn.metrics import fbeta_score

    dense = latents[:, :_PEER_CALLS].toarray() > 0
    target = present[:, 0]

    def sample() -> None:
        for latent in range(_PEER_CALLS):
            fbeta_score(target, dense[:, latent], beta=0.5, zero_division=0)

    one = timed(sample, 2).best / _PEER_CALLS
    return one * latents.shape[1] * present.shape[1] * steps, one


def fbmp(size: Size, *, peer: bool) -> dict[str, Any]:
    """Time of FBMP, k = 3, with its ratios."""
    latents, present = codes(size), concepts(size)
    entries = sp.csr_array(
        (np.ones(latents.nnz, np.int32), latents.indices, latents.indptr), shape=latents.shape
    )
    sets = sp.csr_array(present.T.astype(np.int32))
    own = timed(lambda: match_concepts(latents, present)).best
    product = timed(lambda: sets @ entries).best
    result: dict[str, Any] = {
        "what": f"FBMP k=3, {size.name}, {size.concepts} concepts",
        "seconds": own,
        "over_one_sparse_product": own / product,
        "over_reading_input_once": own / read_seconds(_csr_bytes(latents) + present.nbytes),
        "peak_bytes": peak_bytes(_fbmp_once, size),
    }
    if peer:
        whole, one = peer_seconds(latents, present, 3)
        result |= {
            "peer_seconds_estimated": whole,
            "peer_call_seconds": one,
            "speed_up": whole / own,
        }
    return result


def _fbmp_once(size: Size) -> None:
    match_concepts(codes(size), concepts(size))


def bootstrap() -> dict[str, Any]:
    """MATCHScore with 1,000 resamples at CUB size, given the coalitions."""
    latents, present = codes(CUB), concepts(CUB)
    matching = match_concepts(latents, present)
    own = timed(lambda: match_score(latents, present, matching), 3).best
    columns = np.zeros((CUB.rows, 3 * CUB.concepts), np.float32)
    weights = np.zeros((1000, CUB.rows), np.float32)
    product = timed(lambda: weights @ columns, 3).best
    return {
        "what": "MATCHScore, 1,000 resamples, CUB size",
        "seconds": own,
        "over_its_matrix_product": own / product,
        "over_reading_input_once": own / read_seconds(_csr_bytes(latents) + present.nbytes),
    }


def growth() -> list[dict[str, Any]]:
    """Seconds of FBMP as rows and as latents double three times from a quarter of CUB."""
    rows = []
    for factor in (1, 2, 4, 8):
        by_rows = Size(f"{factor} × rows", 1_448 * factor, 312)
        by_latents = Size(f"{factor} × latents", 5_794, 312, latents=1_024 * factor)
        for size in (by_rows, by_latents):
            latents, present = codes(size), concepts(size)
            seconds = timed(partial(match_concepts, latents, present), 3).best
            work = latents.nnz * size.concepts
            rows.append(
                {
                    "what": size.name,
                    "rows": size.rows,
                    "latents": size.latents,
                    "seconds": seconds,
                    "ns_per_active_entry_and_concept": seconds / work * 1e9,
                }
            )
    return rows


def run() -> dict[str, Any]:
    """All figures of this module."""
    return {
        "fbmp_cub": fbmp(CUB, peer=True),
        "fbmp_coco": fbmp(COCO, peer=False),
        "match_score_bootstrap": bootstrap(),
        "fbmp_growth": growth(),
    }
