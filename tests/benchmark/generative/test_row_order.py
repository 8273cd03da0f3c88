"""The names of files and the order of rows move no score, not even in its last bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_cases import NAMES, Encoder, folder_of, tiny_clip

from benchmark.errors import UserError
from benchmark.generative import embedding_centre
from benchmark.generative.collect import collect
from benchmark.generative.compare import Plan, compare
from benchmark.generative.diversity import Lpips
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.labels import Labels
from benchmark.generative.pulls import pulls
from benchmark.generative.quality import quality
from benchmark.generative.scorer import RaScorer
from benchmark.generative.separation import separation


class Colours(Lpips):
    """Stands in for the network: distance of mean colours."""

    def __init__(self) -> None:
        super().__init__(None, "0" * 64)

    def distances(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.abs(first.mean(axis=(1, 2, 3)) - second.mean(axis=(1, 2, 3)))


def values(document: dict[str, Any]) -> str:
    """Everything but intervals, nulls and what names images."""

    def kept(node: Any) -> Any:
        if isinstance(node, dict):
            # the deviation of KID's subsets is a score's too
            left_out = {"ci95", "null_mean", "null_q95", "cell_null_q95", "over_null", "id"}
            left_out |= {"inside_null", "outside_null", "sha256", "name", "timing", "rankings"}
            return {key: kept(value) for key, value in node.items() if key not in left_out}
        return [kept(value) for value in node] if isinstance(node, list) else node

    return json.dumps(kept(document), sort_keys=True)


def test_renamed_files_give_the_same_scores(tmp_path: Path) -> None:
    clip, home = tiny_clip(), tmp_path / "home"
    documents = []
    for turn in (0, 1):
        sets, labels = [], []
        for name, count, start in (("real", 21, 0), ("generated", 33, 100)):
            folder = folder_of(tmp_path / f"{name}{turn}", count, start=start)
            paths = sorted(folder.rglob("*.png"))
            if turn:
                for place, path in enumerate(paths):
                    path.rename(folder / f"{(place * 8) % count:02d}.png")
            sets.append(FolderSet.of(folder))
            shown = {sets[-1].encoded(k): sets[-1].ids[k] for k in range(count)}
            ids = tuple(shown[data] for data in sorted(shown))
            present = np.arange(3 * count).reshape(-1, 3) % 5 % 2
            labels.append(
                Labels({"kind": "file", "name": "l", "sha256": None}, NAMES, ids, present)
            )
        found = compare(
            *sets, NAMES, model=clip, encoder=Encoder(), home=home, lpips=Colours(),
            real_labels=labels[0], generated_labels=labels[1],
            plan=Plan(resamples=5, permutations=5),
        )  # fmt: skip
        documents.append(found.document)
    assert documents[0]["real"]["sha256"] != documents[1]["real"]["sha256"]
    assert documents[0]["quality"]["scores"]["kid"]["value"] is not None
    assert values(documents[0]) == values(documents[1])


def test_sums_do_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 5))
    order = rng.permutation(1000)
    present = rows > 0.3
    assert (embedding_centre(rows) == embedding_centre(rows[order])).all()
    first, again = separation(rows, present), separation(rows[order], present[order])
    assert (first.cohens_d == again.cohens_d).all()
    real, _ = pulls(rows, rows[:300])
    moved, _ = pulls(rows[order], rows[:300])
    assert (real[order] == moved).all()
    made = [quality(rows[:, :3], side).scores for side in (rows[:200, :3], rows[199::-1, :3])]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 2**53), ("seed", -1), ("batch_size", 10**9), ("batch_size", 0),
        ("resamples", 10**9), ("permutations", 10**9), ("permutations", 1.5),
    ],
)  # fmt: skip
def test_a_plan_has_bounds(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"{name} is .*expected a whole number from"):
        Plan(**{name: value})
    assert Plan(seed=2**53 - 1).seed == 2**53 - 1


def test_resamples_in_blocks_are_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark.generative import compare_regions, regional

    scorer = RaScorer(NAMES, tiny_clip())
    sides = [
        collect(
            FolderSet.of(folder_of(tmp_path / f"{start}", 9, start=start)),
            scorer,
            None,
            home=tmp_path / "home",
        ).sums
        for start in (0, 50)
    ]
    whole = compare_regions(*sides, NAMES, resamples=30, permutations=30)
    monkeypatch.setattr(regional, "_BLOCK_ELEMENTS", 140)
    parts = compare_regions(*sides, NAMES, resamples=30, permutations=30)
    np.testing.assert_allclose(parts.over_null, whole.over_null, rtol=1e-12)
    for one, other in zip(whole.magnitude, parts.magnitude, strict=True):
        np.testing.assert_allclose(other.score.samples, one.score.samples, rtol=1e-12)
        np.testing.assert_allclose(other.null.samples, one.null.samples, rtol=1e-12)  # type: ignore[union-attr]
