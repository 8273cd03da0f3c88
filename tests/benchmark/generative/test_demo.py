"""The demo's two sets: who is in them, and that known features are not made again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark.datasets import load_dataset
from benchmark.generative import demo
from benchmark.generative.collect import feature_cache
from benchmark.prepared import Prepared


def test_the_second_set_has_too_many_glasses(avatars: Path) -> None:
    dataset = load_dataset(avatars)
    real, biased = demo.demo_sets(dataset)
    glasses = dataset.annotations[:, dataset.concepts.index("glasses: clear")]
    voxel = dataset.annotations[:, dataset.concepts.index("style: voxel")]
    assert voxel[list(real.rows)].all()
    assert voxel[list(biased.rows)].all()
    assert glasses[list(biased.rows)].mean() == pytest.approx(demo.SHARE, abs=0.05)
    assert glasses[list(real.rows)].mean() < demo.SHARE - 0.15
    match = dataset.split("match")
    assert set(biased.rows) >= {row for row in match if voxel[row] and glasses[row]}
    assert demo.has_sets(dataset)
    assert not demo.has_sets(replace(dataset, concepts=("a",)))


def test_features_that_are_known_go_to_their_images(avatars: Path, tmp_path: Path) -> None:
    from image_cases import Encoder

    dataset = load_dataset(avatars)
    features = {
        split: np.arange(len(dataset.split(split)) * 12, dtype=np.float32).reshape(-1, 12)
        for split in ("match", "score")
    }
    prepared = Prepared(dataset, features, None, None)  # type: ignore[arg-type]
    _, biased = demo.demo_sets(dataset)
    with feature_cache(tmp_path, Encoder()) as cache:
        demo._keep(biased, prepared, cache)
        demo._keep(biased, prepared, cache)
        import hashlib

        digests = [hashlib.sha256(biased.encoded(k)).digest() for k in range(len(biased.ids))]
        assert len(cache) == len(set(digests))
        rows = np.concatenate([part["features"] for part in cache.read(digests)])
    place = {row: k for k, row in enumerate(dataset.split("match").tolist())}
    np.testing.assert_array_equal(rows, features["match"][[place[row] for row in biased.rows]])


def test_a_document_of_something_else_does_not_stand(avatars: Path, tmp_path: Path) -> None:
    prepared = Prepared(load_dataset(avatars), {}, None, None)  # type: ignore[arg-type]
    path = tmp_path / "comparison.json"
    assert not demo.still_stands(path, prepared)
    for text in ("{", "{}", "[]", '{"environment": {"suite_version": "0", "commit": null}}'):
        path.write_text(text)
        assert not demo.still_stands(path, prepared)


def test_every_phrase_names_its_concept() -> None:
    """The file of names, for labels, is that of the generator."""
    pytest.importorskip("dicebear", reason="avatars are drawn by DiceBear")
    from benchmark.generative import tiny_clip
    from generation.tiny_clip.phrases import PHRASES

    assert tiny_clip.concepts() == {phrase: concept for concept, phrase in PHRASES.items()}
    assert set(tiny_clip.trusted()) <= set(tiny_clip.concepts())
