"""Labels of images: what a file may say, how it meets the images, and what the document tells."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_cases import NAMES, folder_of, tiny_clip
from sklearn.metrics import roc_auc_score

import schemas
from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.generative import embedding_centre, heterogeneous_clip_score, ra_clip_scores
from benchmark.generative.compare import Comparison, Plan, compare
from benchmark.generative.image_sets import DatasetSet, FolderSet, open_set
from benchmark.generative.labels import (
    UNKNOWN,
    Labels,
    aligned,
    labels_for,
    names_notes,
    read_labels,
    read_names,
)
from benchmark.generative.ra_clip import ABLATIONS
from benchmark.images import read_image

PLAN = Plan(resamples=20, permutations=20)
COUNT = 24


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    table = written(
        tmp_path / "l.csv", '\ufeffid,a hat,"a tie, red"\na/0.png,1,\n"ü, 鳥.png", 0 ,1\n\n'
    )
    tree = {"a/0.png": {"a hat": 1}, "ü, 鳥.png": {"a hat": False, "a tie, red": True}}
    other = written(tmp_path / "l.json", json.dumps(tree))
    for path in (table, other):
        found = read_labels(path)
        assert found.names == ("a hat", "a tie, red")
        assert found.ids == ("a/0.png", "ü, 鳥.png")
        assert found.values.tolist() == [[1, UNKNOWN], [0, 1]]
        assert found.source["name"] == path.name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("l.csv", "", "line 1: the first column is not called id"),
        ("l.csv", "image,a hat\nx,1\n", "line 1: the first column is not called id"),
        ("l.csv", "id,a hat\n", "no labels; expected a CSV file"),
        ("l.csv", "id\nx\n", "no labels"),
        ("l.csv", "id,a hat\nx,2\n", "line 2: '2'; expected 1, 0 or nothing"),
        ("l.csv", "id,a hat\nx,0.7\n", "line 2: '0.7'"),
        ("l.csv", "id,a hat\nx,1,0\n", "line 2: 3 columns; expected 2"),
        ("l.csv", "id,a hat\nx,1\ny,0\nx,1\n", "line 4: id 'x' is there twice"),
        ("l.csv", "id,a hat,A  Hat\nx,1,0\n", "attribute 'a hat' is there twice"),
        ("l.csv", "id,a hat,\nx,1,0\n", "an attribute has no name"),
        ("l.csv", 'id,a hat\n"x,1\n', "no CSV"),
        ("l.csv", b"id,caf\xe9\nx,1\n", "not text in UTF-8"),
        ("l.json", "{", "not JSON that can be read"),
        ("l.json", "[" * 100_000, "not JSON that can be read"),
        ("l.json", "[]", "no object of objects"),
        ("l.json", '{"x": 1}', "no object of objects"),
        ("l.json", '{"x": {"a": 2}}', "'x', 'a': 2; expected 1, 0 or null"),
        ("l.json", '{"x": {"a": 1.0}}', "'x', 'a': 1.0"),
        ("l.json", '{"x": {"a": "1"}}', "'x', 'a': '1'"),
        ("l.json", '{"x": {"a": NaN}}', "'x', 'a': nan"),
        ("l.json", '{"x": {"a": 1}, "x": {"a": 0}}', "'x' is there twice"),
        ("l.json", "{}", "no labels"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    path = written(tmp_path / name, content)
    with pytest.raises(UserError) as caught:
        read_labels(path)
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_large_or_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"l\.csv: no such file"):
        read_labels(tmp_path / "l.csv")
    with (tmp_path / "l.csv").open("wb") as stream:
        stream.truncate(2**28)
    with pytest.raises(UserError, match=r"l\.csv: larger than 128 MiB"):
        read_labels(tmp_path / "l.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected JSON of"),
        ('{"a": 1}', "expected JSON of"),
        ('{"a": ""}', "expected JSON of"),
        ('{"a": "x", "A": "y"}', "two attributes share a name"),
        ('{"a": "x", "b": "X"}', "two attributes share a name"),
    ],
)
def test_a_bad_file_of_names(tmp_path: Path, content: str, message: str) -> None:
    path = written(tmp_path / "n.json", content)
    with pytest.raises(UserError, match=rf"n\.json: {message}"):
        read_names(path)


def table_of(names: tuple[str, ...], ids: tuple[str, ...], values: Any) -> Labels:
    source = {"kind": "file", "name": "l.csv", "sha256": "0" * 64}
    return Labels(source, names, ids, np.array(values, np.int8))


def test_labels_meet_images(tmp_path: Path) -> None:
    images = FolderSet.of(folder_of(tmp_path, 3))  # a/0.png, a/1.png, b/0.png
    labels = table_of(
        ("A  HAT", "spectacles", "a dog"), ("b/0.png", "a/0.png", "gone.png"),
        [[1, 0, 1], [0, UNKNOWN, 1], [1, 1, 1]],
    )  # fmt: skip
    found = aligned(labels, images, ("eyeglasses", "a hat", "a tie"), {"eyeglasses": "Spectacles"})
    assert found.values.tolist() == [[-1, 0, -1], [-1, -1, -1], [0, 1, -1]]
    assert (found.unlabelled, found.unmatched) == (1, ("gone.png",))
    assert (found.missing, found.unused) == (("a tie",), ("a dog",))
    with pytest.raises(UserError, match="none of the attributes is labelled; asked for 'a tie'"):
        aligned(labels, images, ("a tie",), None)
    other = FolderSet.of(folder_of(tmp_path / "x", 1))
    with pytest.raises(UserError, match=r"'b/0\.png', the first image 'a/0\.png'"):
        aligned(replace(labels, ids=("b/0.png", "c", "d")), other, ("a hat",), None)


def test_a_dataset_labels_its_images_and_edits(avatars: Path) -> None:
    dataset = load_dataset(avatars)
    score = labels_for("dataset", open_set(str(avatars), "score"), "--real-labels")
    np.testing.assert_array_equal(
        score.values, dataset.annotations[sorted(dataset.split("score").tolist())]
    )
    assert score.names == dataset.concepts
    edited = labels_for("dataset", DatasetSet.of(dataset, "edited"), "--real-labels")
    pairs = dataset.pairs
    assert pairs is not None
    for row, (added, removed) in enumerate(zip(pairs.added, pairs.removed, strict=True)):
        wanted = pairs.present[row].astype(int)
        if added is not None:
            wanted[added] = 1
        if removed is not None:
            wanted[removed] = 0
        assert edited.values[row].tolist() == wanted.tolist()
    assert (edited.values != pairs.present).any()
    with pytest.raises(UserError, match="--real-labels dataset: a is no split of a dataset"):
        labels_for(
            "dataset", FolderSet.of(folder_of(avatars.parent / "p", 2) / "a"), "--real-labels"
        )


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, np.ndarray]:
    """A comparison whose generated images are labelled, but for some, and the labels by image."""
    root = tmp_path_factory.mktemp("labelled")
    real = FolderSet.of(folder_of(root / "real", 12))
    folder = folder_of(root / "made", COUNT, start=50)
    (folder / "a" / "broken.png").write_bytes(b"no picture")
    made = FolderSet.of(folder)
    values = np.random.default_rng(3).integers(0, 2, (len(made.ids), 2)).astype(np.int8)
    values[4, 0] = values[7] = UNKNOWN
    labels = table_of((NAMES[2], NAMES[0]), made.ids, values)
    plan = replace(PLAN, skip_unreadable=True)
    found = compare(
        real, made, NAMES, generated_labels=labels, model=tiny_clip(), plan=plan, home=root / "home"
    )
    return found, values[found.generated.scores.places]


def test_the_document_tells_how_well_scores_separate(
    labelled: tuple[Comparison, np.ndarray],
) -> None:
    comparison, values = labelled
    schemas.validate("images", comparison.document)
    assert comparison.document["separation"]["real"] is None
    found = comparison.document["separation"]["generated"]
    assert found["not_labelled"] == [NAMES[1]]
    assert (found["images"], found["unlabelled"]) == (COUNT - 1, 1)
    assert found["unmatched"] == {"count": 0, "examples": []}
    side, clip = comparison.generated, tiny_clip()
    pictures = [read_image(side.images.encoded(k)) for k in side.scores.places]
    alone = ra_clip_scores(pictures, NAMES, model=clip)
    centre = embedding_centre(comparison.real.scores.embeddings)
    tables = {
        "ra_clip_score": alone.image,
        "clip_score": alone.clip,
        "hcs": heterogeneous_clip_score(alone.embeddings, alone.texts, image_centre=centre),
        **{
            f"without_{part}": ra_clip_scores(pictures, NAMES, model=clip, **{part: False}).image
            for part in ABLATIONS
        },
    }
    assert [row["attribute"] for row in found["attributes"]] == [NAMES[0], NAMES[2]]
    for row, a, column in zip(found["attributes"], (0, 2), (1, 0), strict=True):
        known = values[:, column] != UNKNOWN
        truth = values[known, column]
        assert (row["n_with"], row["n_without"]) == (truth.sum(), (1 - truth).sum())
        assert set(row["scores"]) == set(tables)
        for name, table in tables.items():
            scores, own = table[known, a], row["scores"][name]
            assert own["auc"] == pytest.approx(roc_auc_score(truth, scores), abs=1e-9)
            yes, no = scores[truth == 1], scores[truth == 0]
            pooled = np.concatenate([yes - yes.mean(), no - no.mean()])
            spread = np.sqrt((pooled**2).sum() / (len(pooled) - 2))
            assert own["cohens_d"] == pytest.approx((yes.mean() - no.mean()) / spread, rel=2e-3)
            cosine = name in ("clip_score", "hcs", "without_dual_prompts")
            assert (own["saturated"] is None) is cosine
    means = found["means"]
    assert means["n"] == 2
    for name, one in means["scores"].items():
        each = [row["scores"][name]["auc"] for row in found["attributes"]]
        assert one["auc"] == pytest.approx(np.mean(each))


def test_labels_of_one_kind_and_a_single_attribute_say_why(tmp_path: Path) -> None:
    real, made = (FolderSet.of(folder_of(tmp_path / n, 6, start=9 * k)) for k, n in enumerate("ab"))
    labels = table_of(("a hat",), made.ids[:4], [[1], [1], [1], [1]])
    found = compare(
        real, made, ["a hat"], real_labels=table_of(("a hat",), real.ids, np.eye(6)[:, :1]),
        generated_labels=labels, model=tiny_clip(), home=tmp_path / "home",
        plan=replace(PLAN, without=("dual_prompts",)),
    ).document  # fmt: skip
    schemas.validate("images", found)
    row = found["separation"]["generated"]["attributes"][0]
    assert row["scores"]["ra_clip_score"]["not_applicable"] == "no image without the label"
    assert row["scores"]["ra_clip_score"]["auc"] is None
    assert "centre" in row["scores"]["hcs"]["not_applicable"]
    assert found["separation"]["generated"]["means"]["n"] == 0
    real_side = found["separation"]["real"]
    # the scores leave a part out themselves: there is nothing to set beside them
    assert list(real_side["means"]["scores"]) == ["ra_clip_score", "clip_score", "hcs"]
    assert real_side["attributes"][0]["scores"]["ra_clip_score"]["saturated"] is None
    assert real_side["means"]["scores"]["hcs"]["auc"] is None
    assert real_side["means"]["scores"]["clip_score"]["auc"] is not None
    assert real_side["means"]["n"] == 1


def test_two_attributes_do_not_share_a_label(tmp_path: Path) -> None:
    labels = read_labels(written(tmp_path / "l.csv", "id,spectacles\na/0.png,1\n"))
    images = FolderSet.of(folder_of(tmp_path / "set", 2))
    with pytest.raises(UserError, match="'glasses' and 'spectacles' would both be read from"):
        aligned(labels, images, ["glasses", "spectacles"], {"glasses": "spectacles"})


def test_names_are_compared_whatever_their_unicode_form(tmp_path: Path) -> None:
    labels = read_labels(written(tmp_path / "l.csv", "id,cafe\u0301\na/0.png,1\n"))
    images = FolderSet.of(folder_of(tmp_path / "set", 2))
    assert aligned(labels, images, ["Caf\u00e9"], None).missing == ()
    with pytest.raises(UserError, match="is there twice"):
        read_labels(written(tmp_path / "t.csv", "id,cafe\u0301,caf\u00e9\na/0.png,1,1\n"))


@pytest.mark.parametrize(
    "content",
    [r'{"a": {"hat": 1}, "\ud800": {"hat": 0}}', r'{"a": {"hat": 1, "\ud800": 1}}'],
)
def test_half_a_character_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UserError, match=r"l\.json: '\\ud800' is no text"):
        read_labels(written(tmp_path / "l.json", content))
    with pytest.raises(UserError, match=r"n\.json: '\\ud800' is no text"):
        read_names(written(tmp_path / "n.json", r'{"hat": "\ud800"}'))


def test_names_that_are_not_asked_for_are_told() -> None:
    assert names_notes(None, ["a hat"]) == []
    assert names_notes({"A  HAT": "cap"}, ["a hat"]) == []
    notes = names_notes({"a hat": "cap", "a tie": "tie"}, ["a hat"])
    assert notes == ["--label-names: not asked for: a tie"]
    with pytest.raises(UserError, match="'a tye' is no attribute asked for"):
        names_notes({"a tye": "tie"}, ["a tie"])
