"""Rows without any annotated concept: every score of concepts says so, none is a number."""

import numpy as np
import scipy.sparse as sp

from benchmark import metrics
from benchmark.metrics.match_score import NO_CONCEPTS

CODES = np.array([[1.0, 0], [0, 2], [3, 4]], np.float32)
NONE = np.zeros((3, 0), bool)


def test_every_score_of_concepts_has_a_reason():
    for codes in (CODES, sp.csr_array(CODES)):
        for matcher in ("fbmp", "one_to_one", "top_k_f1", "nn_omp"):
            matching = metrics.match_concepts(codes, NONE, matcher=matcher)
            assert matching.coalitions == ()
            for score in (
                metrics.match_score(codes, NONE, matching),
                metrics.completeness(codes, NONE, matching),
            ):
                assert (score.value, score.ci95, score.n) == (None, None, 0)
                assert score.not_applicable == {NO_CONCEPTS: 1}
            if matcher != "nn_omp":
                assert metrics.f1_by_size(codes, NONE, matching).shape == (0, 3)
    for score in (
        metrics.prevalence_bound(NONE),
        metrics.linear_probe_bound(CODES, NONE, CODES, NONE),
    ):
        assert score.value is None
        assert score.not_applicable == {NO_CONCEPTS: 1}
