"""Labels and LPIPS on the page of a comparison."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_cases import folder_of, tiny_clip

from benchmark.generative.compare import Comparison, Plan, compare
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.labels import Labels
from leaderboard.generative import report_page

NAMES = ("a hat", "eyeglasses", "<b>a red square</b>")
REASON = "no weights; <i>fetch</i> them"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    root = tmp_path_factory.mktemp("labelled")
    real = FolderSet.of(folder_of(root / "real", 14))
    made = FolderSet.of(folder_of(root / "made", 10, start=60))
    values = np.random.default_rng(0).integers(0, 2, (14, 3)).astype(np.int8)
    file = {"kind": "file", "name": "<u>l.csv</u>", "sha256": "0" * 64}
    ids = (*real.ids[:13], "gone.png")
    only = Labels(file, ("a hat",), made.ids, np.ones((10, 1), np.int8))
    return compare(
        real,
        made,
        NAMES,
        real_labels=Labels(file, NAMES, ids, values),
        generated_labels=only,
        model=tiny_clip(),
        lpips=REASON,
        plan=Plan(resamples=20, permutations=20),
        home=root / "home",
    )


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> str:
    return report_page(comparison)


def section(page: str, name: str) -> str:
    found = re.search(rf'<section aria-labelledby="{name}">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


def test_the_means_and_every_attribute_stand_there(page: str, comparison: Comparison) -> None:
    part = section(page, "labels")
    found = comparison.document["separation"]["real"]
    for name, one in found["means"]["scores"].items():
        for key, decimals in (("auc", 3), ("hellinger", 3), ("one_minus_ovl", 3)):
            assert f"{one[key]:.{decimals}f}" in part, (name, key)
    for row in found["attributes"]:
        for one in row["scores"].values():
            assert f"{one['cohens_d']:.2f}".replace("-", "−") in part
    assert "1 images have no label. 1 labels are of ids that no image has." in part
    assert "no image without the label" in part
    assert "no attribute for which every score has all statistics" in part
    assert "&lt;u&gt;l.csv" in part
    assert "<u>" not in part
    limits = section(page, "limits")
    means = found["means"]["scores"]
    told = f"{means['ra_clip_score']['auc']:.3f} against {means['clip_score']['auc']:.3f}"
    assert f"On the labelled real images here, mean AUC is {told} of CLIPScore." in limits
    assert "On the labelled generated" not in limits


def test_lpips_says_why_there_is_none(page: str, comparison: Comparison) -> None:
    part = section(page, "beside")
    assert "LPIPS diversity: not applicable; no weights; &lt;i&gt;fetch&lt;/i&gt; them." in part
    document: dict[str, Any] = {**comparison.document}
    score = {"value": 0.4321, "ci95": [0.41, 0.45], "n": 7, "not_applicable": {}}
    few = {"value": None, "ci95": None, "n": 0, "not_applicable": {"one image": 1}}
    document["diversity"] = {
        **document["diversity"], "scores": {"real": score, "generated": few},
    }  # fmt: skip
    other = replace(comparison, document=document)
    part = section(report_page(other), "beside")
    assert "over 7 pairs of real and 0 of generated images" in part
    assert ">0.432<" in part
    assert "<td>one image</td>" in part


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits(browser: Any, page: str, tmp_path: Path, width: int) -> None:
    (tmp_path / "report.html").write_text(page)
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.goto((tmp_path / "report.html").as_uri())
    for one in opened.query_selector_all("summary"):
        one.click()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    opened.close()


def test_a_document_without_either_has_no_section(comparison: Comparison) -> None:
    document = {**comparison.document, "diversity": None, "separation": None}
    page = report_page(replace(comparison, document=document))
    assert 'id="labels"' not in page
    assert "LPIPS" not in page
    for key in ("diversity", "separation"):  # documents from before these were
        del document[key]
    assert report_page(replace(comparison, document=document)) == page
