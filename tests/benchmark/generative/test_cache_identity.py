"""Which scores of a cache are taken: those of the very model, whatever was stopped before."""

from pathlib import Path
from typing import Any

import clip_models
import numpy as np
import open_clip
import pytest
from image_cases import NAMES, folder_of, tiny_clip

from benchmark.generative import dense_clip, load_clip
from benchmark.generative.collect import collect
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.scorer import RaScorer


def identity(model: Any, words: Any = None, **options: Any) -> dict[str, Any]:
    clip = dense_clip(model, words or open_clip.SimpleTokenizer(), name="x", **options)
    return RaScorer(NAMES, clip).identity


def test_a_model_of_other_settings_has_another_key() -> None:
    own = identity(clip_models.open_clip_model())
    assert own == identity(clip_models.open_clip_model())
    eps = clip_models.open_clip_model()
    eps.visual.ln_post.eps = 1e-3
    quick = clip_models.open_clip_model()
    for block in quick.visual.transformer.resblocks:
        block.mlp.gelu = open_clip.transformer.QuickGELU()
    pool = clip_models.open_clip_model()
    pool.text_pool_type = "last"
    others = [identity(model) for model in (eps, quick, pool)]
    others.append(identity(clip_models.open_clip_model(), std=[0.5, 0.5, 0.5]))
    assert all(other["weights_sha256"] == own["weights_sha256"] for other in others)
    assert all(other != own for other in others)


def test_a_config_or_tokenizer_of_transformers_is_in_the_key() -> None:
    class Others(clip_models.Words):
        def _ids(self, text: str) -> list[int]:
            return [0, *(3 + len(word) for word in text.split()), 2]

    words = clip_models.Words()
    own = identity(clip_models.transformers_model(), words)
    model = clip_models.transformers_model()
    model.vision_model.config.layer_norm_eps = 1e-3
    assert identity(model, words)["settings_sha256"] != own["settings_sha256"]
    other = RaScorer(
        ("hat", "eyeglasses"), dense_clip(clip_models.transformers_model(), Others(), name="x")
    )
    same = RaScorer(("hat", "eyeglasses"), dense_clip(model, words, name="x"))
    assert other.identity["token_ids_sha256"] != same.identity["token_ids_sha256"]


def test_statistics_of_pixels_are_in_the_protocol_where_they_are_not_the_usual() -> None:
    usual = tiny_clip(), load_clip("assay-tiny-clip")
    assert all("pixel_mean" not in RaScorer(["a hat"], clip).protocol for clip in usual)
    other = identity(clip_models.open_clip_model(), mean=[0.5, 0.5, 0.5])
    assert other["pixel_mean"] == [0.5, 0.5, 0.5]


def test_a_torn_row_leaves_no_trace(tmp_path: Path) -> None:
    """The rows after it would otherwise come first in their batch."""
    images = FolderSet.of(folder_of(tmp_path / "set", 21))
    scorer = RaScorer(NAMES, tiny_clip(), ablations=True)
    whole = collect(images, scorer, None, home=tmp_path / "home")
    (path,) = (tmp_path / "home/images").glob("*/rows.bin")
    size = path.stat().st_size // 21
    with path.open("r+b") as stream:
        stream.truncate(11 * size + 5)
    seen: list[list[str]] = []
    batches = scorer.batches

    def watched(pictures: Any) -> Any:
        seen.append([picture.tobytes() for picture in pictures])
        return batches(pictures)

    scorer.batches = watched  # type: ignore[method-assign]
    again = collect(images, scorer, None, home=tmp_path / "home")
    assert [len(one) for one in seen] == [16, 5]
    assert path.stat().st_size == 21 * size
    for name in ("image", "clip", "embeddings", "ablated"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    np.testing.assert_array_equal(again.sums.mean(), whole.sums.mean())


@pytest.mark.parametrize("kept", [0, 1])
def test_what_the_cache_holds_stays(tmp_path: Path, kept: int) -> None:
    scorer = RaScorer(NAMES, tiny_clip())
    first = FolderSet.of(folder_of(tmp_path / "one", 3))
    again = FolderSet.of(folder_of(tmp_path / "two", 6))
    collect((first, again)[kept], scorer, None, home=tmp_path / "home")
    (path,) = (tmp_path / "home/images").glob("*/rows.bin")
    before = path.read_bytes()
    collect((again, first)[kept], scorer, None, home=tmp_path / "home")
    assert path.read_bytes()[: len(before)] == before
    assert len(path.read_bytes()) == (2, 1)[kept] * len(before)
