"""Ratings files and the agreement of every metric with them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from benchmark.errors import UserError
from benchmark.generative.ratings import (
    Ratings,
    agreements,
    find_comparisons,
    metrics_of,
    read_ratings,
)


def comparison(value: float | None, **protocol: Any) -> dict[str, Any]:
    """As much of a document as is read here, every metric the same number."""
    score = {"value": value}
    return {
        "protocol": {"model": "tiny", **protocol},
        "means": dict.fromkeys(("sad", "pad", "r_sad", "r_sad_unrefined"), score),
        "attributes": [
            {
                "attribute": name,
                **{key: {"generated": score} for key in ("ra_clip_score", "clip_score", "hcs")},
            }
            for name in ("a hat", "a tie")
        ],
        "quality": {"encoder": {"name": "e"}, "scores": {"fid": score, "kid": {"value": None}}},
    }


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_ratings_are_means_over_raters(tmp_path: Path) -> None:
    text = '\ufeffclass,rating,rater\ncat,4,ann\ncat,2,bob\n"dog, big",5,ann\n'
    found = read_ratings(write(tmp_path / "r.csv", text))
    assert found.mean == {"cat": 3.0, "dog, big": 5.0}
    assert found.counts == {"cat": 2, "dog, big": 1}
    assert found.raters == ("ann", "bob")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "columns none"),
        ("class,score\ncat,1\n", "columns class, score"),
        ("class,rating\n", "no ratings"),
        ("class,rating\ncat,good\n", "line 2: rating 'good'"),
        ("class,rating\ncat,nan\n", "line 2: rating 'nan'"),
        ("class,rating\n ,1\n", "line 2: a blank class"),
        ("class,rating\ncat,1\ncat,2\n", "line 3: class 'cat' was rated in line 2"),
        ("class,rating,rater\ncat,1,a\ncat,2,a\n", "rated by 'a' in line 2"),
        ("class,rating\ncat\n", "line 2: expected 2 columns"),
        ("class,rating\ncat,1,2\n", "line 2: expected 2 columns"),
        ('class,rating\n"cat,1\n', "not a CSV file"),
    ],
)
def test_broken_ratings_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_ratings(write(tmp_path / "r.csv", text))
    assert "r.csv" in str(caught.value)


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"class,rating\n\xff\xfe,1\n")
    with pytest.raises(UserError, match="not a CSV file in UTF-8"):
        read_ratings(tmp_path / "r.csv")
    with pytest.raises(UserError, match="no such file"):
        read_ratings(tmp_path / "absent.csv")


def test_classes_are_named_by_file_or_folder(tmp_path: Path) -> None:
    for name in ("cat.json", "dog/comparison.json", "dog/other.json", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, "{}")
    found = find_comparisons(tmp_path)
    assert {name: path.name for name, path in found.items()} == {
        "cat": "cat.json",
        "dog": "comparison.json",
    }
    write(tmp_path / "dog.json", "{}")
    with pytest.raises(UserError, match="class 'dog' has two documents"):
        find_comparisons(tmp_path)
    with pytest.raises(UserError, match="no such folder"):
        find_comparisons(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no comparison"):
        find_comparisons(tmp_path / "empty")


def test_agreement_is_the_correlation_over_classes() -> None:
    rng = np.random.default_rng(0)
    people, values = rng.normal(size=12), rng.normal(size=12)
    names = [f"class {k}" for k in range(12)]
    ratings = Ratings(dict(zip(names, people, strict=True)), dict.fromkeys(names, 1), ())
    documents = {name: comparison(v) for name, v in zip(names, values, strict=True)}
    documents["class 99"] = comparison(3.0, model="another one, not rated")
    found = agreements(ratings, documents, resamples=100)
    assert set(found) == set(metrics_of(documents["class 0"]))
    for name in ("r_sad", "ra_clip_score", "fid"):
        assert found[name].pearson.value == pytest.approx(
            scipy.stats.pearsonr(values, people).statistic
        )
        assert found[name].spearman.value == pytest.approx(
            scipy.stats.spearmanr(values, people).statistic
        )
        assert found[name].pearson.ci95 is not None
    assert found["kid"].pearson.value is None
    assert found["kid"].pearson.not_applicable["class without a value of the metric"] == 12


def test_what_was_made_otherwise_is_refused() -> None:
    ratings = Ratings({"a": 1.0, "b": 2.0}, {"a": 1, "b": 1}, ())
    with pytest.raises(UserError, match="no comparison for 1 of 2 rated classes: 'b'"):
        agreements(ratings, {"a": comparison(1.0)})
    with pytest.raises(UserError, match="'a' and 'b' differ in resize"):
        agreements(ratings, {"a": comparison(1.0), "b": comparison(1.0, resize="squash")})


@pytest.mark.parametrize("rating", ["1_0", "1.7e308", "-2e12", "\uff11", "nan", "0x1"])
def test_what_nobody_writes_as_a_rating_is_none(tmp_path: Path, rating: str) -> None:
    text = f"class,rating,rater\na,1,x\nb,{rating},x\nb,{rating},y\n"
    with pytest.raises(UserError, match=r"line 3: rating .*expected a number from -1e"):
        read_ratings(write(tmp_path / "r.csv", text))
