"""Shares of same-quartile pairs and their interval."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.metrics import Redundancy, decoder_redundancy, within_quartile_shares
from benchmark.metrics.score import resample_weights


def clustered(seed: int, d: int = 60) -> Redundancy:
    rng = np.random.default_rng(seed)
    decoder = rng.normal(size=(d, 3))
    return decoder_redundancy(decoder, rng.random(d), rng.random(d) < 0.8)


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_counts_over_their_sum(seed: int) -> None:
    found = clustered(seed)
    total = sum(found.within_quartile)
    shares = within_quartile_shares(found, resamples=50)
    assert [share.value for share in shares] == pytest.approx(
        [count / total for count in found.within_quartile]
    )
    assert {share.n for share in shares} == {total}
    assert sum(share.value or 0 for share in shares) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_replicates_count_pairs_of_drawn_latents(seed: int) -> None:
    found = clustered(seed)
    shares = within_quartile_shares(found, resamples=140, seed=3)
    living = np.flatnonzero(found.quartile)
    quartile = found.quartile[living]
    (block,) = [w for _, w in resample_weights(len(living), 140, 3, quartile)]
    for resample in (0, 127, 128, 139):
        times = dict(zip(living.tolist(), block[resample].tolist(), strict=True))
        counts = [0.0] * 4
        for i, j, _ in found.pairs:
            if found.quartile[i] == found.quartile[j]:
                counts[found.quartile[i] - 1] += times[i] * times[j]
        expected = [count / sum(counts) for count in counts]
        got = [share.samples[resample] for share in shares if share.samples is not None]
        assert got == pytest.approx(expected)


def test_without_a_pair_inside_a_quartile_there_is_no_share() -> None:
    apart = decoder_redundancy(np.eye(4), np.full(4, 0.25), np.ones(4, bool))
    across = decoder_redundancy(
        np.array([[1.0, 0], [1.0, 0], [0, 1.0], [0, -1.0]]), np.arange(4.0), np.ones(4, bool)
    )
    assert across.n_pairs == 1
    for found in (apart, across):
        for share in within_quartile_shares(found):
            assert share.value is None
            assert share.not_applicable == {"no redundant pairs inside a quartile": 1}


def test_a_list_that_was_cut_gives_no_interval() -> None:
    d = 1500
    found = decoder_redundancy(np.ones((d, 2)), np.linspace(1, 0.1, d), np.ones(d, bool))
    assert found.n_pairs > len(found.pairs)
    shares = within_quartile_shares(found)
    assert [share.value for share in shares] == pytest.approx([0.25] * 4)
    assert {share.ci95 for share in shares} == {None}
