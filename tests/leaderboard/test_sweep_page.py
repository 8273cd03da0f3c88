"""The page of a sweep and its figures: what is drawn, what is published, and what is not."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from result_records import make_record, score

from benchmark.sweep.rows import SCORES, Column, Table
from leaderboard import build_site
from leaderboard.plots.lines import Line, Point, Reference, lines_panel
from leaderboard.published.ca import best_of
from leaderboard.views.sweep_figures import standalone, sweep_places, write_figures

ARCHITECTURES = {"topk": "TopK", "jumprelu": "JumpReLU"}
SIZES = (128, 512, 2048)


def row(architecture, size, dataset, encoder, seed=0, k=32):
    own = make_record(architecture, size, seed)["scores"]
    return {
        "id": f"demo-{architecture}-{size}-s{seed}",
        "dataset": dataset,
        "encoder": encoder,
        "architecture": ARCHITECTURES[architecture],
        "d_sae": size,
        "k": k,
        "seed": seed,
        **{name: own.get(name) for name in SCORES},
    }


def columns(rows):
    kinds = {str: "text", int: "int", float: "number", dict: "score"}
    return tuple(
        Column(key, "published" if key.startswith("paper") else kinds[type(value)], key)
        for key, value in rows[0].items()
    )


def document(dataset="synavatars", encoder="efficientnet-lite0"):
    results = [row(name, size, dataset, encoder) for name in ARCHITECTURES for size in SIZES]
    best = []
    for name, label in ARCHITECTURES.items():
        paper = best_of(dataset, encoder, name) or {}
        best.append(
            {
                "dataset": dataset,
                "encoder": encoder,
                "architecture": label,
                "paper_delta_match_score": paper.get("delta_match_score"),
                "paper_d_sae": paper.get("d_sae"),
            }
        )
    matchers = [
        {"matcher": matcher, **one} for matcher in ("FBMP F_0.5", "one-to-one") for one in results
    ]
    k = [row("topk", 512, dataset, encoder, k=number) for number in (8, 32, 128)]
    tables = {"best": best, "results": results, "matchers_by_sae": matchers, "k": k}
    return {
        "schema_version": 1,
        "name": "test",
        "k": 32,
        "tables": [
            Table(name, name.title(), columns(rows), tuple(rows)).as_dict()
            for name, rows in tables.items()
        ],
    }


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name in ARCHITECTURES:
        for size in SIZES:
            record = make_record(name, size)
            (folder / f"{record['submission']['id']}.json").write_text(json.dumps(record))
    return folder


def site(tmp_path, results, found):
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps(found))
    index = build_site(results, tmp_path / "site", sweep=path)
    return index.with_name("sweep.html").read_text()


def test_the_page_has_every_figure_and_table(tmp_path, results):
    page = site(tmp_path, results, document())
    for text in (
        "ΔMATCHScore against dictionary size",
        "TopK: does TAPAScore follow?",
        "TAPAScore by matcher",
        "TopK 512: active latents K",
    ):
        assert text in page
    links = set(re.findall(r'href="(saes/[^"]+)"', page))
    assert len(links) == 6
    assert all((tmp_path / "site" / link).is_file() for link in links)
    assert "approximately" not in page
    assert 'class="paper"' not in page


def test_published_values_are_drawn_for_the_papers_data_alone(tmp_path, results):
    page = site(tmp_path, results, document("cub", "clip-vit-l-14"))
    assert page.count('class="paper"') == 1
    assert "paper, TopK ≈ .50 at the largest" in page
    assert "approximately" in page
    assert "rises steadily" in page
    for dataset, encoder in (("cub", "dinov2-vit-s-14"), ("cub:certainty=4", "clip-vit-l-14")):
        (place,) = sweep_places(document(dataset, encoder))
        assert not any('class="paper"' in figure.svg for figure in place.figures)


def test_a_site_without_a_sweep_has_no_page_of_it(tmp_path, results):
    index = build_site(results, tmp_path / "site")
    assert "sweep.html" not in index.read_text()
    assert not index.with_name("sweep.html").exists()


def test_figures_are_files_of_their_own(tmp_path, results):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "gone.svg").write_text("<svg/>")
    written = write_figures(folder, document(), results)
    assert sorted(folder.iterdir()) == sorted(written)
    assert any(path.name.endswith("tapa-score-by-match-score.svg") for path in written)
    for path in written:
        root = ET.fromstring(path.read_text())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        style = root.find("{http://www.w3.org/2000/svg}style").text
        for rule in (":root", ".figure text", ".series", ".whisker", ".a0", "prefers-color-scheme"):
            assert rule in style


def test_a_point_lies_where_its_value_is():
    low, high = Point(128, 0.0), Point(512, 1.0, (0.9, 1.1))
    svg = lines_panel("k", "T", "size", [Line("a", "topk", (low, high))])
    (line,) = re.findall(r'<polyline points="([^"]+)"', svg)
    (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in line.split())
    assert x2 > x1
    assert y2 < y1
    middle = lines_panel("k", "T", "size", [Line("a", "topk", (low, Point(256, 0.5), high))])
    (line,) = re.findall(r'<polyline points="([^"]+)"', middle)
    x, y = map(float, line.split()[1].split(","))
    assert (x, y) == (
        pytest.approx((x1 + x2) / 2, abs=0.01),
        pytest.approx((y1 + y2) / 2, abs=0.01),
    )


def test_one_point_is_no_line():
    assert lines_panel("k", "T", "size", [Line("a", "topk", (Point(8, 1.0),))]) is None
    assert lines_panel("k", "T", "size", []) is None


def test_a_published_value_widens_the_axes():
    line = Line("a", "topk", (Point(8, 0.1), Point(16, 0.2)))
    svg = lines_panel("k", "T", "size", [line], [Reference(64, 0.9, "paper <≈ .9>")])
    assert ">64<" in svg
    assert "paper &lt;≈ .9&gt;" in svg
    ET.fromstring(standalone(svg))


def test_several_seeds_are_drawn_as_their_mean_without_an_interval():
    found = document()
    rows = found["tables"][1]["rows"]
    rows += [
        {**one, "seed": 1, "tapa_score": score(one["tapa_score"]["value"] + 0.2)} for one in rows
    ]
    (place,) = sweep_places(found)
    (figure,) = [one for one in place.figures if one.name.endswith("tapa-score-by-size")]
    assert "whisker" not in figure.svg
    expected = rows[0]["tapa_score"]["value"] + 0.1
    assert f"128: {expected:.3f}" in figure.svg
