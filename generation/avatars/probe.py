"""How far raw pixels go: a baseline that any encoder has to be read against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from PIL import Image

from benchmark.images import read_image

SIDE = 32
COMPONENTS = 256
INVERSE_PENALTY = 1.0


class _Picture(Protocol):
    @property
    def png(self) -> bytes: ...

    @property
    def concepts(self) -> tuple[int, ...]: ...


def pixel_probe(
    match: Sequence[_Picture], score: Sequence[_Picture], concepts: int
) -> dict[str, float]:
    """Mean F1 on ``score`` over the concepts, of two predictors that know no encoder.

    Returns:
        ``raw_pixels_f1``: L2-regularised logistic regression per concept on ``SIDE`` x ``SIDE``
        RGB pixels reduced to ``COMPONENTS`` principal components (C = ``INVERSE_PENALTY``);
        components, weights and the threshold of best F1 are fitted on ``match``.
        ``prevalence_f1``: predicting every concept everywhere, ``2p / (1 + p)``.
        Both in [0, 1], rounded to 3 digits.
    """
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    train, test = _pixels(match), _pixels(score)
    labels, truth = _labels(match, concepts), _labels(score, concepts)
    scores = []
    # These problems are too small for threads, which would only wait for one another.
    with threadpool_limits(1):
        size = min(COMPONENTS, len(train) - 1)
        reducer = PCA(size, random_state=0, svd_solver="randomized").fit(train)
        inputs, held_out = reducer.transform(train), reducer.transform(test)
        for concept in range(concepts):
            wanted = labels[:, concept]
            if not truth[:, concept].any() or wanted.all() or not wanted.any():
                continue
            model = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000).fit(inputs, wanted)
            threshold = _best_threshold(model.decision_function(inputs), wanted)
            predicted = model.decision_function(held_out) >= threshold
            scores.append(_f1(predicted, truth[:, concept]))
    shares = truth.mean(axis=0)
    return {
        "raw_pixels_f1": round(float(np.mean(scores)), 3),
        "prevalence_f1": round(float(np.mean(2 * shares / (1 + shares))), 3),
    }


def _pixels(pictures: Sequence[_Picture]) -> np.ndarray:
    rows = [
        np.asarray(read_image(each.png).resize((SIDE, SIDE), Image.Resampling.BOX))
        for each in pictures
    ]
    return np.stack(rows).reshape(len(rows), -1).astype(np.float32) / 255


def _labels(pictures: Sequence[_Picture], concepts: int) -> np.ndarray:
    labels = np.zeros((len(pictures), concepts), dtype=bool)
    for row, each in enumerate(pictures):
        labels[row, list(each.concepts)] = True
    return labels


def _best_threshold(scores: np.ndarray, truth: np.ndarray) -> float:
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(truth[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + truth.sum())
    return float(scores[order[int(np.argmax(f1))]])


def _f1(predicted: np.ndarray, truth: np.ndarray) -> float:
    return float(2 * (predicted & truth).sum() / (predicted.sum() + truth.sum()))
