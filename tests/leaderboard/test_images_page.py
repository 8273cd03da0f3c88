"""The page of a comparison: what it shows, and that it needs and runs nothing else."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_cases import Encoder, folder_of, tiny_clip
from PIL import Image
from result_records import make_record

from benchmark.errors import UserError
from benchmark.generative.compare import Comparison, Plan, compare
from benchmark.generative.image_sets import DatasetSet, FolderSet
from leaderboard.generative import report_page
from leaderboard.generative.heat import MORE_GENERATED, MORE_REAL, heat_map
from leaderboard.generative.matrix import pair_matrix
from leaderboard.numbers import rounded
from leaderboard.reading.comparison import copy_comparison

NAMES = ("a hat", "eyeglasses", "<b>a red square</b>", "a tie")


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    root = tmp_path_factory.mktemp("page")
    real = folder_of(root / "real", 16)
    generated = folder_of(root / "<i>made</i>", 14, start=90, shift=120)
    plan = Plan(resamples=60, permutations=60)
    sets = FolderSet.of(real), FolderSet.of(generated)
    return compare(
        *sets, NAMES, model=tiny_clip(), encoder=Encoder(), plan=plan, home=root / "home"
    )


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> str:
    return report_page(comparison)


def test_every_attribute_stands_with_its_numbers(page: str, comparison: Comparison) -> None:
    for row in comparison.document["attributes"]:
        assert row["attribute"].replace("<", "&lt;").replace(">", "&gt;") in page
        assert rounded(row["sad"]["score"]["value"]) in page
        assert f"{row['sad']['null_q95']:.3f}" in page
    for head in ("Attributes", "Where in the picture", "Pairs of attributes",
                 "The older metrics beside it", "What RA-CLIPScore does not do better",
                 "How it was made"):  # fmt: skip
        assert head in page
    assert comparison.document["protocol"]["weights_sha256"] in page
    assert "<b>a red" not in page
    assert "<i>made" not in page


def test_it_needs_nothing_else(page: str) -> None:
    assert "<script" not in page
    assert " style=" not in page
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses
    linked = {one for one in addresses if not one.startswith(("data:image/", "#"))}
    assert linked == {"comparison.json"}
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", page)
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page


def test_pictures_are_left_out_where_asked(page: str, comparison: Comparison) -> None:
    outside = [r for r in comparison.document["attributes"] if r["sad"]["inside_null"] is False]
    assert outside, "the sets of this test must differ"
    bare = report_page(comparison, pictures=False)
    shown = outside[0]["pulls"]["generated"][0]["id"]
    assert f'alt="{shown}"' in page
    assert f'alt="{shown}"' not in bare
    assert shown in bare


def test_only_free_datasets_show_pictures(avatars: Path) -> None:
    from dataclasses import replace

    from benchmark.datasets import load_dataset
    from benchmark.generative.compare import Side
    from leaderboard.generative.pictures import showable

    dataset = load_dataset(avatars)
    scores: Any = None
    assert showable(Side(DatasetSet.of(dataset, "score"), scores))
    assert not showable(Side(DatasetSet.of(replace(dataset, name="cub"), "score"), scores))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_quiet_and_fits(
    browser: Any, page: str, tmp_path: Path, width: int, scheme: str
) -> None:
    (tmp_path / "report.html").write_text(page)
    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto((tmp_path / "report.html").as_uri())
    for one in opened.query_selector_all("summary"):
        one.click()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [
        (tmp_path / "report.html").as_uri()
    ]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert opened.evaluate(broken) == 0
    ground = opened.evaluate("document.querySelector('.maps use').getBoundingClientRect().width")
    assert ground > 100
    opened.close()


def overlay(picture: str) -> np.ndarray:
    import io

    address = re.search(r'<image href="data:image/png;base64,([^"]*)"', picture)
    assert address is not None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address[1]))).convert("RGBA"))


def test_a_map_is_centred_on_zero_and_blank_inside_the_null() -> None:
    row = {
        "attribute": "a hat",
        "r_sad": {"over_null": 2.0, "inside_null": False},
        "r_sad_unrefined": {"over_null": None, "inside_null": None},
    }
    values = np.array([[0.4, -0.4], [0.2, -0.1]])
    null = np.array([[0.1, 0.1], [0.3, 0.05]])
    found = heat_map("k", "refined", row, values, null)
    pixels = overlay(found.picture)
    step = pixels.shape[0] // 2
    cells = pixels[::step, ::step]
    assert tuple(cells[0, 0][:3]) == MORE_REAL
    assert tuple(cells[0, 1][:3]) == MORE_GENERATED
    assert cells[0, 0][3] == cells[0, 1][3]
    assert cells[1, 0][3] == 0
    assert cells[1, 1][3] == pytest.approx(cells[0, 0][3] / 4, abs=1)
    assert found.limit == "0.400"
    assert "the real set has most more, 0.400, in row 1 of 2, column 1 of 2" in found.picture
    flat = heat_map("k", "unrefined", row, np.zeros((2, 3)), None)
    assert (overlay(flat.picture)[..., 3] == 0).all()
    assert "no cell lies outside its null" in flat.picture
    assert flat.over_null.text == "n/a"


def test_the_matrix_tells_inside_from_missing() -> None:
    document = {
        "attributes": [{"attribute": name} for name in "abc"],
        "pairs": {
            "values": [[None, 0.5, 0.1], [0.5, None, None], [0.1, None, None]],
            "null_q95": [[None, 0.2, 0.2], [0.2, None, None], [0.2, None, None]],
        },
    }
    drawn = pair_matrix("k", document, "abc")
    assert drawn is not None
    assert drawn.count('class="bar"') == 2
    assert drawn.count('class="hollow"') == 2
    assert drawn.count('class="zero"') == 2
    assert "The largest PaD is 0.500, of b and a" in drawn
    document["pairs"]["values"] = [[None] * 3] * 3
    assert pair_matrix("k", document, "abc") is None


def test_units_stand_by_their_scores(page: str) -> None:
    assert "SaD and PaD are in nats, R-SaD is a difference of scores" in page


def written(folder: Path, comparison: Comparison, page: str) -> Path:
    folder.mkdir()
    (folder / "comparison.json").write_text(json.dumps(comparison.document))
    (folder / "report.html").write_text(page)
    return folder


def test_the_site_carries_it_with_a_way_back(
    comparison: Comparison, page: str, tmp_path: Path, write_results: Any
) -> None:
    from leaderboard import build_site

    folder = written(tmp_path / "images", comparison, page)
    index = build_site(write_results([make_record()]), tmp_path / "site", images=folder)
    assert 'href="images/report.html"' in index.read_text()
    copied = tmp_path / "site" / "images"
    assert (copied / "comparison.json").read_bytes() == (folder / "comparison.json").read_bytes()
    shown = (copied / "report.html").read_text()
    link = '<p class="crumbs"><a href="../index.html">All boards</a></p>\n'
    assert shown.count(link) == 1
    assert shown.index("<main") < shown.index(link) < shown.index("<h1>")
    assert shown.replace(link, "") == page
    bare = build_site(write_results([make_record()], "other"), tmp_path / "bare")
    assert "images/report.html" not in bare.read_text()
    assert not (tmp_path / "bare/images").exists()


def test_what_is_no_comparison_is_refused(
    comparison: Comparison, page: str, tmp_path: Path
) -> None:
    folder = written(tmp_path / "images", comparison, page)
    (folder / "report.html").write_text("<script>alert(1)</script>")
    with pytest.raises(UserError, match=r"report\.html: not a page"):
        copy_comparison(folder, tmp_path / "out")
    (folder / "report.html").unlink()
    with pytest.raises(UserError, match=r"report\.html: expected the page"):
        copy_comparison(folder, tmp_path / "out")
    (folder / "comparison.json").write_text("{}")
    with pytest.raises(UserError, match=r"comparison\.json: .*images"):
        copy_comparison(folder, tmp_path / "out")
