"""A whole comparison: its numbers are the library's, its cache resumes, bad input is counted."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_cases import NAMES, Encoder, folder_of, picture, tiny_clip

import schemas
from benchmark.errors import UserError
from benchmark.generative import (
    clip_score,
    compare_attributes,
    embedding_centre,
    heterogeneous_clip_score,
    ra_clip_scores,
)
from benchmark.generative import scorer as scoring
from benchmark.generative.cache import RowCache
from benchmark.generative.compare import Comparison, Plan, compare
from benchmark.generative.image_sets import FolderSet
from benchmark.images import read_image

FAST = Plan(resamples=50, permutations=50)


@pytest.fixture(scope="module")
def clip() -> Any:
    return tiny_clip()


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderSet, FolderSet]:
    root = tmp_path_factory.mktemp("sets")
    real = folder_of(root / "real", 21)
    generated = folder_of(root / "generated", 17, start=100, shift=60, size=(64, 64))
    return FolderSet.of(real), FolderSet.of(generated)


@pytest.fixture(scope="module")
def done(sides: Any, clip: Any, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    home = tmp_path_factory.mktemp("home")
    return compare(*sides, NAMES, model=clip, encoder=Encoder(), plan=FAST, home=home)


def run(real: Path, generated: Path, clip: Any, home: Path, **options: Any) -> dict[str, Any]:
    plan = Plan(resamples=20, permutations=20, **options)
    sets = FolderSet.of(real), FolderSet.of(generated)
    found = compare(*sets, NAMES, model=clip, encoder=Encoder(), plan=plan, home=home)
    schemas.validate("images", found.document)
    return found.document


def without_time(document: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in document.items() if k != "timing"}, sort_keys=True)


def test_scores_are_those_of_the_library(done: Comparison, sides: Any, clip: Any) -> None:
    for side, images in zip((done.real, done.generated), sides, strict=True):
        pictures = [read_image(images.encoded(k)) for k in range(len(images.ids))]
        alone = ra_clip_scores(pictures, NAMES, model=clip)
        np.testing.assert_allclose(side.scores.image, alone.image, atol=1e-6)
        np.testing.assert_allclose(side.scores.clip, alone.clip, atol=1e-4)
        np.testing.assert_allclose(
            side.scores.clip, clip_score(alone.embeddings, alone.texts), atol=1e-4
        )
        assert alone.patch is not None
        assert alone.patch_unrefined is not None
        np.testing.assert_allclose(side.scores.sums.mean(), alone.patch.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(
            side.scores.sums_unrefined.mean(), alone.patch_unrefined.mean(axis=0), atol=1e-6
        )
        small = [np.asarray(one.resize((48, 48), 3), float) for one in pictures]
        np.testing.assert_allclose(side.scores.mean_picture, np.mean(small, axis=0), atol=1e-9)


def test_the_document_holds_them(done: Comparison) -> None:
    document = done.document
    schemas.validate("images", document)
    left, right = done.real.scores, done.generated.scores
    again = compare_attributes(left.image, right.image, NAMES, resamples=50, permutations=50)
    centre = embedding_centre(left.embeddings)
    for a, row in enumerate(document["attributes"]):
        assert row["ra_clip_score"]["real"]["value"] == pytest.approx(left.image[:, a].mean())
        assert row["ra_clip_score"]["real"]["ci95"][0] < left.image[:, a].mean()
        assert row["sad"]["score"]["value"] == again.sad[a].score.value
        assert row["sad"]["null_q95"] == again.sad[a].null.q95
        assert row["sad"]["inside_null"] is again.sad[a].inside_null
        texts = scoring.RaScorer(NAMES, tiny_clip()).texts
        hcs = heterogeneous_clip_score(right.embeddings, texts, image_centre=centre)
        assert row["hcs"]["generated"]["value"] == pytest.approx(hcs[:, a].mean(), rel=1e-6)
        magnitude = np.abs(left.sums.mean() - right.sums.mean())[a].mean()
        assert row["r_sad"]["score"]["value"] == pytest.approx(magnitude)
    values = document["pairs"]["values"]
    assert values[0][2] == values[2][0] == pytest.approx(again.pad[1].score.value, rel=1e-5)
    assert values[1][1] is None
    assert document["pairs"]["count"] == 3
    maps = np.array(document["maps"]["refined"]["values"])
    np.testing.assert_allclose(maps, left.sums.mean() - right.sums.mean(), rtol=1e-5, atol=1e-9)
    assert sorted(document["rankings"]["r_sad_over_null"]) == sorted(NAMES)
    assert document["real"]["width"] == [40, 40]
    assert document["generated"]["height"] == [64, 64]
    assert document["quality"]["scores"]["fid"]["value"] > 0
    assert document["protocol"]["resize"] == "squash"


def test_a_second_run_scores_nothing_and_says_the_same(
    sides: Any, clip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compare(*sides, NAMES, model=clip, encoder=Encoder(), plan=FAST, home=tmp_path)
    encoder = Encoder()
    monkeypatch.setattr(type(clip), "dense", None)
    again = compare(*sides, NAMES, model=clip, encoder=encoder, plan=FAST, home=tmp_path)
    assert encoder.seen == 0
    assert without_time(again.document) == without_time(first.document)


def test_a_killed_run_goes_on(
    sides: Any, clip: Any, done: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    dense = type(clip).dense

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        passes.append(1)
        if len(passes) == 3:
            raise KeyboardInterrupt
        return dense(self, *args, **options)

    monkeypatch.setattr(type(clip), "dense", counted)
    with pytest.raises(KeyboardInterrupt):
        compare(*sides, NAMES, model=clip, encoder=Encoder(), plan=FAST, home=tmp_path)
    before = len(passes)
    found = compare(*sides, NAMES, model=clip, encoder=Encoder(), plan=FAST, home=tmp_path)
    # 16 of 21 real images were kept: one more pass for them and three for 17 generated ones
    assert len(passes) - before == 4
    assert without_time(found.document) == without_time(done.document)


def test_the_cache_knows_what_it_was_made_with(sides: Any, clip: Any, tmp_path: Path) -> None:
    for options in ({}, {"resize": "center_crop"}, {"without": ("local_tokens",)}):
        plan = Plan(resamples=5, permutations=5, **options)
        compare(*sides, NAMES, model=clip, plan=plan, home=tmp_path)
    plan = Plan(resamples=5, permutations=5)
    compare(*sides, NAMES[:2], model=clip, plan=plan, home=tmp_path)
    compare(*sides, NAMES, model=tiny_clip(seed=1), plan=plan, home=tmp_path)
    assert len(list((tmp_path / "images").glob("*/rows.bin"))) == 5


def test_rows_that_are_torn_or_damaged_are_absent(tmp_path: Path) -> None:
    fields = [("value", "<f4", (3,))]
    digests = [bytes([k]) * 32 for k in range(5)]
    values = np.arange(15, dtype=np.float32).reshape(5, 3)
    with RowCache(tmp_path, {"a": 1}, fields) as cache:
        cache.add(digests[:2], {"value": values[:2]})
        cache.add(digests[2:4], {"value": values[2:4]})
        path, size = cache.folder / "rows.bin", cache.dtype.itemsize
    data = bytearray(path.read_bytes())
    data[size + 34] ^= 1  # in the second row
    path.write_bytes(bytes(data) + b"torn")
    with RowCache(tmp_path, {"a": 1}, fields) as cache:
        assert [digest in cache for digest in digests] == [True, False, True, True, False]
        cache.add([digests[1], digests[4]], {"value": values[[1, 4]]})
        read = np.concatenate([rows["value"] for rows in cache.read(digests, 2)])
        np.testing.assert_array_equal(read, values)
    with RowCache(tmp_path, {"a": 2}, fields) as cache:
        assert len(cache) == 0
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="ASSAY_HOME"), RowCache(tmp_path / "file", {}, fields):
        pass


@pytest.mark.parametrize("content", [b"", b"no picture", "truncated"])
def test_unreadable_images_stop_it_or_are_counted(
    tmp_path: Path, clip: Any, content: bytes | str
) -> None:
    real, generated = folder_of(tmp_path / "r", 9), folder_of(tmp_path / "g", 8, start=50)
    whole = (real / "a/0.png").read_bytes()
    bad = whole[: len(whole) // 2] if isinstance(content, str) else content
    (real / "b" / "broken.png").write_bytes(bad)
    with pytest.raises(UserError, match=r"b/broken\.png.*--skip-unreadable"):
        run(real, generated, clip, tmp_path / "home")
    document = run(real, generated, clip, tmp_path / "home", skip_unreadable=True)
    (left,) = document["real"]["unreadable"]
    assert left["id"] == "b/broken.png"
    assert str(tmp_path) not in left["reason"]
    assert document["real"]["n"] == 9
    for path in real.rglob("*.png"):
        path.write_bytes(bad)
    with pytest.raises(UserError, match="none of its 10 images"):
        run(real, generated, clip, tmp_path / "home", skip_unreadable=True)


def test_one_image_a_side_has_no_divergence(tmp_path: Path, clip: Any) -> None:
    real, generated = folder_of(tmp_path / "r", 1), folder_of(tmp_path / "g", 1, start=50)
    document = run(real, generated, clip, tmp_path / "home")
    row = document["attributes"][0]
    assert row["sad"]["score"]["value"] is None
    (reason,) = row["sad"]["score"]["not_applicable"]
    assert "expected at least 2" in reason
    assert row["sad"]["inside_null"] is None
    assert row["ra_clip_score"]["real"]["value"] is not None
    assert all(one["value"] is None for one in document["quality"]["scores"].values())
    assert document["pairs"]["top"] == []
    assert document["rankings"]["sad"] == []


def test_identical_sets_are_told(tmp_path: Path, clip: Any) -> None:
    real = folder_of(tmp_path / "r", 8)
    document = run(real, real, clip, tmp_path / "home")
    assert document["identical"]
    assert document["shared_images"] == 8
    assert document["means"]["sad"]["value"] == 0
    assert document["quality"]["scores"]["coverage"]["value"] == 1
    assert document["quality"]["scores"]["kid"]["value"] is None
    assert document["real"]["sha256"] == document["generated"]["sha256"]


def test_copies_are_counted_and_scored_once(tmp_path: Path, clip: Any) -> None:
    real, generated = folder_of(tmp_path / "r", 6), folder_of(tmp_path / "g", 6, start=50)
    for k in range(3):
        (generated / f"copy-{k}.png").write_bytes((real / "a/1.png").read_bytes())
    document = run(real, generated, clip, tmp_path / "home")
    assert document["generated"]["duplicates"] == 2
    assert document["shared_images"] == 3
    assert not document["identical"]
    for row in document["attributes"]:
        ids = [one["id"] for one in row["pulls"]["generated"]]
        assert sum("copy" in name for name in ids) <= 1


def test_sides_of_any_size_and_kind_of_picture(tmp_path: Path, clip: Any) -> None:
    real, generated = tmp_path / "r", tmp_path / "g"
    real.mkdir()
    generated.mkdir()
    picture(1, (300, 5)).save(real / "wide.png")
    picture(2, (1, 1)).save(real / "dot.png")
    picture(3).convert("L").save(real / "gray.jpg")
    picture(4).convert("CMYK").save(generated / "cmyk.jpg")
    picture(5).convert("RGBA").save(generated / "alpha.webp")
    picture(6).convert("P").save(generated / "palette.gif")
    document = run(real, generated, clip, tmp_path / "home")
    assert document["real"]["width"] == [1, 300]
    assert document["real"]["n"] == document["generated"]["n"] == 3


def test_scores_without_saturation_say_nothing_of_it(tmp_path: Path, clip: Any) -> None:
    real, generated = folder_of(tmp_path / "r", 4), folder_of(tmp_path / "g", 4, start=50)
    document = run(real, generated, clip, tmp_path / "home", without=("dual_prompts",))
    assert not document["protocol"]["dual_prompts"]
    values = [row["saturated"]["real"] for row in document["attributes"]]
    assert values == [None] * len(NAMES)
    with pytest.raises(UserError, match="no part 'prompts'"):
        Plan(without=("prompts",))
